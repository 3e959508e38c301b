/** Finds one policy with everything that it is bound to. */

import type { Policy, PolicyScope } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Properties } from '../graph/graph.ts'
import { parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { type StoredPolicy, toPolicy } from './policies.ts'
import { edgeScope } from './policy-scope.ts'

export interface BoundPolicy {
  readonly policy: Policy
  /** The first of them, oldest first. */
  readonly scopes: readonly PolicyScope[]
  /** Whether there are more. */
  readonly hasMoreScopes: boolean
}

const scopesMax = 1000

/** @returns undefined where the tenant has no such policy */
export async function findPolicy(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<BoundPolicy | undefined> {
  if (id === '') return undefined
  const rows = await store.tenantQuery<{
    readonly properties: string
    readonly table: string | null
    readonly bound: string | null
  }>(
    tenant,
    `with p as materialized (
       ${['Policy', 'RetentionPolicy']
         .map(
           (label) =>
             `select p.id, p.properties from "${label}" p
              where agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype`,
         )
         .join(' union all ')}),
     e as materialized (
       ${['SCHEMA_GOVERNS', 'WRITE_GOVERNS', 'RETAINS']
         .map(
           (edge) =>
             `select e.id, e.end_id, e.properties from "${edge}" e where e.start_id = any(array(select id from p))`,
         )
         .join(' union all ')})
     select p.properties, t.properties as table, e.properties as bound
     from p left join e on true left join "Table" t on t.id = e.end_id
     order by e.id limit $2::int`,
    [id, scopesMax + 1],
  )
  const [first] = rows
  if (first === undefined) return undefined
  const scopes = rows.slice(0, scopesMax).flatMap(({ table, bound }): readonly PolicyScope[] => {
    if (table !== null) {
      const { namespace, name } = parseAgtype(table) as unknown as TableRef
      return [{ namespace, name }]
    }
    const scope = bound === null ? undefined : edgeScope(parseAgtype(bound) as Properties)
    return scope === undefined ? [] : [scope]
  })
  return {
    policy: toPolicy(parseAgtype(first.properties) as unknown as StoredPolicy),
    scopes,
    hasMoreScopes: rows.length > scopesMax,
  }
}
