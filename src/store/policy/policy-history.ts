/** Reads what policies said and governed, and who changed it (docs/reference/policies.md 1.4). Nothing alters it. */

import type { Actor } from '../../core/administration.ts'
import type { NamespaceScope, Policy, PolicyScope, TagScope } from '../../core/policy.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { nodeId } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import { distinctPolicies, type StoredPolicy, toPolicy } from './policies.ts'
import { namespaceIds } from './policy-scope.ts'

export interface PolicyChange {
  readonly at: Date
  /** Undefined for a change that was made before the actor was recorded. */
  readonly actor: Actor | undefined
  /** What the policy was bound to by this change, or no longer; undefined for its removal. */
  readonly scope: PolicyScope | undefined
  /** Whether this change ended the binding to `scope`. */
  readonly unbinds: boolean
  /** What it said before and after; undefined where there was none. */
  readonly before: Policy | undefined
  readonly after: Policy | undefined
}

interface ChangeRow {
  readonly history_seq: string
  readonly at: Date
  readonly actor: Actor | null
  readonly scope: NamedScope | null
  readonly unbinds: boolean
  readonly policy: StoredPolicy | null
  readonly before: StoredPolicy | null
}

type NamedScope = { readonly table: TableRef } | NamespaceScope | TagScope

/**
 * The changes of a policy, newest first; those of a removed policy too.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listPolicyChanges(
  store: Store,
  tenant: TenantId,
  id: string,
  page: PageRequest,
): Promise<Page<PolicyChange>> {
  const limit = pageLimit(page)
  const { text, params } = given([tenant, id, limit + 1], ['h.history_seq < ?::int8', afterCount(page)])
  const rows = await store.tenantQuery<ChangeRow>(
    tenant,
    `select h.history_seq, h.at, h.actor, h.policy, h.unbinds,
       coalesce(h.scope, case when h.table_id is not null then jsonb_build_object('table', jsonb_build_object(
         'namespace', to_jsonb((string_to_array(h.table_id, chr(31)))[: cardinality(string_to_array(h.table_id, chr(31))) - 1]),
         'name', split_part(h.table_id, chr(31), -1))) end) as scope,
       (select b.policy from svc.policy_history b
        where b.tenant_id = h.tenant_id and b.policy_id = h.policy_id and b.history_seq < h.history_seq
        order by b.history_seq desc limit 1) as before
     from svc.policy_history h
     where h.tenant_id = $1 and h.policy_id = $2${text}
     order by h.history_seq desc limit $3::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.history_seq)
  return { ...found, items: found.items.map(toChange) }
}

function toChange({ at, actor, scope, unbinds, policy, before }: ChangeRow): PolicyChange {
  return {
    at,
    actor: actor ?? undefined,
    scope: scope === null ? undefined : 'table' in scope ? scope.table : scope,
    unbinds,
    before: before === null ? undefined : toPolicy(before),
    after: policy === null ? undefined : toPolicy(policy),
  }
}

/**
 * The policies that governed a table when an intent on it was opened. They decided a commit whose process died.
 * @param commitId commit id of an intent that is still open
 */
export async function policiesAtIntent(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  commitId: string,
): Promise<readonly Policy[]> {
  const rows = await store.tenantQuery<{
    readonly policy: StoredPolicy
    readonly scope: NamespaceScope | TagScope | null
  }>(
    tenant,
    `with past as (
       select h.* from svc.policy_history h
       join svc.commit_intent i on i.tenant_id = h.tenant_id and i.commit_id = $2
       where h.tenant_id = $1 and h.at <= i.opened_at),
     removed as (select policy_id, max(history_seq) as seq from past where policy is null group by policy_id),
     attached as (
       select policy_id, case when table_id is null then scope end as scope from past
       where (table_id = $3 or namespace_id in (select jsonb_array_elements_text($4::text::jsonb))
           or tag_id in (select id from (${tagsText}) tags))
         and history_seq > coalesce((select seq from removed r where r.policy_id = past.policy_id), 0)
       -- The last word on each binding counts.
       group by policy_id, table_id, namespace_id, tag_id, 2
       having max(history_seq) filter (where not unbinds) > coalesce(max(history_seq) filter (where unbinds), 0))
     select a.scope, (select p.policy from past p where p.policy_id = a.policy_id and p.policy is not null
       order by p.history_seq desc limit 1) as policy
     from attached a`,
    [tenant, commitId, nodeId(tableKey(table)), JSON.stringify(namespaceIds(table.namespace))],
  )
  return distinctPolicies(rows.map(({ policy, scope }) => [toPolicy(policy), scope ?? undefined]))
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/** The ids of the tags that the table $3 carries now. */
const carriedText = `
  with t as (select t.id from "Table" t where ${property('t', 'id')} = to_jsonb($3::text)::text::agtype)
  select g.properties::text::jsonb ->> 'id' as id from "TAGGED" e join "Tag" g on g.id = e.end_id
  where e.start_id in (
    select id from t
    union all select h.end_id from "HAS_COLUMN" h where h.start_id in (select id from t)
    union all select c.id from "Column" c where ${property('c', 'table_id')} = to_jsonb($3::text)::text::agtype)`

/**
 * The ids of the tags that the table $3 carried when the intent was opened, itself or by a column, also by one that was
 * dropped: those of now without what was set since, and what was removed since.
 */
const tagsText = `
  select x.tag_id as id from svc.tag_change x, svc.commit_intent i
  where i.tenant_id = $1 and i.commit_id = $2 and x.tenant_id = $1 and x.table_id = $3
  group by x.tag_id
  having bool_or(x.action = 'removed' and x.at > i.opened_at) and bool_or(x.at <= i.opened_at)
  union
  select id from (${carriedText}) carried
  where not exists (
    select from svc.tag_change x, svc.commit_intent i
    where i.tenant_id = $1 and i.commit_id = $2 and x.tenant_id = $1 and x.table_id = $3 and x.tag_id = carried.id
    having bool_or(x.action = 'set' and x.at > i.opened_at) and not bool_or(x.at <= i.opened_at))`
