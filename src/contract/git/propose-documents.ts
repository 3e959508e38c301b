/**
 * Proposes documents of several contracts at once, and deprecates versions whose documents are gone. One transaction
 * makes all moves or none, and none where a contract has moved since its caller looked.
 */

import { Fault } from '../../base/fault.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import { readOverviews } from '../../store/contract/contract-overview.ts'
import type { ContractVersion, RunQuery } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import type { ChangeContext } from '../change.ts'
import { addDraftIn } from '../lifecycle/add-version.ts'
import { type LifeCycleParts, moveIn } from '../lifecycle/move-version.ts'
import type { VersionName } from '../lifecycle/step.ts'
import { assertRules } from '../quality/check-rules.ts'

/** What the caller saw of a contract; no revision where it has no versions. */
interface Seen {
  readonly contract: string
  readonly revision?: string | undefined
}

export interface WantedDocument extends Seen {
  readonly read: ReadDocument
  readonly format: DocumentFormat
  readonly sha256: string
}

export interface Proposals {
  readonly managedBy: string
  readonly documents: readonly WantedDocument[]
  /** Contracts whose version in force is deprecated. */
  readonly deprecate: readonly (Seen & { readonly reason: string })[]
}

/** States from which a version may still come in force. */
const onItsWay = ['draft', 'proposed', 'approved', 'deploying']

/**
 * Proposes the documents. A document that is on its way already is not added again. Versions on their way that came
 * from the same keeper are withdrawn, because these documents take their place.
 * @returns the version of each document, in their order
 * @throws Fault `conflict` where a contract has moved; what adding and moving a version throw, naming the contract
 */
export async function proposeDocuments(
  parts: LifeCycleParts,
  on: ChangeContext,
  { managedBy, documents, deprecate }: Proposals,
): Promise<readonly VersionName[]> {
  const all: readonly Seen[] = [...documents, ...deprecate]
  const ids = all.map(({ contract }) => contract)
  const repeated = ids.find((id, index) => ids.indexOf(id) < index)
  if (repeated !== undefined) throw new Fault('bad_request', `The contract ${repeated} is named twice.`)
  for (const { contract, read } of documents) await naming(contract, () => assertRules(on, read.model))
  return await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    const run: RunQuery = (text, params) => tx.query(text, params)
    const overviews = await readOverviews(run, on.tenant, ids)
    for (const [index, { contract, revision }] of all.entries())
      if (overviews[index]?.revision !== revision) throw moved(contract, overviews[index]?.versions[0])
    const named: VersionName[] = []
    for (const [index, wanted] of documents.entries()) {
      const { contract } = wanted
      const versions = overviews[index]?.versions ?? []
      named.push(await naming(contract, () => proposeIn(tx, parts, on, { managedBy, wanted, versions })))
    }
    for (const [index, { contract, reason }] of deprecate.entries()) {
      const active = overviews[documents.length + index]?.versions.find(({ state }) => state === 'active')
      if (active === undefined) throw new Fault('conflict', `The contract ${contract} has no active version.`)
      await naming(contract, () => moveIn(tx, parts, on, { name: active, move: 'deprecate', reason }))
    }
    return named
  })
}

function moved(contract: string, newest: ContractVersion | undefined): Fault {
  const now =
    newest === undefined
      ? 'it has no versions'
      : `its newest version is ${newest.version} (${newest.state}), by ${newest.createdBy.sub}`
  return new Fault(
    'conflict',
    `The contract ${contract} has moved since the plan was made: ${now}. Plan again.`,
    { members: { contract } },
  )
}

async function proposeIn(
  tx: Tx,
  parts: LifeCycleParts,
  on: ChangeContext,
  asked: {
    readonly managedBy: string
    readonly wanted: WantedDocument
    readonly versions: readonly ContractVersion[]
  },
): Promise<VersionName> {
  const { managedBy, wanted, versions } = asked
  const coming = versions.filter(({ state }) => onItsWay.includes(state))
  const same = coming.find(({ sha256 }) => sha256 === wanted.sha256)
  for (const version of coming)
    if (version !== same && version.managedBy === managedBy && mayWithdraw(on, version))
      await moveIn(tx, parts, on, {
        name: version,
        move: 'withdraw',
        reason: 'another document takes its place',
      })
  const { contract, number, state } =
    same ?? (await addDraftIn(tx, on, wanted.read, { format: wanted.format, managedBy }))
  if (state === 'draft') await moveIn(tx, parts, on, { name: { contract, number }, move: 'propose' })
  return { contract, number }
}

/** A deployment that runs is not withdrawn, and of others only who may. */
function mayWithdraw({ actor }: ChangeContext, { state, createdBy }: ContractVersion): boolean {
  return state !== 'deploying' && (actor.roles.includes('steward') || actor.sub === createdBy.sub)
}

/** Of several contracts, a refusal names its own. */
async function naming<T>(contract: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw ofContract(contract, thrown)
  }
}

/** The refusal with the contract that it concerns; anything else as it is. */
export function ofContract(contract: string, thrown: unknown): unknown {
  if (!(thrown instanceof Fault)) return thrown
  const members = { ...thrown.members, contract }
  return new Fault(thrown.kind, `${contract}: ${thrown.publicMessage}`, { cause: thrown, members })
}
