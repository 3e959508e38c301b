/**
 * Expands metric relations in a statement's tree: `<table>__metrics` becomes a subquery of its dimensions, and
 * `MEASURE(metric)` becomes the metric's aggregates. What results names governed tables only, so the compiler protects
 * it like any other statement. Nothing is read here.
 */

import type { Node, RangeVar, SelectStmt } from 'libpg-query'
import { quoteIdentifier } from '../../../base/sql-text.ts'
import {
  type Attestation,
  type CurrencyRates,
  isOverPeriods,
  metricsSuffix,
  type QueryBudget,
  rowKeyName,
  type SemiAdditivity,
} from '../../../core/metric.ts'
import {
  type MetricRelation,
  type PlacedDimension,
  partName,
  relationOf,
  type SemanticModel,
  withEntities,
} from '../../../core/semantic-model.ts'
import { tableKey } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'
import { attestedParts, isCumulative, namesAttested } from './attested-parts.ts'
import { countsFunction, namedDimensions, namedMetrics, writeClauses } from './clauses.ts'
import { type RateColumn, rateColumns, rowFunctions } from './currency.ts'
import { type Guard, withFiltered, withParts } from './guard.ts'
import { filterDimensions } from './joined-filters.ts'
import {
  type ColumnOf,
  columnsOfDimensions,
  type LiftedColumn,
  liftedColumns,
  tellsPersonsApart,
} from './lifted.ts'
import {
  countsNode,
  currencyNode,
  derivedNode,
  lacksRateNode,
  type MeasureInput,
  type MeasurePlace,
  measureNode,
  ratioNode,
} from './measure.ts'
import {
  caseNode,
  columnNode,
  columnPath,
  functionName,
  integerNode,
  isGiven,
  mapNodes,
  operatorNode,
  subqueryNode,
} from './nodes.ts'
import { ownMark, ownPeriod, periodName } from './own-names.ts'
import { keysHold, relationSubquery } from './relation-subquery.ts'
import {
  addsUpWrongly,
  edgeName,
  type MomentColumn,
  momentColumns,
  momentDimensions,
  withEdges,
} from './semi-additive.ts'

export interface Expansion {
  readonly tree: SelectStmt
  readonly lifted: readonly LiftedColumn[]
  /** The columns of the dimensions that it names where something is lifted. */
  readonly named: readonly ColumnOf[]
  /** Columns that no mask may hide, because metrics do not add up over their dimensions. */
  readonly moments: readonly MomentColumn[]
  /** Columns that no mask may hide, because they say what amounts are worth. */
  readonly rates: readonly RateColumn[]
  /** The bounds of the attestations that it rests on. */
  readonly budgets: readonly QueryBudget[]
  /** When the first attestation that it rests on ends; undefined where it rests on none. */
  readonly liftedUntilMs?: number | undefined
}

interface ExpandOptions {
  readonly model: SemanticModel
  readonly searchPath: readonly string[]
  /** With which a relation's name may be qualified. */
  readonly database?: string | undefined
  /** Whether the service wrote the statement itself, which may join a relation to a list of periods. */
  readonly generated?: boolean | undefined
  /** Keys of tables whose names are theirs although they end like a relation's. */
  readonly taken?: ReadonlySet<string> | undefined
  /** Whether metrics that convert currencies are measured, whatever tells of amounts without a rate. Not to answer anybody. */
  readonly converts?: boolean | undefined
}

interface Walk extends ExpandOptions {
  readonly cteNames: ReadonlySet<string>
  readonly attestations: Map<string, Attestation>
  readonly named: ColumnOf[]
  readonly moments: MomentColumn[]
  readonly rates: RateColumn[]
  readonly newAlias: () => string
}

/**
 * Expands every metric relation of a statement.
 * @throws SqlError 42803 for a bare measure, 42703 for an unknown one, 0A000 for what a relation does not support
 */
