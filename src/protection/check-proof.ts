/**
 * Checks what snapshots show of the plan that their data went through. The rules are read again: a plan of rules that
 * have changed since is not a present one.
 */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { BoundRule, BoundRules } from '../storage/iceberg/manifest-bounds.ts'
import { countingRoots } from '../store/keys/plan-roots.ts'
import type { Store } from '../store/store.ts'
import type { ColumnRule } from '../transform/plan.ts'
import { isProofOf, type ProofSubject, policyVersionOf } from '../transform/plan-proof.ts'
import { tableUuidOf } from '../wire/iceberg/table-metadata.ts'
import { currentColumnsOf, keyFieldIdsOf } from '../wire/iceberg/table-state.ts'
import { resolveTable } from './plan-table.ts'

/**
 * Whether each proof is of a plan of the table's present rules, and no encrypted column is measured.
 *
 * @param result the table's metadata after the commit
 * @param atMs when the commit came
 * @throws Fault of the store
 */
export async function isPlanCurrent(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  result: JsonObject,
  proofs: readonly string[],
  atMs: number,
): Promise<boolean> {
  const tableUuid = tableUuidOf(result)
  if (tableUuid === undefined) return false
  const resolved = await resolveResult(store, tenant, table, result)
  if (resolved === undefined || resolved.problems.length > 0) return false
  const policyVersion = policyVersionOf(resolved.columns)
  const seconds = Math.floor(atMs / 1000)
  const subject = { tenant, tableUuid, policyVersion }
  if (!proofs.every((proof) => isPlanProof(store, subject, proof, atMs, seconds))) return false
  return resolved.columns.every((column) => column.action !== 'encrypt' || !isMeasured(column, result))
}

/**
 * Whether a proof is one that a root of plans made, the one before a turn included.
 * @param atMs the present time
 * @param seconds the time at which it must not have ended
 */
export function isPlanProof(
  { roots }: Pick<Store, 'roots'>,
  subject: ProofSubject,
  proof: string | undefined,
  atMs: number,
  seconds: number,
): boolean {
  return countingRoots(roots, atMs).some((root) => isProofOf(root, subject, proof, seconds))
}

/**
 * What manifests may keep of a table's columns: nothing of an encrypted one, and of texts that are tokens by HMAC only
 * tokens. What a rule hides otherwise has no form of its own, so that its bounds say nothing.
 *
 * @param metadata the table's after the commit
 * @throws Fault of the store
 */
export async function boundRulesOf(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  metadata: JsonObject | undefined,
): Promise<BoundRules> {
  const resolved = metadata && (await resolveResult(store, tenant, table, metadata))
  return new Map(
    (resolved?.columns ?? []).flatMap((rule): (readonly [number, BoundRule])[] => {
      const { field_id: id, name: column } = rule
      if (rule.action === 'encrypt') return [[id, { column, allows: 'none' }]]
      const isToken = rule.action === 'tokenize' && rule.method === 'hmac' && rule.type === 'string'
      return isToken ? [[id, { column, allows: 'tokens' }]] : []
    }),
  )
}

/** Undefined for a table that nothing is known of, which has no plan. */
async function resolveResult(store: Store, tenant: TenantId, table: TableRef, metadata: JsonObject) {
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const [columns, keyIds] = [currentColumnsOf(metadata), keyFieldIdsOf(metadata)]
  return await resolveTable(run, tenant, table, columns, keyIds).catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.kind === 'not_found') return undefined
    throw thrown
  })
}

/** Whether writers keep the least and greatest values of a column in manifests: where it was not encrypted, in clear. */
function isMeasured({ name }: ColumnRule, result: JsonObject): boolean {
  const properties = result.get('properties')
  const of = (key: string) => (isJsonObject(properties) ? properties.get(key) : undefined)
  return (of(`write.metadata.metrics.column.${name}`) ?? of('write.metadata.metrics.default')) !== 'none'
}
