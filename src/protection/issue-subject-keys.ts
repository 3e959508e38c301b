/**
 * Issues the keys of a batch's subjects to a writer that holds a present plan of the table. A subject's key is random and
 * is made when it is first asked for; a subject that was erased gets none any more.
 */

import { randomBytes } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { recordAdministration } from '../store/administration/administration-log.ts'
import type { Tx } from '../store/database/session.ts'
import { addSubjectKeys, findSubjectKeys, type StoredSubjectKey } from '../store/transform/subject-keys.ts'
import { isSubjectRule, type SubjectRule } from '../transform/plan.ts'
import { policyVersionOf, proofGraceSeconds } from '../transform/plan-proof.ts'
import {
  deriveSubjectKey,
  type SubjectKeysAnswer,
  subjectIdBytes,
  subjectKeyBytes,
  wrapSubjectKeys,
} from '../transform/subject-keys.ts'
import { isPlanProof } from './check-proof.ts'
import type { ProtectionParts } from './parts.ts'
import { loadState, resolveTable } from './plan-table.ts'
import { unwrapSubjectRoot, wrapSubjectRoot } from './subject-key-wrapping.ts'
import { tenantKey } from './tenant-keys.ts'

/** Subjects whose keys one request may ask for. */
export const subjectKeysMax = 1_000

interface WantedSubjectKeys {
  readonly catalog?: string | undefined
  readonly schemaId: bigint
  /** `<policy_version>:<nonce>` of the plan. */
  readonly plan: string
  readonly publicKey: string
  readonly subjects: readonly { readonly kind: string; readonly refs: readonly string[] }[]
  /** The keys are for show: others than the stored ones, and none is kept. */
  readonly dryRun: boolean
}

/**
 * Issues the keys.
 *
 * @returns the compact JWS
 * @throws Fault `bad_request`, `not_found`, `conflict` where the plan is not a present one of this table
 */
export async function issueSubjectKeys(
  parts: ProtectionParts,
  { tenant, actor }: { readonly tenant: TenantId; readonly actor: Actor },
  table: TableRef,
  wanted: WantedSubjectKeys,
  signal: AbortSignal,
): Promise<string> {
  const { store, clock, signers, publicUrl } = parts
  const count = wanted.subjects.reduce((sum, { refs }) => sum + new Set(refs).size, 0)
  if (count > subjectKeysMax)
    throw new Fault('bad_request', `Ask for the keys of at most ${subjectKeysMax} subjects at once.`)
  const { tableUuid, rules } = await presentRules(parts, tenant, table, wanted, signal)
  const nonce = wanted.plan.slice(wanted.plan.lastIndexOf(':') + 1)
  const kinds = new Set(rules.map((rule) => rule.subject_kind))
  if (wanted.subjects.some(({ kind }) => !kinds.has(kind)))
    throw new Fault('bad_request', 'The plan names no such kind of subjects.')
  const root = await tenantKey(store, parts.keys, tenant)
  const stored = await store.tenantTransaction(tenant, async (tx) => {
    const found: StoredSubjectKey[] = []
    for (const { kind, refs } of wanted.subjects)
      found.push(...(await keysOfKind(tx, root, tenant, kind, [...new Set(refs)], wanted.dryRun)))
    await recordAdministration(tx, actor, {
      action: 'issue-subject-keys',
      subject: { table: { namespace: table.namespace, name: table.name } },
      value: { subjects: count, ...(wanted.dryRun && { dry_run: true }) },
    })
    return found
  })
  const keys = stored.flatMap(({ kind, ref, key }) => {
    if (key === undefined) return []
    const { sid, wrapped } = key
    const own = unwrapSubjectRoot(root, { tenant, kind, sid }, wrapped)
    return rules
      .filter((rule) => rule.subject_kind === kind)
      .map(({ scope, method, kid }) => {
        const name = { scope, method, kid }
        return { kind, ref, sid, ...name, key: deriveSubjectKey(own, { tenant, ...name }, sid) }
      })
  })
  const answer: SubjectKeysAnswer = {
    v: 1,
    iss: publicUrl().origin,
    tenant,
    table_uuid: tableUuid,
    nonce,
    iat: Math.floor(clock.now() / 1000),
    ...wrappedFor(wanted.publicKey, nonce, tenant, keys),
    shredded: stored.filter(({ key }) => key === undefined).map(({ kind, ref }) => ({ kind, ref })),
  }
  return signers.present().signSubjectKeys(answer)
}

/** The rules of the table for which the plan was issued, where they are the present ones and it has not ended. */
async function presentRules(
  { store, states, clock }: ProtectionParts,
  tenant: TenantId,
  named: TableRef,
  wanted: WantedSubjectKeys,
  signal: AbortSignal,
): Promise<{ readonly tableUuid: string; readonly rules: readonly SubjectRule[] }> {
  const { table, state } = await loadState({ store, states }, tenant, named, wanted.catalog, signal)
  const schema = state.schemas.get(wanted.schemaId)
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const stale = new Fault('conflict', 'The plan is not a present one of this table: ask for another.')
  if (schema === undefined || state.tableUuid === undefined) throw stale
  const { columns, problems } = await resolveTable(run, tenant, table, schema, state.keyFieldIds)
  const subject = { tenant, tableUuid: state.tableUuid, policyVersion: policyVersionOf(columns) }
  // The grace is for commits; keys are for writers whose plan has not ended.
  const seconds = Math.floor(clock.now() / 1000) + proofGraceSeconds
  if (problems.length > 0 || !isPlanProof(store, subject, wanted.plan, clock.now(), seconds)) throw stale
  const rules = columns.filter(isSubjectRule)
  if (rules.length === 0) throw new Fault('bad_request', 'No column of the table has keys of subjects.')
  return { tableUuid: state.tableUuid, rules }
}

async function keysOfKind(
  tx: Tx,
  root: Uint8Array,
  tenant: TenantId,
  kind: string,
  refs: readonly string[],
  dryRun: boolean,
): Promise<readonly StoredSubjectKey[]> {
  const found = await findSubjectKeys(tx, tenant, kind, refs)
  const known = new Set(found.filter(({ key }) => !dryRun || key === undefined).map(({ ref }) => ref))
  const made = refs
    .filter((ref) => !known.has(ref))
    .map((ref) => {
      const sid = randomBytes(subjectIdBytes).toString('base64url')
      const wrapped = wrapSubjectRoot(root, { tenant, kind, sid }, randomBytes(subjectKeyBytes))
      return { kind, ref, sid, wrapped }
    })
  if (dryRun)
    return [
      ...found.filter(({ key }) => key === undefined),
      ...made.map(({ ref, sid, wrapped }) => ({ kind, ref, key: { sid, wrapped } })),
    ]
  if (made.length === 0) return found
  await addSubjectKeys(tx, tenant, kind, made)
  // Another writer's may have come first.
  return await findSubjectKeys(tx, tenant, kind, refs)
}

function wrappedFor(
  publicKey: string,
  nonce: string,
  tenant: TenantId,
  keys: Parameters<typeof wrapSubjectKeys>[3],
) {
  try {
    return wrapSubjectKeys(publicKey, nonce, tenant, keys, randomBytes)
  } catch (cause) {
    throw new Fault('bad_request', '`public_key` must be an X25519 public key in base64url.', { cause })
  }
}