export function expandMetrics(tree: SelectStmt, options: ExpandOptions): Expansion {
  const text = JSON.stringify(tree)
  if (text.includes('\\u0001'))
    throw new SqlError('0A000', 'A control character in a statement over metrics is not supported.')
  const cteNames = new Set([...text.matchAll(/"ctename":"((?:[^"\\]|\\.)*)"/g)].map(([, name = '']) => name))
  let aliases = 0
  const newAlias = () => {
    aliases++
    return `${ownMark}t${aliases}`
  }
  const walk: Walk = {
    ...{ ...options, cteNames, newAlias, attestations: new Map(), named: [], moments: [], rates: [] },
    // A statement of ours that counts them tells of them.
    converts:
      options.converts || (options.generated === true && text.includes(`"${rowFunctions.lacksRate}"`)),
  }
  // Before expressions of metrics join the tree: those cannot call the function either.
  const expanded = expandSelect(walk, options.generated ? withOwnPeriods(tree) : tree)
  const attestations = [...walk.attestations.values()]
  return {
    tree: expanded,
    lifted: liftedColumns(options.model, attestations),
    named: walk.named,
    budgets: attestations.flatMap(({ id, queriesPerDay: perDay }) =>
      perDay === undefined ? [] : [{ attestation: id, perDay }],
    ),
    ...{ moments: walk.moments, rates: walk.rates },
    ...(attestations.length > 0 && {
      liftedUntilMs: Math.min(...attestations.map(({ untilMs }) => untilMs)),
    }),
  }
}

/** A statement of ours with its periods under the name that no other text can have. */
function withOwnPeriods<T>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(withOwnPeriods) as T
  if (typeof tree !== 'object' || tree === null) return tree
  const node = tree as unknown as Node
  const members = Object.entries(tree).map(([key, value]) => [key, withOwnPeriods(value)])
  const copy = Object.fromEntries(members)
  if (functionName(node) === periodName) copy.FuncCall.funcname = [{ String: { sval: ownPeriod } }]
  return copy as T
}

/** A SELECT with all below it. */
function expandSelect(walk: Walk, select: SelectStmt): SelectStmt {
  const below = walk.generated ? computeAbove(walk, expandBelow(walk, select)) : expandBelow(walk, select)
  const [named, ...others] = relationsIn(walk, below.fromClause ?? [])
  if (named === undefined) return below
  const [item, ...more] = below.fromClause ?? []
  const isAlone = more.length === 0 && item !== undefined && 'RangeVar' in item
  if (others.length > 0 || !(isAlone || walk.generated))
    throw new SqlError(
      '0A000',
      'A metric relation cannot be joined. Aggregate it in a subquery, and join that.',
    )
  return expandRelation(walk, below, named, isAlone)
}

function expandBelow<T>(walk: Walk, tree: T): T {
  if (Array.isArray(tree)) return tree.map((each) => expandBelow(walk, each)) as T
  if (typeof tree !== 'object' || tree === null) return tree
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [
      key,
      key === 'SelectStmt' || key === 'larg' || key === 'rarg'
        ? expandSide(walk, key, value)
        : expandBelow(walk, value),
    ]),
  ) as T
}

/** A subquery, or a side of a set operation. The sides of a join are nodes. */
function expandSide(walk: Walk, key: string, value: unknown): unknown {
  const isSelect = key === 'SelectStmt' || (typeof value === 'object' && value !== null && 'op' in value)
  return isSelect ? expandSelect(walk, value as SelectStmt) : expandBelow(walk, value)
}

