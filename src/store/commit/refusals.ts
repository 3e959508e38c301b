/** Records changes that got no verdict, and lists what was refused: them and denials, from the audit log. */

import { Fault } from '../../base/fault.ts'
import type { CatalogAction, UnjudgedChange } from '../../core/commit.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import type { PrincipalSource } from '../../core/principal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Why a change was refused: the labels of `commit_rejected_total`. */
export const refusalOutcomes = ['policy_denied', 'policy_engine_unavailable'] as const
type RefusalOutcome = (typeof refusalOutcomes)[number]

export interface Refusal {
  readonly commitId: string
  readonly requestId: string | undefined
  readonly createdAt: Date
  readonly outcome: RefusalOutcome
  readonly action: CatalogAction
  readonly table: TableRef
  /** Subject. */
  readonly principal: string
  readonly principalSource: PrincipalSource
  readonly policy: { readonly id: string; readonly name: string } | undefined
  /** What the writer was told, or the error code of a missing verdict. */
  readonly reason: string
  /** The failing sub-expression with its values, or what could not be done. */
  readonly explanation: string | undefined
}

export interface RefusalFilter extends PageRequest {
  readonly requestId?: string | undefined
  readonly table?: TableRef | undefined
}

/**
 * Records a change without a verdict, and removes the tenant's oldest such records.
 * @param kept how many stay
 */
export async function recordUnjudged(
  store: Store,
  tenant: TenantId,
  { intent, error, policy, explanation }: UnjudgedChange,
  kept: number = limits.unjudgedChangesKept,
): Promise<void> {
  const record = storableJson({
    commit_id: intent.commitId,
    request_id: intent.requestId,
    action: intent.action ?? 'update-table',
    table_id: nodeId(tableKey(intent.table)),
    namespace: intent.table.namespace,
    table_name: intent.table.name,
    principal: intent.principal.sub,
    principal_source: intent.principalSource,
    policy_id: policy?.id,
    policy_name: policy?.name,
    error,
    explanation,
  })
  await store.tenantCall(tenant, 'record_unjudged', [record, kept])
}

interface Row {
  readonly commit_id: string
  readonly request_id: string | null
  readonly created_at: Date
  readonly micros: string
  readonly outcome: RefusalOutcome
  readonly action: CatalogAction
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly principal: string
  readonly principal_source: PrincipalSource
  readonly reason: string
  readonly policy_id: string | null
  readonly policy_name: string | null
  readonly explanation: string | null
  /** Of a denial. */
  readonly outcomes: readonly PolicyOutcome[] | null
}

const denials = `select commit_id, request_id, created_at, 'policy_denied' as outcome, action, namespace, table_name,
  committer as principal, principal_source, reason, null as policy_id, null as policy_name, null as explanation, outcomes
  from svc.audit_log where decision = 'REJECTED'`
const unjudged = `select commit_id, request_id, created_at, 'policy_engine_unavailable' as outcome, action, namespace,
  table_name, principal, principal_source, error as reason, policy_id, policy_name, explanation, null::jsonb as outcomes
  from svc.unjudged_change where true`

/**
 * The tenant's refused changes, newest first: every denial, and the newest of those without a verdict.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listRefusals(
  store: Store,
  tenant: TenantId,
  filter: RefusalFilter = {},
): Promise<Page<Refusal>> {
  const limit = pageLimit(filter)
  const params: Param[] = [tenant]
  const conditions = ['tenant_id = $1']
  // Only the filters that are given stand in the text: a plan for all of them would read every row.
  const where = (text: (place: string) => string, value: Param) =>
    conditions.push(text(`$${params.push(value)}`))
  if (filter.requestId !== undefined) where((place) => `request_id = ${place}`, filter.requestId)
  if (filter.table !== undefined) where((place) => `table_id = ${place}`, nodeId(tableKey(filter.table)))
  const after = position(filter.after)
  if (after !== undefined) {
    const time = `timestamptz 'epoch' + $${params.push(after.micros)}::int8 * interval '1 microsecond'`
    where((place) => `(created_at, commit_id) < (${time}, ${place}::uuid)`, after.commitId)
  }
  const newest = `and ${conditions.join(' and ')} order by created_at desc, commit_id desc limit ${limit + 1}`
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select r.*, (extract(epoch from created_at) * 1000000)::int8::text as micros
     from ((${denials} ${newest}) union all (${unjudged} ${newest})) r
     order by created_at desc, commit_id desc limit ${limit + 1}`,
    params,
  )
  const page = toPage(rows, limit, ({ micros, commit_id }) => `${micros}_${commit_id}`)
  return { ...page, items: page.items.map(toRefusal) }
}

/** @throws Fault `bad_request` where it is no token of such a listing */
function position(after: string | undefined) {
  if (after === undefined) return undefined
  const [micros = '', commitId = '', ...more] = after.split('_')
  if (!/^[1-9]\d{0,15}$/.test(micros) || !isUuid(commitId) || more.length > 0)
    throw new Fault('bad_request', 'The page token is not valid.')
  return { micros, commitId }
}

function toRefusal(row: Row): Refusal {
  const deciding = row.outcomes?.find(
    ({ mode, value }) => mode !== 'warn' && mode !== 'shadow' && value !== true,
  )
  const id = deciding?.policyId ?? row.policy_id
  const name = deciding?.name ?? row.policy_name
  return {
    commitId: row.commit_id,
    requestId: row.request_id ?? undefined,
    createdAt: row.created_at,
    outcome: row.outcome,
    action: row.action,
    table: { namespace: row.namespace, name: row.table_name },
    principal: row.principal,
    principalSource: row.principal_source,
    policy: id === null || name === null ? undefined : { id, name },
    reason: row.reason,
    explanation: deciding?.explanation ?? row.explanation ?? undefined,
  }
}
