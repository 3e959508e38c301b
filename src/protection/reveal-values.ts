/**
 * Opens protected values for the read path. The tenant's key is unwrapped once a query, when its first row needs it. The
 * keys of subjects are asked for with each batch, so that an erased subject is NULL from the next batch on.
 */

import type { Reveal } from '../core/reveal.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'
import { subjectKeysById } from '../store/transform/subject-keys.ts'
import type { BytesColumn } from '../transform/bytes-column.ts'
import { deriveScopeKey } from '../transform/derive-keys.ts'
import { revealColumn, subjectIdsOf } from '../transform/reveal-column.ts'
import { unwrapSubjectRoot } from './subject-key-wrapping.ts'
import { type KeyProvider, tenantKey } from './tenant-keys.ts'

/** For each query, a function that opens columns of its results. */
export function revealer(store: Store, keys: KeyProvider) {
  return (tenant: TenantId) => {
    let asked: Promise<Uint8Array> | undefined
    return async (reveal: Reveal, column: BytesColumn): Promise<BytesColumn> => {
      asked ??= tenantKey(store, keys, tenant)
      const root = await asked
      const { scope, method } = reveal
      const form = { ...reveal, tenant }
      const subjects = await subjectRoots(store, tenant, root, subjectIdsOf(form, column))
      const scopeKey = (kid: string) => deriveScopeKey(root, { tenant, scope, method, kid })
      return revealColumn(form, column, scopeKey, (sid) => subjects.get(sid))
    }
  }
}

/** The keys of subjects by their ids; those that were destroyed, or do not open, are absent. */
async function subjectRoots(
  store: Store,
  tenant: TenantId,
  root: Uint8Array,
  sids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (sids.length === 0) return new Map()
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const stored = await subjectKeysById(run, tenant, sids)
  return new Map(
    [...stored].flatMap(([sid, { kind, wrapped }]) => {
      try {
        return [[sid, unwrapSubjectRoot(root, { tenant, kind, sid }, wrapped)] as const]
      } catch {
        return []
      }
    }),
  )
}