/** `metric_over(m)` in a statement of ours: the metric, from columns that hold what it is made of. */
function computeAbove({ model }: Walk, select: SelectStmt): SelectStmt {
  const compute = (name: string, columnOf = (leaf: string) => leaf): Node => {
    const computation = model.metrics.get(name)?.definition.computation
    const part = (each: string) => compute(each, columnOf)
    if (computation?.kind === 'ratio')
      return ratioNode(part(computation.numerator), part(computation.denominator))
    if (computation?.kind === 'derived') return derivedNode(computation.expression, part)
    if (computation?.kind === 'conversion') {
      const [all, some] = [columnNode('u', columnOf(computation.base)), columnNode('u', columnOf(name))]
      // No row in a group is none that leads to another one.
      const count = caseNode(isGiven(all), caseNode(isGiven(some), some, integerNode(0)))
      return computation.calculation === 'rate' ? ratioNode(count, all) : count
    }
    const base = computation && isOverPeriods(computation) ? model.metrics.get(computation.metric) : undefined
    return base === undefined || base.definition.computation.kind === 'simple'
      ? columnNode('u', columnOf(name))
      : compute(base.name, (leaf) => columnOf(partName(name, leaf)))
  }
  const targetList = mapNodes(select.targetList ?? [], (node) => {
    if (!('FuncCall' in node) || functionName(node) !== 'metric_over') return undefined
    return compute(columnPath(node.FuncCall.args?.[0])?.at(-1) ?? '')
  })
  return { ...select, ...(select.targetList && { targetList }) }
}

interface NamedRelation {
  readonly node: RangeVar
  readonly relation: MetricRelation
}

/** The metric relations of a FROM, joins included. */
function relationsIn(walk: Walk, from: readonly (Node | undefined)[]): readonly NamedRelation[] {
  return from.flatMap((item) => {
    if (item === undefined) return []
    if ('JoinExpr' in item) return relationsIn(walk, [item.JoinExpr.larg, item.JoinExpr.rarg])
    const relation = 'RangeVar' in item ? findRelation(walk, item.RangeVar) : undefined
    return relation !== undefined && 'RangeVar' in item ? [{ node: item.RangeVar, relation }] : []
  })
}

/** @returns undefined for a table, a CTE, and a name whose table has no model */
function findRelation(
  walk: Walk,
  { catalogname, schemaname, relname = '' }: RangeVar,
): MetricRelation | undefined {
  if (catalogname !== undefined && catalogname !== walk.database) return undefined
  if (!relname.endsWith(metricsSuffix)) return undefined
  if (schemaname === undefined && walk.cteNames.has(relname)) return undefined
  const name = relname.slice(0, -metricsSuffix.length)
  for (const schema of schemaname === undefined ? walk.searchPath : [schemaname]) {
    const namespace = schema.split('.')
    if (walk.taken?.has(tableKey({ namespace, name: relname }))) return undefined
    const found = relationOf(walk.model, { namespace, name })
    if (found === undefined) continue
    const relation = withEntities(found)
    return walk.generated ? withRowKeys(relation) : relation
  }
  return undefined
}

/** The relation with the columns of its table's key, which tell rows apart. No dimension has two underscores. */
function withRowKeys(relation: MetricRelation): MetricRelation {
  const keys = relation.table.key.map((fieldId, index): readonly [string, PlacedDimension] => {
    const name = rowKeyName(index)
    const expression = { text: quoteIdentifier(name), names: { [name]: fieldId } }
    const dimension = { name, kind: 'categorical' as const, expression }
    return [name, { route: { path: '', table: relation.table }, dimension }] as const
  })
  return { ...relation, dimensions: new Map([...relation.dimensions, ...keys]) }
}

