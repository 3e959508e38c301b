/** GET /api/v1/usage: records of the read path in pages, and their totals. */

import { Elysia } from 'elysia'
import { answerFaults } from '../auth/answer.ts'
import { requireSession } from '../auth/guard.ts'
import { pageOf } from '../auth/page-query.ts'
import { verifiedPrincipal } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import { parseRfc3339 } from '../base/rfc3339.ts'
import type { TenantId } from '../core/tenant.ts'
import { usageOutcomes } from '../core/usage.ts'
import {
  type ListedUsage,
  listUsage,
  totalUsage,
  type UsageFilter,
  type UsageTotal,
  usageGroups,
} from '../store/usage.ts'
import type { QueryParts } from './routes.ts'
import { totalsDetail, usageDetail } from './usage-open-api.ts'

type Route = { readonly request: Request }

/** The scope `read`; records of other principals take the role of a steward or administrator. */
export function usageRoutes(parts: QueryParts) {
  const answer = (
    request: Request,
    read: (tenant: TenantId, filter: UsageFilter, all: boolean) => Promise<object>,
  ) =>
    answerFaults(parts.log, async () => {
      const session = await requireSession(request, parts.findSession, 'read')
      const { sub, roles } = await verifiedPrincipal(parts.identify, request, session)
      const all = roles.includes('steward') || roles.includes('administrator')
      return Response.json(await read(session.tenant, filterOf(request, all ? undefined : sub), all))
    })
  return new Elysia({ name: 'usage' })
    .get(
      '/api/v1/usage',
      ({ request }: Route) =>
        answer(request, async (tenant, filter, all) => {
          const page = await listUsage(parts.store, tenant, filter, pageOf(request))
          return { ...page, items: page.items.map((usage) => usageView(usage, all)) }
        }),
      { detail: usageDetail },
    )
    .get(
      '/api/v1/usage/totals',
      ({ request }: Route) =>
        answer(request, async (tenant, filter, all) => {
          const by = usageGroups.find((one) => one === new URL(request.url).searchParams.get('by'))
          if (by === undefined)
            throw new Fault('bad_request', `\`by\` must be one of ${usageGroups.join(', ')}.`)
          const page = await totalUsage(parts.store, tenant, filter, by, pageOf(request))
          return { ...page, items: page.items.map((total) => totalView(total, all)) }
        }),
      { detail: totalsDetail },
    )
}

/** @param own the only principal whose records may be seen; undefined: everyone's may */
function filterOf(request: Request, own: string | undefined): UsageFilter {
  const { searchParams } = new URL(request.url)
  const principal = searchParams.get('principal') ?? own
  if (own !== undefined && principal !== own)
    throw new Fault('forbidden', 'Records of others take the role `steward` or `administrator`.')
  const named = searchParams.get('outcome')
  const outcome = usageOutcomes.find((one) => one === named)
  if (named !== null && outcome === undefined)
    throw new Fault('bad_request', `\`outcome\` must be one of ${usageOutcomes.join(', ')}.`)
  return { principal, outcome, from: timeOf(searchParams, 'from'), to: timeOf(searchParams, 'to') }
}

function timeOf(params: URLSearchParams, name: string): Date | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const time = parseRfc3339(text)
  if (time === undefined) throw new Fault('bad_request', `\`${name}\` must be a time as in RFC 3339.`)
  return time
}

/**
 * What the engine read of files counts rows that a filter hides, and files that it skipped for their bounds.
 * @param all whether the caller may see that
 */
function usageView(usage: ListedUsage, all: boolean) {
  return {
    query_id: usage.queryId,
    started_at: usage.startedAt.toISOString(),
    principal: usage.principal,
    principal_source: usage.principalSource,
    surface: usage.surface,
    catalog: usage.catalog,
    engine: usage.engine,
    contracts: usage.contracts,
    reads: usage.reads,
    policies: usage.policies,
    rows_out: usage.rowsOut,
    bytes_out: usage.bytesOut,
    ...((all || usage.policies.length === 0) && { bytes_scanned: usage.bytesScanned }),
    queue_ms: usage.queueMs,
    plan_ms: usage.planMs,
    run_ms: usage.runMs,
    outcome: usage.outcome,
    sqlstate: usage.sqlState,
    fingerprint: usage.fingerprint,
  }
}

function totalView({ key, queries, rowsOut, bytesOut, bytesScanned, runMs }: UsageTotal, all: boolean) {
  return {
    key,
    queries,
    rows_out: rowsOut,
    bytes_out: bytesOut,
    ...(all && { bytes_scanned: bytesScanned }),
    run_ms: runMs,
  }
}
