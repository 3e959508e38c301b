/** Describes metrics to those who may ask for them: what they mean, what they can be grouped by, what they inherit. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Attestation, MetricVersion } from '../core/metric.ts'
import type { Principal } from '../core/principal.ts'
import { leavesOf, type PlacedDimension, relationOf, type SemanticModel } from '../core/semantic-model.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import type { PageRequest } from '../store/database/page.ts'
import { type Governance, loadGovernances } from '../store/governance/governance.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import { findMetric, listMetrics, type StoredMetric } from '../store/semantics/metrics.ts'
import type { Store } from '../store/store.ts'
import { columnsOf, type MetricProblem, problemsOf } from './inherited.ts'

/** Who asks, of which tenant. */
export interface Asking {
  readonly store: Store
  readonly clock: Clock
  readonly tenant: TenantId
  readonly principal: Principal
}

/** One metric. @throws Fault `not_found` */
export async function showMetric(asking: Asking, name: string) {
  const { store, tenant } = asking
  const metric = await findMetric(store, tenant, name)
  if (metric === undefined) throw new Fault('not_found', 'There is no such metric.')
  const [view] = await viewsOf(asking, [metric])
  if (view === undefined) throw new Fault('not_found', 'There is no such metric.')
  return view
}

/** The metrics that one may ask for: those in force over tables that may be read. */
export async function listMetricViews(asking: Asking, page: PageRequest & { readonly inForce: boolean }) {
  const found = await listMetrics(asking.store, asking.tenant, page)
  const views = await viewsOf(asking, found.items)
  return pageView({ ...found, items: views }, (view) => view)
}

async function viewsOf({ store, clock, tenant, principal }: Asking, metrics: readonly StoredMetric[]) {
  const { model } = await loadSemanticModel(store, tenant, clock.now())
  const known = { ...model, metrics: new Map(model.metrics) }
  for (const metric of metrics) if (!known.metrics.has(metric.name)) known.metrics.set(metric.name, metric)
  const tables = metrics.map((metric) => tablesOf(known, metric))
  const reached = tables.flat().flatMap((table) => [table, ...tablesReached(known, table)])
  const governances = await loadGovernances(store, tenant, reached)
  return metrics.flatMap((metric, index) => {
    const over = tables[index] ?? []
    if (!over.every((table) => mayKnow(principal, governances.get(tableKey(table))))) return []
    return [metricView(known, metric, over, governances, principal)]
  })
}

/** Whether a principal may learn of a table. A dropped table is shown to stewards, who repair its metrics. */
function mayKnow({ roles }: Principal, governance: Governance | undefined): boolean {
  if (governance === undefined) return roles.includes('steward')
  return governance.contract !== undefined || governance.readableWithoutContract
}

/** The tables whose dimensions a table has by its relationships. */
function tablesReached(model: SemanticModel, table: TableRef): readonly TableRef[] {
  const dimensions = relationOf(model, table)?.dimensions.values() ?? []
  return [...dimensions].map(({ route }) => route.table.table)
}

/** The tables that a metric is computed over. */
function tablesOf(model: SemanticModel, metric: MetricVersion): readonly TableRef[] {
  const found = new Map<string, TableRef>()
  for (const leaf of simpleLeaves(model, metric)) {
    const { computation } = leaf.definition
    if (computation.kind === 'simple') found.set(tableKey(computation.table), computation.table)
  }
  return [...found.values()]
}

function simpleLeaves(model: SemanticModel, metric: MetricVersion): readonly MetricVersion[] {
  const metrics = new Map(model.metrics).set(metric.name, metric)
  return (leavesOf({ metrics }, metric.name) ?? []).flatMap((leaf) => {
    const { computation } = leaf.definition
    if (computation.kind !== 'cumulative') return [leaf]
    const base = metrics.get(computation.metric)
    return base === undefined ? [] : [base]
  })
}

function metricView(
  model: SemanticModel,
  metric: StoredMetric,
  over: readonly TableRef[],
  governances: ReadonlyMap<string, Governance>,
  principal: Principal,
) {
  const { name, number, state, sha256, definition, at, by } = metric
  const { computation, label, description, term, variant, unit, format, owner, defaultGrain } = definition
  const leaves = simpleLeaves(model, metric)
  const inherited = leaves.map((leaf) => inheritedOf(model, leaf, governances, principal))
  const tags = [...new Set(inherited.flatMap((each) => each.tags))].sort()
  const problems = inherited.flatMap((each) => each.problems)
  const attestations = inherited.flatMap(({ attestation }) => attestation ?? [])
  return {
    ...{ name, version: number, state, sha256 },
    ...{ label, description, term, variant, unit, format, owner, default_grain: defaultGrain },
    kind: computation.kind,
    ...computationView(computation),
    tables: over.map(({ namespace, name: table }) => ({ namespace, name: table })),
    dimensions: dimensionsOf(model, over, (table) => mayKnow(principal, governances.get(tableKey(table)))),
    tags,
    declassified: attestations.map(({ id, metric: of, tags: removed, untilMs }) => ({
      attestation: id,
      metric: of,
      tags: removed,
      valid_until: new Date(untilMs),
    })),
    problems,
    created_at: at,
    created_by: by,
  }
}

interface Inherited {
  readonly tags: readonly string[]
  readonly problems: readonly MetricProblem[]
  readonly attestation: Attestation | undefined
}

function inheritedOf(
  model: SemanticModel,
  leaf: MetricVersion,
  governances: ReadonlyMap<string, Governance>,
  principal: Principal,
): Inherited {
  const { computation } = leaf.definition
  const governance = computation.kind === 'simple' ? governances.get(tableKey(computation.table)) : undefined
  const found = model.attestations.get(leaf.name)
  // One of an older definition is void.
  const attestation = found?.sha256 === leaf.sha256 ? found : undefined
  const tags = governance ? columnsOf(leaf.definition, governance).flatMap((column) => column.tags) : []
  const lifted = new Set(attestation?.masks.map(({ fieldId }) => fieldId))
  return {
    tags: tags.filter((tag) => !attestation?.tags.includes(tag)),
    problems: problemsOf(leaf.definition, governance, principal, lifted),
    attestation,
  }
}

/** The dimensions that all of its tables have, but for those of tables that one may not know of. */
function dimensionsOf(
  model: SemanticModel,
  over: readonly TableRef[],
  isKnown: (table: TableRef) => boolean,
) {
  const [first, ...others] = over.map(
    (table) => relationOf(model, table)?.dimensions ?? new Map<string, PlacedDimension>(),
  )
  return [...(first ?? [])].flatMap(([name, { dimension, route }]) =>
    isKnown(route.table.table) && others.every((dimensions) => dimensions.has(name))
      ? [{ name, kind: dimension.kind, label: dimension.label, description: dimension.description }]
      : [],
  )
}

function computationView(computation: MetricVersion['definition']['computation']) {
  switch (computation.kind) {
    case 'simple': {
      const { expression, filter, semiAdditive } = computation
      return { expression: expression.text, filter: filter?.text, semi_additive: semiAdditive }
    }
    case 'ratio':
      return { numerator: computation.numerator, denominator: computation.denominator }
    case 'derived':
      return { expression: computation.expression }
    case 'cumulative':
      return { metric: computation.metric, window: computation.window, to_date: computation.toDate }
  }
}
