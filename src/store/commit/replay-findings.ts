/** Reads the findings of a replay: one by one, and counted by writer, table and reason. */

import type { CatalogAction } from '../../core/commit.ts'
import type { Decision } from '../../core/decision.ts'
import type { ReplayFinding } from '../../core/policy-replay.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Condition, given } from '../database/conditions.ts'
import { storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface ListedFinding {
  readonly commitId: string
  readonly action: CatalogAction
  readonly table: TableRef
  readonly committer: string
  readonly decision: Decision
  readonly createdAt: Date
  readonly outcome: ReplayFinding
  readonly reason: string
  readonly explanation: string | undefined
}

interface FindingRow {
  readonly audit_seq: string
  readonly commit_id: string
  readonly action: CatalogAction
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly committer: string
  readonly decision: Decision
  readonly created_at: Date
  readonly outcome: ReplayFinding
  readonly reason: string
  readonly explanation: string | null
}

/** The tables that the findings of a replay are about. */
export async function tablesOfFindings(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<readonly TableRef[]> {
  return await store.tenantQuery<TableRef>(
    tenant,
    `select distinct namespace, table_name as name from svc.policy_replay_finding
     where tenant_id = $1 and replay_id = $2::text::uuid`,
    [tenant, id],
    { readOnly: true },
  )
}

/** Leaves findings about these tables out. */
interface Without {
  readonly without?: readonly TableRef[]
}

/** The condition, and its parameter. */
const without = (tables: readonly TableRef[] = []): Condition => [
  `not exists (select 1 from jsonb_array_elements(?::text::jsonb) hidden
     where hidden -> 'namespace' = namespace and hidden ->> 'name' = table_name)`,
  tables.length === 0 ? undefined : storableJson(tables),
]

/** The findings of a replay, of the newest commit first. @throws Fault `bad_request` for a bad page token */
export async function listFindings(
  store: Store,
  tenant: TenantId,
  id: string,
  {
    outcome,
    without: hidden,
    ...page
  }: PageRequest & Without & { readonly outcome?: ReplayFinding | undefined },
): Promise<Page<ListedFinding>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, id, limit + 1],
    ['outcome = ?::text', outcome],
    ['audit_seq < ?::int8', afterCount(page)],
    without(hidden),
  )
  const rows = await store.tenantQuery<FindingRow>(
    tenant,
    `select * from svc.policy_replay_finding where tenant_id = $1 and replay_id = $2::text::uuid${text}
     order by audit_seq desc limit $3::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.audit_seq)
  const listed = found.items.map((row) => ({
    commitId: row.commit_id,
    action: row.action,
    table: { namespace: row.namespace, name: row.table_name },
    committer: row.committer,
    decision: row.decision,
    createdAt: row.created_at,
    outcome: row.outcome,
    reason: row.reason,
    explanation: row.explanation ?? undefined,
  }))
  return { ...found, items: listed }
}

/** Findings that are alike, counted. */
interface FindingGroup {
  readonly outcome: ReplayFinding
  readonly table: TableRef
  readonly committer: string
  readonly reason: string
  readonly commits: number
  readonly lastAt: Date
}

/** Findings by outcome, writer, table and reason, the most frequent first. */
export async function groupFindings(
  store: Store,
  tenant: TenantId,
  id: string,
  { without: hidden, ...page }: PageRequest & Without,
): Promise<Page<FindingGroup>> {
  const limit = pageLimit(page)
  const offset = Number(afterCount(page) ?? 0)
  const { text, params } = given([tenant, id, offset, limit + 1], without(hidden))
  const rows = await store.tenantQuery<
    Pick<FindingRow, 'outcome' | 'namespace' | 'table_name' | 'committer' | 'reason'> & {
      readonly commits: string
      readonly last_at: Date
    }
  >(
    tenant,
    `select outcome, namespace, table_name, committer, reason, count(*) as commits, max(created_at) as last_at
     from svc.policy_replay_finding where tenant_id = $1 and replay_id = $2::text::uuid${text}
     group by outcome, namespace, table_name, committer, reason
     order by count(*) desc, outcome, namespace, table_name, committer, reason offset $3::int limit $4::int`,
    params,
  )
  const found = toPage(rows, limit, () => String(offset + limit))
  return {
    ...found,
    items: found.items.map(
      ({ outcome, namespace, table_name: name, committer, reason, commits, last_at }) => ({
        ...{ outcome, committer, reason },
        table: { namespace, name },
        commits: Number(commits),
        lastAt: last_at,
      }),
    ),
  }
}
