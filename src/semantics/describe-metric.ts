/** Describes metrics to those who may ask for them: what they mean, what they can be grouped by, what they inherit. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import type { Attestation, MetricVersion } from '../core/metric.ts'
import type { Principal } from '../core/principal.ts'
import { isReadable } from '../core/seen-table.ts'
import {
  baseOfLeaf,
  leavesOf,
  type MetricRelation,
  type PlacedDimension,
  relationOf,
  type SemanticModel,
} from '../core/semantic-model.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { type PageRequest, pageLimit, toPage } from '../store/database/page.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import { findMetrics, listMetrics, type StoredMetric } from '../store/semantics/metrics.ts'
import type { Store } from '../store/store.ts'
import { columnsOf, expressionsOf, joinedColumns, type MetricProblem, problemsOf } from './inherited.ts'

/** Who asks, of which tenant. */
export interface Asking {
  readonly store: Store
  readonly clock: Clock
  readonly tenant: TenantId
  readonly principal: Principal
}

/** One metric. @throws Fault `not_found` */
export async function showMetric(asking: Asking, name: string) {
  const [view] = await metricViews(asking, [name])
  if (view === undefined) throw new Fault('not_found', 'There is no such metric.')
  return view
}

/** A metric as a principal sees it. */
export type MetricView = Awaited<ReturnType<typeof viewsOf>>[number]

/** Several metrics, in their order; undefined for one that there is not, or whose tables may not be read. */
export async function metricViews(
  asking: Asking,
  names: readonly string[],
): Promise<readonly (MetricView | undefined)[]> {
  const stored = await findMetrics(asking.store, asking.tenant, names)
  const views = await viewsOf(
    asking,
    stored.filter((metric) => metric !== undefined),
  )
  const found = new Map(views.map((view) => [view.name, view]))
  return names.map((name) => found.get(name))
}

/** The metrics in force over each of several tables that one may ask for, by name. */
export async function metricsOverTables(asking: Asking, tables: readonly TableRef[]) {
  const keys = tables.map(tableKey)
  return await metricsWith(asking, keys, (model, metric) => tablesOf(model, metric).map(tableKey))
}

/** The metrics in force that mean each of several terms and that one may ask for, by name. */
export async function metricsOfTerms(asking: Asking, terms: readonly string[]) {
  return await metricsWith(asking, terms, (_, { definition }) => definition.term ?? [])
}

/**
 * The keys of the tables that have to do with a term: a metric over them or one of their dimensions means it. Whether
 * they may be read is not asked.
 */
export async function tablesOfTerm(
  { store, clock, tenant }: Omit<Asking, 'principal'>,
  term: string,
): Promise<ReadonlySet<string>> {
  const { model } = await loadSemanticModel(store, tenant, clock.now())
  const metrics = [...model.metrics.values()].filter(({ definition }) => definition.term === term)
  const tables = [...model.tables].filter(([, { dimensions }]) => dimensions.some((one) => one.term === term))
  return new Set([
    ...metrics.flatMap((metric) => tablesOf(model, metric).map(tableKey)),
    ...tables.map(([key]) => key),
  ])
}

/** For each of some keys, the metrics of which `keysOf` gives it. */
async function metricsWith(
  asking: Asking,
  keys: readonly string[],
  keysOf: (model: SemanticModel, metric: MetricVersion) => string | readonly string[],
): Promise<readonly (readonly MetricView[])[]> {
  const { model } = await loadSemanticModel(asking.store, asking.tenant, asking.clock.now())
  const wanted = new Set(keys)
  const named = new Map<string, readonly string[]>()
  for (const metric of model.metrics.values()) {
    const found = [keysOf(model, metric)].flat().filter((key) => wanted.has(key))
    if (found.length > 0) named.set(metric.name, found)
  }
  const views = await metricViews(asking, [...named.keys()].sort())
  const byKey = new Map(keys.map((key) => [key, [] as MetricView[]]))
  for (const view of views)
    for (const key of view === undefined ? [] : (named.get(view.name) ?? []))
      if (view !== undefined) byKey.get(key)?.push(view)
  return keys.map((key) => byKey.get(key) ?? [])
}

/** Metrics that are looked at together, however few a page holds. */
const stepMin = 100

