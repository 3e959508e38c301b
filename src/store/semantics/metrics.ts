/**
 * Stores metrics and draws them in the graph: MEANS to their term, COMPUTED_OVER to their very columns. A version's
 * definition never changes; one version of a metric is in force at most.
 */

import { Fault } from '../../base/fault.ts'
import type { MetricDefinition, MetricState, MetricVersion } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { readGovernance } from '../governance/governance.ts'
import { upsertEdge, upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { endReplaced } from './attestations.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'
import { requireTerms } from './term-rules.ts'

export interface StoredMetric extends MetricVersion {
  readonly at: Date
  /** Subject of its author. */
  readonly by: string
}

interface NewMetric {
  readonly name: string
  readonly definition: MetricDefinition
  readonly state: 'draft' | 'active'
  /** Of what is computed, given the version's number. */
  readonly sha256: (number: number) => string
  /** The columns that it is computed over. */
  readonly over: { readonly table: TableRef; readonly fieldIds: readonly number[] } | undefined
}

/**
 * Saves the next version of a metric. An active one takes the place of the version in force.
 * @throws Fault `conflict` where another metric in force means the same term, `unprocessable` for an unknown term
 */
export function saveMetric(on: SemanticChange, metric: NewMetric): Promise<StoredMetric> {
  return changeSemantics(on, async (tx) => {
    const { name, definition, state } = metric
    if (definition.term !== undefined) await requireTerms(tx, [definition.term])
    const [last] = await tx.query<{ readonly number: number }>(
      `select coalesce(max(number), 0)::int as number from svc.metric_version
       where tenant_id = svc.current_tenant() and metric = $1`,
      [name],
    )
    const number = (last?.number ?? 0) + 1
    if (state === 'active') await makeRoom(tx, on, name, definition)
    await tx.query(
      `insert into svc.metric_version (tenant_id, metric, number, state, definition, sha256, actor, actor_sub)
       values (svc.current_tenant(), $1, $2::int, $3, $4::text::jsonb, $5, $6::text::jsonb, $7)`,
      [
        name,
        number,
        state,
        storableJson(definition),
        metric.sha256(number),
        storableJson(on.actor),
        on.actor.sub,
      ],
    )
    await draw(tx, on.tenant, metric, number)
    await recordSemantics(tx, on, 'put-metric', { metric: name, number }, { ...definition, state })
    const found = await findIn(tx, name, number)
    if (found === undefined)
      throw new Fault('internal', 'Internal error.', { detail: 'the metric was not saved' })
    return found
  })
}

/** Retires the version in force, and refuses a second metric for one concept. */
async function makeRoom(
  tx: Tx,
  on: SemanticChange,
  name: string,
  { term, variant }: MetricDefinition,
): Promise<void> {
  if (term !== undefined && variant === undefined) {
    const [other] = await tx.query<{ readonly metric: string }>(
      `select metric from svc.metric_version where tenant_id = svc.current_tenant() and metric <> $1
         and state in ('active', 'deprecated') and definition ->> 'term' = $2 and definition ->> 'variant' is null limit 1`,
      [name, term],
    )
    if (other !== undefined)
      throw new Fault(
        'conflict',
        `The metric ${other.metric} means the term ${term} already. Change that one, or say by \`variant\` how this one differs.`,
      )
  }
  await endReplaced(tx, on, name)
  await tx.query(
    `update svc.metric_version set state = 'retired' where tenant_id = svc.current_tenant() and metric = $1
       and state in ('active', 'deprecated')`,
    [name],
  )
}

async function draw(tx: Tx, tenant: TenantId, metric: NewMetric, number: number): Promise<void> {
  const { name, definition, over, state } = metric
  const id = nodeId(name)
  await upsertNode(tx, tenant, {
    label: 'Metric',
    id,
    properties: { name, number, kind: definition.computation.kind },
  })
  if (state === 'draft') return
  // The edges are those of the version in force.
  for (const label of ['MEANS', 'COMPUTED_OVER'] as const)
    await tx.query(
      `delete from "${label}" e where e.start_id = (select n.id from "Metric" n
         where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype)`,
      [id],
    )
  const from = { label: 'Metric', id } as const
  const { term } = definition
  if (term !== undefined)
    await edge(tx, tenant, {
      label: 'MEANS',
      id: nodeId(`${name}\u001f${term}`),
      from,
      to: { label: 'GlossaryTerm', id: nodeId(term) },
    })
  if (over === undefined) return
  const governance = await readGovernance((text, params) => tx.query(text, params), over.table)
  for (const column of governance?.columns ?? [])
    if (over.fieldIds.includes(column.fieldId))
      await edge(tx, tenant, {
        label: 'COMPUTED_OVER',
        id: nodeId(`${name}\u001f${column.id}`),
        from,
        to: { label: 'Column', id: column.id },
      })
}

async function edge(tx: Tx, tenant: TenantId, drawn: Parameters<typeof upsertEdge>[2]): Promise<void> {
  if (!(await upsertEdge(tx, tenant, drawn)))
    throw new Fault('internal', 'Internal error.', { detail: `the ${drawn.label} edge could not be made` })
}

const moves: Readonly<Record<MetricState, readonly MetricState[]>> = {
  draft: ['active', 'retired'],
  active: ['deprecated', 'retired'],
  deprecated: ['active', 'retired'],
  retired: [],
}

/**
 * Moves a version to another state.
 * @throws Fault `not_found`; `conflict` for a move that its state does not allow, and as saveMetric
 */
export function moveMetric(
  on: SemanticChange,
  name: string,
  number: number,
  to: MetricState,
): Promise<StoredMetric> {
  return changeSemantics(on, async (tx) => {
    const metric = await findIn(tx, name, number)
    if (metric === undefined) throw new Fault('not_found', 'There is no such version of the metric.')
    if (!moves[metric.state].includes(to))
      throw new Fault('conflict', `A version that is ${metric.state} cannot become ${to}.`)
    if (metric.state === 'draft' && to === 'active') await makeRoom(tx, on, name, metric.definition)
    if (to === 'retired' && metric.state !== 'draft') await endReplaced(tx, on, name)
    await tx.query(
      `update svc.metric_version set state = $3 where tenant_id = svc.current_tenant() and metric = $1 and number = $2::int`,
      [name, number, to],
    )
    if (metric.state === 'draft' && to === 'active')
      await draw(
        tx,
        on.tenant,
        { ...metric, state: 'active', sha256: () => metric.sha256, over: overOf(metric.definition) },
        number,
      )
    await recordSemantics(tx, on, 'move-metric', { metric: name, number }, { to })
    return { ...metric, state: to }
  })
}

/** The columns that a metric reads itself; undefined for one that is made of others. */
export function overOf({ computation }: MetricDefinition): NewMetric['over'] {
  if (computation.kind !== 'simple') return undefined
  const { table, expression, filter, currency } = computation
  const fieldIds = [expression, filter, currency?.column].flatMap((each) => Object.values(each?.names ?? {}))
  return { table, fieldIds: [...new Set(fieldIds)] }
}

interface Row {
  readonly metric: string
  readonly number: number
  readonly state: MetricState
  readonly definition: MetricDefinition
  readonly sha256: string
  readonly at: Date
  readonly actor_sub: string
}

const columns = 'metric, number, state, definition, sha256, at, actor_sub'
const toMetric = ({ metric: name, actor_sub: by, ...row }: Row): StoredMetric => ({ ...row, name, by })

async function findIn(tx: Tx, name: string, number: number): Promise<StoredMetric | undefined> {
  const [row] = await tx.query<Row>(
    `select ${columns} from svc.metric_version where tenant_id = svc.current_tenant() and metric = $1 and number = $2::int`,
    [name, number],
  )
  return row && toMetric(row)
}

/** A metric: the version in force, else the newest. */
export async function findMetric(
  store: Store,
  tenant: TenantId,
  name: string,
): Promise<StoredMetric | undefined> {
  return (await findMetrics(store, tenant, [name]))[0]
}

/** The metrics of several names, each as in {@link findMetric}, in their order; undefined where there is none. */
export async function findMetrics(
  store: Store,
  tenant: TenantId,
  names: readonly string[],
): Promise<readonly (StoredMetric | undefined)[]> {
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select distinct on (metric) ${columns} from svc.metric_version
     where tenant_id = $1 and metric in (select jsonb_array_elements_text($2::text::jsonb))
     order by metric, state in ('active', 'deprecated') desc, number desc`,
    [tenant, JSON.stringify(names.map(storableText))],
  )
  const found = new Map(rows.map((row) => [row.metric, toMetric(row)]))
  return names.map((name) => found.get(name))
}

/** The metrics in force, in the tenant's context. */
export async function inForce(run: Pick<Tx, 'query'>['query']): Promise<readonly StoredMetric[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.metric_version where tenant_id = svc.current_tenant()
       and state in ('active', 'deprecated') order by metric`,
  )
  return rows.map(toMetric)
}

