/** Lists decisions of the audit log by filters, with the outcomes of their policies where the caller wants them. */

import type { AuditEntry } from '../../core/audit-entry.ts'
import type { AppliedPolicy } from '../../core/commit.ts'
import type { Decision, PolicyOutcome } from '../../core/decision.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Condition, given } from '../database/conditions.ts'
import { nodeId, storableText } from '../database/names.ts'
import { afterCount, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import { entryColumns, policiesOf, toEntry } from './audit.ts'

export interface DecisionFilter {
  readonly table?: TableRef | undefined
  readonly decision?: Decision | undefined
  /** Subject of who committed. */
  readonly principal?: string | undefined
  /** Id of a policy that was evaluated or in force. */
  readonly policy?: string | undefined
  readonly requestId?: string | undefined
  /** Id of the session through which it came. */
  readonly session?: string | undefined
  /** `User-Agent`, whole. */
  readonly client?: string | undefined
  readonly applicationId?: string | undefined
  readonly branch?: string | undefined
  /** Made at this time or later, and before that one. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** What explains a decision. The texts of policies are left out, because many decisions share them. */
interface Explanation {
  readonly principal: Principal
  readonly policies: readonly Omit<AppliedPolicy, 'definitionCel'>[]
  readonly outcomes: readonly PolicyOutcome[]
}

export interface ListedDecision extends AuditEntry {
  /** Its place in the log, at which a page after it begins. */
  readonly sequence: string
  /** Undefined where it was not wanted. */
  readonly explanation: Explanation | undefined
}

type Row = { readonly audit_seq: string } & Partial<Explanation>

const explanationColumns = `, principal, outcomes,
  (select coalesce(jsonb_agg(p - 'definitionCel' order by place), '[]')
   from jsonb_array_elements(${policiesOf('audit_log')}) with ordinality each (p, place)) as policies`

/**
 * The tenant's decisions, newest first.
 * @param options.isExplained whether to load what explains them
 * @throws Fault `bad_request` for a bad page token; the signal's reason
 */
export async function listDecisions(
  store: Store,
  tenant: TenantId,
  filter: DecisionFilter & PageRequest = {},
  { isExplained = false, signal }: { readonly isExplained?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Page<ListedDecision>> {
  const limit = pageLimit(filter)
  const { table, decision, principal, policy, requestId, session, from, to } = filter
  if (session !== undefined && !isUuid(session)) return { items: [] }
  const committer = principal === undefined ? undefined : storableText(principal)
  const { text: where, params } = given(
    [tenant, limit + 1],
    ['audit_seq < ?::int8', afterCount(filter)],
    ['table_id = ?::text', table && nodeId(tableKey(table))],
    ['decision = ?::text', decision === 'REJECTED' ? undefined : decision],
    // Written out, because the index of denials serves no parameter of a kept plan.
    ["decision = 'REJECTED' and ?::boolean", decision === 'REJECTED' ? true : undefined],
    ['(md5(committer) = md5(?::text) and committer = ?::text)', committer, committer],
    ['request_id = ?::text', requestId === undefined ? undefined : storableText(requestId)],
    ['session_id = ?::uuid', session],
    hashed('client', filter.client),
    hashed('application_id', filter.applicationId),
    hashed('branch', filter.branch),
    // Written out, because the index of branches leaves out the one that nearly all commits move.
    ["branch <> 'main' and ?::boolean", (filter.branch ?? 'main') === 'main' ? undefined : true],
    ['created_at >= ?::text::timestamptz', from?.toISOString()],
    ['created_at < ?::text::timestamptz', to?.toISOString()],
  )
  const source = policy === undefined ? 'svc.audit_log' : decisionsUnder(where, `$${params.length + 1}::text`)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${entryColumns}${isExplained ? explanationColumns : ''} from ${source}
     where tenant_id = $1${where} order by audit_seq desc limit $2::int`,
    policy === undefined ? params : [...params, policy],
    { readOnly: true, ...(signal && { signal }) },
  )
  const page = toPage(rows, limit, (row) => row.audit_seq)
  return { ...page, items: page.items.map(toListed) }
}

/** The condition that a column holds a text, by the index of its hash. */
function hashed(column: string, wanted: string | undefined): Condition {
  const text = wanted === undefined ? undefined : storableText(wanted)
  return [`(md5(${column}) = md5(?::text) and ${column} = ?::text)`, text, text]
}

/**
 * Enough for a page of the decisions under which a policy was in force: of each set of policies with it, and of the rows
 * that hold their policies themselves. What was evaluated is in the set.
 */
function decisionsUnder(where: string, policy: string): string {
  const page = `${where} order by audit_seq desc limit $2::int`
  return `(select a.* from svc.policy_set s, lateral (
       select * from svc.audit_log where tenant_id = $1 and policy_set = s.sha256${page}) a
     where s.tenant_id = $1 and s.policies @> jsonb_build_array(jsonb_build_object('id', ${policy}))
     union all (select * from svc.audit_log where tenant_id = $1 and policies <> '[]'
       and (policies @> jsonb_build_array(jsonb_build_object('id', ${policy}))
         or outcomes @> jsonb_build_array(jsonb_build_object('policyId', ${policy})))${page})) audit_log`
}

/**
 * The same page of the decisions on each of several tables, newest first, explained, in one statement.
 * @throws Fault as {@link listDecisions}
 */
export async function listDecisionsOf(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  page: PageRequest,
): Promise<readonly Page<ListedDecision>[]> {
  const limit = pageLimit(page)
  const ids = tables.map((table) => nodeId(tableKey(table)))
  const { text, params } = given(
    [tenant, JSON.stringify(ids), limit + 1],
    ['audit_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<Row & { readonly table_id: string }>(
    tenant,
    `select a.* from (select distinct jsonb_array_elements_text($2::text::jsonb) as id) t, lateral (
       select table_id, ${entryColumns}${explanationColumns} from svc.audit_log
       where tenant_id = $1 and table_id = t.id${text}
       order by audit_seq desc limit $3::int) a
     order by a.table_id, a.audit_seq desc`,
    params,
    { readOnly: true },
  )
  const byTable = Map.groupBy(rows, ({ table_id }) => table_id)
  return ids.map((id) => {
    const found = toPage(byTable.get(id) ?? [], limit, (row) => row.audit_seq)
    return { ...found, items: found.items.map(toListed) }
  })
}

function toListed(row: Row): ListedDecision {
  const { principal, policies, outcomes } = row
  const explanation = principal && policies && outcomes ? { principal, policies, outcomes } : undefined
  return { ...toEntry(row), sequence: row.audit_seq, explanation }
}