/** The metrics that one may ask for: those in force over tables that may be read. */
export async function listMetricViews(asking: Asking, page: PageRequest & { readonly inForce: boolean }) {
  const limit = pageLimit(page)
  const views: MetricView[] = []
  let after = page.after
  // A metric has the tables of what it is made of, which only the whole model tells. So the store cannot leave it out.
  for (;;) {
    const found = await listMetrics(asking.store, asking.tenant, {
      ...page,
      after,
      limit: Math.max(limit, stepMin),
    })
    views.push(...(await viewsOf(asking, found.items)))
    after = found.next
    if (after === undefined || views.length > limit) break
  }
  return pageView(
    toPage(views, limit, ({ name }) => name),
    (view) => view,
  )
}

/** By tableKey; undefined for a table without a model. */
type Relations = ReadonlyMap<string, MetricRelation | undefined>

/** What the views of one answer are made from. */
interface Described {
  readonly model: SemanticModel
  readonly relations: Relations
  readonly governances: ReadonlyMap<string, Governance>
  readonly principal: Principal
}

async function viewsOf({ store, clock, tenant, principal }: Asking, metrics: readonly StoredMetric[]) {
  const { model } = await loadSemanticModel(store, tenant, clock.now())
  const known = { ...model, metrics: new Map(model.metrics) }
  for (const metric of metrics) known.metrics.set(metric.name, metric)
  const tables = metrics.map((metric) => tablesOf(known, metric))
  const over = new Map(tables.flat().map((table) => [tableKey(table), table]))
  const relations: Relations = new Map([...over].map(([key, table]) => [key, relationOf(known, table)]))
  const reached = [
    ...[...over].flatMap(([key, table]) => [table, ...tablesReached(relations.get(key))]),
    ...metrics.flatMap((metric) => tablesReadBy(known, metric)),
  ]
  const governances = await loadGovernances(store, tenant, reached)
  const all: Described = { model: known, relations, governances, principal }
  return metrics.flatMap((metric, index) => {
    const own = tables[index] ?? []
    if (!tablesReadBy(known, metric).every((table) => mayKnow(principal, governances.get(tableKey(table)))))
      return []
    return [metricView(all, metric, own)]
  })
}

/** Whether a principal may learn of a table. A dropped table is shown to stewards, who repair its metrics. */
export function mayKnow({ roles }: Pick<Principal, 'roles'>, governance: Governance | undefined): boolean {
  if (governance === undefined) return roles.includes('steward')
  return isReadable(governance)
}

/** The tables whose dimensions a table has by its relationships. */
function tablesReached(relation: MetricRelation | undefined): readonly TableRef[] {
  return [...(relation?.dimensions.values() ?? [])].map(({ route }) => route.table.table)
}

/** The tables that a metric is computed over. */
export function tablesOf(model: SemanticModel, metric: MetricVersion): readonly TableRef[] {
  const found = new Map<string, TableRef>()
  for (const leaf of simpleLeaves(model, metric)) {
    const { computation } = leaf.definition
    if (computation.kind === 'simple') found.set(tableKey(computation.table), computation.table)
  }
  return [...found.values()]
}

/** The tables that a metric reads: those that it is computed over, and those that its filters lead to. */
export function tablesReadBy(model: SemanticModel, metric: MetricVersion): readonly TableRef[] {
  const joined = simpleLeaves(model, metric).flatMap(({ definition: { computation } }) =>
    joinedColumns(model, computation).map(({ table }) => table),
  )
  return [...new Map([...tablesOf(model, metric), ...joined].map((each) => [tableKey(each), each])).values()]
}

function simpleLeaves(model: SemanticModel, metric: MetricVersion): readonly MetricVersion[] {
  return leavesAndBases(model, metric).map(({ base }) => base)
}

interface LeafAndBase {
  /** Simple or over periods; attestations are of it. */
  readonly leaf: MetricVersion
  /** Itself, or what it adds up. */
  readonly base: MetricVersion
}

function leavesAndBases(model: SemanticModel, metric: MetricVersion): readonly LeafAndBase[] {
  const isInForce = model.metrics.get(metric.name) === metric
  const metrics = isInForce ? model.metrics : new Map(model.metrics).set(metric.name, metric)
  return (leavesOf({ metrics }, metric.name) ?? []).flatMap((leaf) => {
    const base = baseOfLeaf({ metrics }, leaf)
    return base === undefined ? [] : [{ leaf, base }]
  })
}

/** Names of the metrics that a metric in force is made of in the end, which are those that are attested. */
export function partsOf(model: SemanticModel, name: string): readonly string[] {
  return [...new Set((leavesOf(model, name) ?? []).map((leaf) => leaf.name))]
}