/** Metrics by name, each as in findMetric. @throws Fault `bad_request` for a bad page */
export async function listMetrics(
  store: Store,
  tenant: TenantId,
  page: PageRequest & { readonly inForce: boolean },
): Promise<Page<StoredMetric>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select * from (select distinct on (metric) ${columns} from svc.metric_version
       where tenant_id = $1 and metric > $2 and ($3::bool is false or state in ('active', 'deprecated'))
       order by metric, state in ('active', 'deprecated') desc, number desc) m order by metric limit $4::int`,
    [tenant, page.after ?? '', page.inForce, limit + 1],
  )
  const { items, next } = toPage(rows, limit, (row) => row.metric)
  return { items: items.map(toMetric), ...(next !== undefined && { next }) }
}

/** The versions of a metric, newest first. @throws Fault `bad_request` for a bad page */
export async function listMetricVersions(
  store: Store,
  tenant: TenantId,
  name: string,
  page: PageRequest,
): Promise<Page<StoredMetric>> {
  const limit = pageLimit(page)
  const { text, params } = given([tenant, name, limit + 1], ['number < ?::int', afterCount(page)])
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.metric_version
     where tenant_id = $1 and metric = $2${text} order by number desc limit $3::int`,
    params,
  )
  const { items, next } = toPage(rows, limit, (row) => String(row.number))
  return { items: items.map(toMetric), ...(next !== undefined && { next }) }
}