function expandRelation(
  walk: Walk,
  select: SelectStmt,
  { node, relation }: NamedRelation,
  isAlone: boolean,
): SelectStmt {
  const { model, attestations, newAlias } = walk
  const alias = node.alias?.aliasname ?? node.relname ?? ''
  if (node.alias?.colnames !== undefined)
    throw new SqlError('0A000', 'Column aliases of a metric relation are not supported.')
  const semis = new Map<string, SemiAdditivity>()
  const semiAdditive = (semi: SemiAdditivity) => {
    const key = JSON.stringify(semi)
    semis.set(key, semi)
    const edge = edgeName([...semis.keys()].indexOf(key))
    return operatorNode('=', columnNode(alias, semi.dimension), columnNode(alias, edge))
  }
  const asked = namedDimensions(select, relation)
  const placed = [...asked].flatMap((name) => relation.dimensions.get(name) ?? [])
  // Those by which metrics find the rows that count are joined as well, so their keys must hold too.
  const dimensions = new Set([
    ...asked,
    ...namedMetrics(select, relation).flatMap((name) => momentDimensions(model, name)),
    // Beside a list of periods a metric is named that is cumulative, and so none of the relation.
    ...namedMetrics(select, isAlone ? relation : model).flatMap((name) =>
      filterDimensions(model, relation.table.table, name),
    ),
  ])
  const lifts = (attestation: Attestation) => {
    // Beside a list of periods the metric is part of a cumulative one, which needs an attestation of its own.
    if (isCumulative(model, attestation.metric) === isAlone) return undefined
    if (!namesAttested(relation, attestation, placed) || tellsPersonsApart(placed, attestation))
      return undefined
    const parts = attestedParts(model, relation, attestation)
    for (const { name } of parts?.dimensions ?? []) dimensions.add(name)
    return parts
  }
  const inputs = new Map<string, MeasureInput>()
  const guards = new Map<string, Guard>()
  const converted = walk.converts ? new Map<string, CurrencyRates>() : undefined
  const place: MeasurePlace = {
    ...{ model, relation, alias, inputs, attestations, lifts, guards, isAlone, semiAdditive, converted },
  }
  const always = operatorNode('=', integerNode(1), integerNode(1))
  const ofRows = new Map([
    [countsFunction, (name: string) => countsNode(place, name) ?? always],
    [rowFunctions.currency, (name: string) => currencyNode(place, name)],
    [rowFunctions.lacksRate, (name: string) => lacksRateNode(place, name)],
  ])
  const write = (measure: (name: string) => Node) =>
    writeClauses(select, { relation, alias, measure, ofRows: walk.generated ? ofRows : undefined })
  // A first time, to know what the metrics need: guards join the tables of their own dimensions.
  write((name) => measureNode(place, name))
  const holds = keysHold({ relation, dimensions, newAlias })
  const { whereClause, ...clauses } = write((name) => {
    const value = measureNode(place, name)
    return holds === undefined ? value : caseNode(holds, value)
  })
  walk.moments.push(...momentColumns(relation, [...semis.values()]))
  walk.rates.push(...rateColumns(relation, converted ?? new Map()))
  const inner = relationSubquery({ relation, dimensions, inputs: inputs.values(), newAlias })
  const guarded = [...guards.values()]
  if (guarded.length > 0) walk.named.push(...columnsOfDimensions(placed))
  const parts = withParts(guarded, alias, { source: subqueryNode(inner.select, alias), names: inner.names })
  const isFiltered = isAlone && guarded.length > 0
  const { source, names } = isFiltered ? withFiltered(guarded, alias, parts, whereClause) : parts
  const above = { ...clauses, ...(whereClause && !isFiltered && { whereClause }) }
  if (semis.size === 0) return { ...above, fromClause: replaced(above.fromClause ?? [], node, source) }
  if (!isAlone)
    throw addsUpWrongly('A metric that does not add up over time cannot be part of a cumulative one.')
  return withEdges(above, { relation, alias, source, names, semis: [...semis.values()] })
}

/** A FROM with the subquery in place of the relation. */
function replaced(from: readonly Node[], relation: RangeVar, source: Node): Node[] {
  const replace = (item: Node): Node => {
    if ('RangeVar' in item) return item.RangeVar === relation ? source : item
    if (!('JoinExpr' in item)) return item
    const { larg, rarg } = item.JoinExpr
    return {
      JoinExpr: {
        ...item.JoinExpr,
        ...(larg && { larg: replace(larg) }),
        ...(rarg && { rarg: replace(rarg) }),
      },
    }
  }
  return from.map(replace)
}