function metricView(
  { model, relations, governances, principal }: Described,
  metric: StoredMetric,
  over: readonly TableRef[],
) {
  const { name, number, state, sha256, definition, at, by } = metric
  const { computation, label, description, term, variant, unit, format, owner, folder, defaultGrain } =
    definition
  const leaves = leavesAndBases(model, metric)
  const inherited = leaves.map((leaf) => inheritedOf(model, leaf, governances, principal))
  const tags = [...new Set(inherited.flatMap((each) => each.tags))].sort()
  const problems = inherited.flatMap((each) => each.problems)
  const attestations = inherited.flatMap(({ attestation }) => attestation ?? [])
  return {
    ...{ name, version: number, state, sha256 },
    ...{ label, description, term, variant, unit, format, owner },
    ...{ folder, default_grain: defaultGrain },
    kind: computation.kind,
    ...computationView(computation),
    tables: over.map(({ namespace, name: table }) => ({ namespace, name: table })),
    dimensions: dimensionsOf(relations, over, (table) =>
      mayKnow(principal, governances.get(tableKey(table))),
    ),
    entities: entitiesOf(relations, over, (table) => mayKnow(principal, governances.get(tableKey(table)))),
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
  { leaf, base }: LeafAndBase,
  governances: ReadonlyMap<string, Governance>,
  principal: Principal,
): Inherited {
  const { computation } = base.definition
  const governance = computation.kind === 'simple' ? governances.get(tableKey(computation.table)) : undefined
  const found = model.attestations.get(leaf.name)
  // One of an older definition is void.
  const isBound = leaf === base || found?.of?.sha256 === base.sha256
  const attestation = found?.sha256 === leaf.sha256 && isBound ? found : undefined
  const joined = joinedColumns(model, computation).map(({ table, expression }) => ({
    expressions: [expression],
    of: governances.get(tableKey(table)),
  }))
  const reads = [{ expressions: expressionsOf(base.definition), of: governance }, ...joined]
  const tags = reads.flatMap(({ expressions, of }) =>
    of ? columnsOf(expressions, of).flatMap((column) => column.tags) : [],
  )
  const lifted = new Set(attestation?.masks.map(({ fieldId }) => fieldId))
  return {
    tags: tags.filter((tag) => !attestation?.tags.includes(tag)),
    problems: reads.flatMap(({ expressions, of }, index) =>
      problemsOf(expressions, of, principal, index === 0 ? lifted : new Set()),
    ),
    attestation,
  }
}

/** The dimensions that all of its tables have, but for those of tables that one may not know of. */
function dimensionsOf(
  relations: Relations,
  over: readonly TableRef[],
  isKnown: (table: TableRef) => boolean,
) {
  const [first, ...others] = over.map(
    (table) => relations.get(tableKey(table))?.dimensions ?? new Map<string, PlacedDimension>(),
  )
  return [...(first ?? [])].flatMap(([name, { dimension, route }]) =>
    isKnown(route.table.table) && others.every((dimensions) => dimensions.has(name))
      ? [{ name, kind: dimension.kind, label: dimension.label, description: dimension.description }]
      : [],
  )
}

/** The entities that all of its tables have, by whose values rows can be grouped. */
function entitiesOf(
  relations: Relations,
  over: readonly TableRef[],
  isKnown: (table: TableRef) => boolean,
): readonly string[] {
  const [first, ...others] = over.map((table) => relations.get(tableKey(table))?.entities)
  return [...(first ?? [])].flatMap(([name, { route, of }]) =>
    route.path === '' && isKnown(of) && others.every((entities) => entities?.has(name)) ? [name] : [],
  )
}

function computationView(computation: MetricVersion['definition']['computation']) {
  switch (computation.kind) {
    case 'simple': {
      const { expression, filter, semiAdditive, currency } = computation
      const rates = currency && { column: currency.column.text, to: currency.to, rate: currency.rate }
      return {
        expression: expression.text,
        filter: filter?.text,
        semi_additive: semiAdditive,
        currency: rates,
      }
    }
    case 'ratio':
      return { numerator: computation.numerator, denominator: computation.denominator }
    case 'derived':
      return { expression: computation.expression }
    case 'cumulative':
      return { metric: computation.metric, window: computation.window, to_date: computation.toDate }
    case 'offset': {
      const { metric, offsetWindow, offsetToGrain } = computation
      return { metric, offset_window: offsetWindow, offset_to_grain: offsetToGrain }
    }
    case 'conversion': {
      const { base, conversion, entity, window, constant, calculation } = computation
      return { base, conversion, entity, window, constant_properties: constant, calculation }
    }
  }
}
