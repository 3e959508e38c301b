/**
 * Judges one commit by the text of a policy, and explains every part of the text: a commit that is given by hand, or a
 * stored one whose metadata the caller may see. It saves nothing and decides nothing.
 */

import { zstdCompressSync } from 'node:zlib'
import { Fault } from '../../base/fault.ts'
import { type JsonObject, jsonObject, stringifyJson } from '../../base/json.ts'
import type { StoredChange } from '../../core/policy-replay.ts'
import type { Principal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type ManifestFacts, noManifestFacts } from '../../policy/manifest-facts.ts'
import { findAudit } from '../../store/commit/audit.ts'
import { applyUpdates } from '../../wire/iceberg/apply-updates.ts'
import { createTableUpdates } from '../../wire/iceberg/create-table.ts'
import type { ReplayParts } from './advance-replays.ts'
import { hiddenTables } from './hidden-tables.ts'
import type { TriedPolicy } from './judge-stored.ts'
import { metadataFiles } from './metadata-files.ts'
import type { TryTask } from './replay-worker.ts'

export type TryParts = Pick<ReplayParts, 'store' | 'tableAccess' | 'budget' | 'clock' | 'replayWorker'>

/** A commit given by hand. */
interface GivenCommit {
  readonly table: TableRef
  /** Iceberg table metadata before the commit; without it, a table of these columns, or none. */
  readonly metadata?: JsonObject | undefined
  readonly columns?: Readonly<Record<string, unknown>> | undefined
  readonly properties?: JsonObject | undefined
  readonly commit: JsonObject
  readonly principal: Principal
  readonly receivedAt?: Date | undefined
  /** What the manifests of the commit are said to hold. */
  readonly manifest: ManifestFacts['values']
}

/**
 * Judges a commit that is given by hand.
 * @throws Fault `bad_request` for a text that does not compile, and for a commit that cannot be applied
 */
export async function tryOnGiven(
  parts: Pick<TryParts, 'clock' | 'replayWorker'>,
  tenant: TenantId,
  definitionCel: string,
  given: GivenCommit,
): Promise<TriedPolicy> {
  const receivedAtMs = given.receivedAt?.getTime() ?? parts.clock.now()
  const base = given.metadata ?? tableOf(given, receivedAtMs)
  const change: StoredChange = {
    ...{ auditSeq: '0', commitId: '', action: 'update-table', decision: 'APPROVED', credentialId: '' },
    ...{ table: given.table, principal: given.principal, receivedAtMs, createdAt: new Date(receivedAtMs) },
    ...{ baseMetadataLocation: '', policies: [], outcomes: [] },
    body: zstdCompressSync(stringifyJson(new Map([['requirements', []], ...given.commit]))),
  }
  const metadata = base && new TextEncoder().encode(stringifyJson(base))
  const facts = { values: { ...noManifestFacts.values, ...given.manifest } }
  return await perform(parts, tenant, { kind: 'try', definitionCel, metadata, change, facts })
}

function tableOf({ table, columns, properties }: GivenCommit, nowMs: number): JsonObject | undefined {
  if (columns === undefined && properties === undefined) return undefined
  const fields = Object.entries(columns ?? {}).map(([name, type], index) => {
    if (typeof type !== 'string')
      throw new Fault('bad_request', '`columns` gives an Iceberg type for each name.')
    return jsonObject({ id: BigInt(index + 1), name, type, required: false })
  })
  const schema = jsonObject({ type: 'struct', fields })
  const request = jsonObject({ name: table.name, schema, properties: properties ?? new Map() })
  return applyUpdates(undefined, createTableUpdates(request), { nowMs })
}

/**
 * Judges a stored commit again.
 * @param caller verified
 * @throws Fault `not_found`; `forbidden` where the caller may not read all values of the table;
 *   `conflict` where it cannot be replayed
 */
export async function tryOnDecision(
  parts: TryParts,
  tenant: TenantId,
  definitionCel: string,
  commitId: string,
  caller: Principal,
): Promise<TriedPolicy> {
  const record = await findAudit(parts.store, tenant, commitId)
  if (record === undefined) throw new Fault('not_found', 'The tenant has no such decision.')
  if ((await hiddenTables(parts.store, tenant, [record.table], caller)).length > 0)
    throw new Fault(
      'forbidden',
      'You may not read all values of the table, so its metadata is not shown. Give a commit by hand.',
    )
  const change: StoredChange = { ...record, auditSeq: '0' }
  if (change.body.length === 0) throw gone('the body of the request is not kept any more')
  return await parts.budget.during(async () => {
    const files = metadataFiles(parts, tenant)
    const metadata = await files.read(change)
    if (metadata !== undefined && 'outcome' in metadata) throw gone(metadata.reason ?? '')
    const task = { kind: 'try', definitionCel, metadata, change } as const
    return await perform(parts, tenant, task, () => files.facts(change, metadata))
  })
}

const gone = (why: string) => new Fault('conflict', `The commit cannot be judged again: ${why}.`)

async function perform(
  parts: Pick<TryParts, 'replayWorker'>,
  tenant: TenantId,
  task: TryTask,
  readFacts?: () => Promise<ManifestFacts | undefined>,
): Promise<TriedPolicy> {
  const done = await parts.replayWorker.perform(tenant, task)
  const result = done.kind === 'try' ? done.result : undefined
  if (result?.outcome === 'refused') throw new Fault('bad_request', result.problem)
  if (result !== undefined && result.outcome !== 'asks_manifests') return result
  const facts = await readFacts?.()
  if (facts === undefined) throw gone('the manifests of the commit cannot be read any more')
  return await perform(parts, tenant, { ...task, facts })
}
