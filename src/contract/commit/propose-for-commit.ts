/**
 * Proposes a version of a contract for a commit that the version in force refuses, with the commit as evidence. The same
 * change is proposed once, however often it is tried.
 */

import type { Actor } from '../../core/administration.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import type { BreakEvidence, ContractBreak } from '../../core/contract-break.ts'
import { tableKey, tableName } from '../../core/table-ref.ts'
import { recordMove, saveVerdict } from '../../store/contract/life-cycle.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import {
  addVersion,
  type ContractVersion,
  documentOf,
  findVersion,
  type RunQuery,
  versionInForce,
  versionsIn,
  versionsWith,
} from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import { type ChangeContext, changeContracts } from '../change.ts'
import { parseVersion } from '../classify/judge-change.ts'
import { verdictView } from '../classify/verdict-view.ts'
import { judgeAgainstForce } from '../document/compare-document.ts'
import { declaredBy } from '../document/declared.ts'
import type { DocumentCodec } from '../document/document-codec.ts'
import { type BrokenColumn, brokenColumns } from './break-amendments.ts'

/** Proposals of commits that a contract may have open at once, because writers open them. */
const openProposalsMax = 20
/** Columns that the reason of a denial names. */
const namedMax = 3

/**
 * Proposes the version.
 * @param on its actor is the committer
 * @returns the reason of the commit's denial
 * @throws what the store throws
 */
export async function proposeForCommit(
  codec: DocumentCodec,
  on: ChangeContext,
  broken: ContractBreak,
  evidence: BreakEvidence,
): Promise<string> {
  const { contract, number, version, table } = broken
  const run: RunQuery = (text, params) => on.store.tenantQuery(on.tenant, text, params)
  const force = await findVersion(run, on.tenant, { contract, number })
  const schemas = force?.model.schemas ?? []
  const schema = governing(force?.model).find((one) => tableKey(one.table) === tableKey(table))
  const found = schema === undefined ? [] : brokenColumns(schema, broken.before, broken.after)
  const reason = (more: string) => `contract ${contract} ${version}: ${wordsOf(found)}. ${more}`
  if (force === undefined || schema === undefined || found.length === 0)
    return reason('Propose a version of the contract')
  // A proposal would close the short way to who puts the contract's documents.
  if (!force.lifeCycle) return reason('Put a document of the contract that allows it')
  const outcome = await codec.perform(on.tenant, {
    kind: 'amend',
    bytes: await documentOf(run, on.tenant, force),
    format: force.format,
    amendments: {
      version: nextMajor(version),
      schema: schemas.indexOf(schema),
      amendments: found.map(({ amendment }) => amendment),
    },
  })
  if (outcome.kind !== 'read') return reason('Propose a version of the contract')
  if (outcome.read.model.failedTests !== undefined)
    return reason('A policy test of the contract forbids it: propose a version that says otherwise')
  const proposed = await openProposal(on, force, outcome.read, {
    ...{ commit_id: evidence.intent.commitId, committer: evidence.intent.principal.sub },
    ...{ namespace: table.namespace, table: table.name },
    ...originView(evidence.intent.origin),
  })
  return reason(proposed)
}

function originView({ applicationId, ...same }: ChangeOrigin = {}) {
  return { ...same, ...(applicationId !== undefined && { application_id: applicationId }) }
}

function wordsOf(found: readonly BrokenColumn[]): string {
  if (found.length === 0) return 'the table would not be as the contract says'
  const named = found.slice(0, namedMax).map(({ what }) => what)
  const more = found.length - named.length
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

function nextMajor(version: string): string {
  const [major = 0] = parseVersion(version) ?? []
  return `${major + 1}.0.0`
}

/** Opens the proposal, unless the same change was proposed before. @returns what the writer should do, in one sentence */
async function openProposal(
  on: ChangeContext,
  force: ContractVersion,
  { bytes, model }: ReadDocument,
  evidence: NonNullable<ContractVersion['evidence']>,
): Promise<string> {
  const { contract, format } = force
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  const said = ({ number, version, state }: Pick<ContractVersion, 'number' | 'version' | 'state'>) => {
    const name = `Version ${version} (number ${number})`
    if (state === 'proposed') return `${name} is proposed: have it signed off, then commit again`
    return `${name} is ${state}: propose a version of the contract`
  }
  const before = (await versionsWith(runOf(on), on.tenant, contract, sha256)).find(
    ({ baseNumber }) => baseNumber === force.number,
  )
  if (before !== undefined) return said(before)
  declaredBy(model)
  let sentence = ''
  const value = { version: model.version, sha256, format, evidence }
  await changeContracts(on, { action: 'add-contract-version', subject: { contract }, value }, async (tx) => {
    const run: RunQuery = (text, params) => tx.query(text, params)
    const again = (await versionsWith(run, on.tenant, contract, sha256)).find(
      ({ baseNumber }) => baseNumber === force.number,
    )
    const refusal = again === undefined ? await whyNot(run, on, force) : said(again)
    if (refusal !== undefined) throw new NotOpened(refusal)
    sentence = said(await add(tx, on, force, { bytes, model, sha256, evidence }))
    return []
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof NotOpened)) throw thrown
    sentence = thrown.message
  })
  return sentence
}

/** Leaves the transaction without a change. */
class NotOpened extends Error {
  override readonly name = 'NotOpened'
}

const runOf =
  (on: ChangeContext): RunQuery =>
  (text, params) =>
    on.store.tenantQuery(on.tenant, text, params)

async function whyNot(run: RunQuery, { tenant }: ChangeContext, force: ContractVersion) {
  const { contract } = force
  if ((await versionInForce(run, tenant, contract))?.number !== force.number)
    return 'Another version came in force meanwhile: commit again'
  const open = await versionsIn(run, tenant, contract, ['proposed'])
  if (open.filter(({ evidence }) => evidence !== undefined).length < openProposalsMax) return undefined
  return `${openProposalsMax} proposals of commits wait already: have them signed off or rejected`
}

async function add(
  tx: Tx,
  { tenant, actor }: ChangeContext,
  force: ContractVersion,
  {
    bytes,
    model,
    sha256,
    evidence,
  }: Pick<ReadDocument, 'bytes' | 'model'> & {
    readonly sha256: string
    readonly evidence: NonNullable<ContractVersion['evidence']>
  },
) {
  const { contract, format } = force
  const run: RunQuery = (text, params) => tx.query(text, params)
  const verdict = await judgeAgainstForce(run, tenant, model)
  const made = { contract, format, body: bytes, sha256, model, state: 'draft', unverified: false }
  const number = await addVersion(tx, tenant, { ...made, lifeCycle: true, by: actor, evidence })
  const name = { contract, number, sha256 }
  const by = {
    auto: true,
    by: actor,
    reason: `commit ${evidence.commit_id} of ${tableName({ ...evidence, name: evidence.table })}`,
  }
  await recordMove(tx, tenant, name, { move: 'import', from: undefined, to: 'draft', ...by })
  await saveVerdict(tx, tenant, name, verdictView(verdict), force.number)
  await recordMove(tx, tenant, name, { move: 'propose', from: 'draft', to: 'proposed', ...by })
  return { number, version: model.version, state: 'proposed' }
}

/** The committer, as who proposes the version. */
export function committerOf(
  { principal, principalSource: source, requestId }: BreakEvidence['intent'],
  session: Actor['session'],
): Actor {
  return { ...principal, source, ...(session && { session }), requestId: requestId ?? crypto.randomUUID() }
}
