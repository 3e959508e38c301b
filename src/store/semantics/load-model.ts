/** Loads the semantic layer of a tenant for the read path. It is loaded again only where something has changed. */

import { Lru } from '../../base/lru.ts'
import type { Attestation, MetricVersion, TableModel } from '../../core/metric.ts'
import type { SemanticModel } from '../../core/semantic-model.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { Store } from '../store.ts'
import { originOf } from '../with-signal.ts'

interface LoadedModel {
  /** The tenant's governance version that it is of. */
  readonly version: bigint
  readonly model: SemanticModel
}

interface Stored {
  readonly tables: readonly TableModel[]
  readonly metrics: readonly MetricVersion[]
  readonly attestations: readonly Attestation[]
}

interface Cached {
  readonly version: bigint
  readonly stored: Stored
}

/** By store, because a process of the tests has several. */
const caches = new WeakMap<Store, Lru<TenantId, Cached>>()
const modelWeight = 4

const modelText = `
  with now as (select coalesce((select v.version from svc.governance_version v where v.tenant_id = $1), 0) as version)
  select now.version::text as version, case when now.version::text is distinct from $2 then jsonb_build_object(
    'tables', (select coalesce(jsonb_agg(t.definition || jsonb_build_object('number', t.number)), '[]') from (
      select distinct on (m.table_id) m.definition, m.number from svc.table_model m where m.tenant_id = $1
      order by m.table_id, m.number desc) t),
    'metrics', (select coalesce(jsonb_agg(jsonb_build_object('name', m.metric, 'number', m.number, 'state', m.state,
        'sha256', m.sha256, 'definition', m.definition)), '[]')
      from svc.metric_version m where m.tenant_id = $1 and m.state in ('active', 'deprecated')),
    'attestations', (select coalesce(jsonb_agg(a.definition || jsonb_build_object('id', a.attestation_id,
        'metric', a.metric, 'sha256', a.sha256,
        'untilMs', floor(extract(epoch from a.valid_until) * 1000)::int8) order by a.at), '[]')
      from svc.metric_attestation a join svc.metric_version m
        on m.tenant_id = a.tenant_id and m.metric = a.metric and m.sha256 = a.sha256
          and m.state in ('active', 'deprecated')
      where a.tenant_id = $1 and not exists (select from svc.metric_attestation_end e
        where e.tenant_id = a.tenant_id and e.attestation_id = a.attestation_id)))::text end as stored
  from now`

/**
 * The semantic layer as it is in force.
 * @param nowMs attestations that have ended by then are left out
 * @throws Fault of the store; the signal's reason
 */
export async function loadSemanticModel(
  store: Store,
  tenant: TenantId,
  nowMs: number,
  signal?: AbortSignal,
): Promise<LoadedModel> {
  const origin = originOf(store)
  const cache = caches.get(origin) ?? new Lru<TenantId, Cached>(limits.governanceCacheBytes)
  caches.set(origin, cache)
  const cached = cache.get(tenant)
  const [row] = await store.tenantQuery<{ readonly version: string; readonly stored: string | null }>(
    tenant,
    modelText,
    [tenant, cached === undefined ? null : String(cached.version)],
    { readOnly: true, ...(signal && { signal }) },
  )
  const version = BigInt(row?.version ?? 0)
  const text = row?.stored ?? null
  const found =
    text === null && cached !== undefined
      ? cached
      : { version, stored: JSON.parse(text ?? '{"tables":[],"metrics":[],"attestations":[]}') as Stored }
  if (found !== cached) cache.set(tenant, found, modelWeight * (text?.length ?? 0))
  return { version, model: modelOf(found.stored, nowMs) }
}

/** The newest attestation of a metric is the one that counts. */
function modelOf({ tables, metrics, attestations }: Stored, nowMs: number): SemanticModel {
  const holding = attestations.filter(({ untilMs }) => untilMs > nowMs)
  return {
    tables: new Map(tables.map((model) => [tableKey(model.table), model])),
    metrics: new Map(metrics.map((metric) => [metric.name, metric])),
    attestations: new Map(holding.map((attestation) => [attestation.metric, attestation])),
  }
}
