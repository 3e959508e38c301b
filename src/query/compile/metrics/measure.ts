/**
 * Writes a metric as an expression over the columns of its relation's subquery. Every aggregate gets the metric's
 * filter, and an attested one the guard of its groups.
 */

import type { Node } from 'libpg-query'
import type {
  Attestation,
  AttestedDimension,
  BoundExpression,
  CurrencyRates,
  MetricVersion,
  SemiAdditivity,
} from '../../../core/metric.ts'
import type { MetricRelation, SemanticModel } from '../../../core/semantic-model.ts'
import { SqlError } from '../base/sql-error.ts'
import { parseExpression } from '../parse/parse.ts'
import type { AttestedParts, Simple } from './attested-parts.ts'
import { convertedNode, lacksRate, notTold } from './currency.ts'
import { flag, type Guard, readsSafely, showsGroup } from './guard.ts'
import { isAggregate, parseMetricExpression } from './metric-expression.ts'
import {
  allOf,
  callNode,
  caseNode,
  columnNode,
  columnPath,
  functionName,
  integerNode,
  isGiven,
  mapNodes,
  nullIfZero,
  operatorNode,
  periodNode,
  toDouble,
  withoutPositions,
} from './nodes.ts'
import { ownMark } from './own-names.ts'

/** The name of a column in a relation's subquery, by its field id. @param raw the value without attested masks */
export function inputName(fieldId: number, raw: boolean): string {
  return `${ownMark}${raw ? 'r' : 'c'}${fieldId}`
}

export interface MeasureInput {
  readonly fieldId: number
  readonly raw: boolean
}

/** Where metrics are written into: one SELECT over one relation. */
export interface MeasurePlace {
  readonly model: SemanticModel
  readonly relation: MetricRelation
  /** Of the relation's subquery. */
  readonly alias: string
  /** The columns that the subquery must bring. */
  readonly inputs: Map<string, MeasureInput>
  /** Attestations whose masks are lifted. */
  readonly attestations: Map<string, Attestation>
  /** By what the rows of an attested metric fall into parts; undefined where it may lift no mask here. */
  readonly lifts: (attestation: Attestation) => AttestedParts | undefined
  /** Of the metrics that read without masks. */
  readonly guards: Map<string, Guard>
  /** Whether the relation stands alone; else each row is beside every period that counts it. */
  readonly isAlone: boolean
  /** The condition under which a row's value counts for a metric that does not add up over time. */
  readonly semiAdditive: (semi: SemiAdditivity) => Node
  /** The metrics whose amounts are converted; undefined where nothing would tell of amounts without a rate. */
  readonly converted: Map<string, CurrencyRates> | undefined
}

/**
 * A metric of the relation as an expression.
 * @throws SqlError 42703 for a metric that the relation does not have
 */
export function measureNode(place: MeasurePlace, name: string): Node {
  const metric = place.relation.metrics.get(name) ?? accumulated(place, name)
  if (metric === undefined) throw unknownMetric(name)
  return writeMetric(place, metric)
}

/** A cumulative metric, where its periods are there. */
function accumulated({ model, isAlone }: MeasurePlace, name: string): MetricVersion | undefined {
  return isAlone ? undefined : model.metrics.get(name)
}

/** The error for a name that is no metric of a relation. */
function unknownMetric(name: string): SqlError {
  return new SqlError('42703', `there is no metric "${name}" in this relation`)
}

function writeMetric(place: MeasurePlace, metric: MetricVersion): Node {
  const { computation } = metric.definition
  const part = (name: string) => measureNode(place, name)
  switch (computation.kind) {
    case 'simple':
      return simple(place, metric.name, computation)
    case 'ratio':
      return ratioNode(part(computation.numerator), part(computation.denominator))
    case 'derived':
      return derivedNode(computation.expression, part)
    case 'cumulative': {
      const base = place.relation.metrics.get(computation.metric)?.definition.computation
      if (base?.kind !== 'simple') throw unknownMetric(computation.metric)
      return simple(place, metric.name, base)
    }
    // Its parts are measured by the names of what they are of.
    case 'offset':
    case 'conversion':
      throw unknownMetric(metric.name)
  }
}

/**
 * The condition under which a row counts for a simple metric, in a statement of ours; undefined where each does.
 * @throws SqlError 42703 for another metric
 */
export function countsNode(place: MeasurePlace, name: string): Node | undefined {
  const computation = place.relation.metrics.get(name)?.definition.computation
  if (computation?.kind !== 'simple') throw unknownMetric(name)
  const { filter } = computation
  return filter && boundNode(filter, (fieldId) => inputColumn(place, fieldId, false))
}

/** The currency of a row's amount for a metric that converts it, in a statement of ours. */
export function currencyNode(place: MeasurePlace, name: string): Node {
  return ratedBy(place, name, convertingMetric(place, name).currency).currency
}

/** Whether a row is left out of a metric because its amount has no rate, in a statement of ours. */
export function lacksRateNode(place: MeasurePlace, name: string): Node {
  const { expression, filter, currency } = convertingMetric(place, name)
  const column = (fieldId: number) => inputColumn(place, fieldId, false)
  const counts = filter && boundNode(filter, column, (joined) => columnNode(place.alias, joined))
  return lacksRate(boundNode(expression, column), ratedBy(place, name, currency), counts)
}

function convertingMetric({ relation }: MeasurePlace, name: string) {
  const computation = relation.metrics.get(name)?.definition.computation
  if (computation?.kind !== 'simple' || computation.currency === undefined) throw unknownMetric(name)
  return { ...computation, currency: computation.currency }
}

/** What says what an amount is worth. @throws SqlError 0A000 where nothing would tell of amounts without a rate */
function ratedBy(place: MeasurePlace, name: string, currency: CurrencyRates) {
  if (place.converted === undefined) throw notTold(name)
  place.converted.set(name, currency)
  const [fieldId = -1] = Object.values(currency.column.names)
  return {
    to: currency.to,
    currency: inputColumn(place, fieldId, false),
    rate: columnNode(place.alias, currency.rate),
  }
}

/** A quotient in double precision; NULL where the denominator is zero. */
export function ratioNode(numerator: Node, denominator: Node): Node {
  return operatorNode('/', toDouble(numerator), nullIfZero(toDouble(denominator)))
}

/** An expression over metrics. A division by zero is NULL. @param part writes a metric */
export function derivedNode(expression: string, part: (name: string) => Node): Node {
  const write = (tree: Node): Node =>
    mapNodes(tree, (node) => {
      const path = columnPath(node)
      if (path !== undefined) return part(path.join('.'))
      if (!('A_Expr' in node)) return undefined
      const { kind, name, lexpr, rexpr } = node.A_Expr
      const [operator] = name ?? []
      const isDivision =
        kind === 'AEXPR_OP' &&
        operator !== undefined &&
        'String' in operator &&
        ['/', '%'].includes(operator.String.sval ?? '')
      if (!isDivision || lexpr === undefined || rexpr === undefined) return undefined
      return { A_Expr: { ...node.A_Expr, lexpr: write(lexpr), rexpr: nullIfZero(write(rexpr)) } }
    })
  return write(withoutPositions(parseExpression(expression)))
}

/** @param name of the metric that is asked for, which may add the aggregates up over periods */
function simple(place: MeasurePlace, name: string, computation: Simple): Node {
  const attested = liftedBy(place, name)
  const lifted = new Set(attested?.attestation.masks.map(({ fieldId }) => fieldId))
  const column = (fieldId: number) => inputColumn(place, fieldId, lifted.has(fieldId))
  const filter = allOf([
    computation.semiAdditive && place.semiAdditive(computation.semiAdditive),
    computation.filter && boundNode(computation.filter, column, (name) => columnNode(place.alias, name)),
  ])
  const bound = boundNode(computation.expression, column)
  const { currency } = computation
  const expression = currency === undefined ? bound : convertedNode(bound, ratedBy(place, name, currency))
  if (attested === undefined) return filteredAggregates(expression, filter)
  // Rows without a value hide nobody: a sum over one value and many NULLs is that value.
  const read = Object.values(computation.expression.names).filter((fieldId) => lifted.has(fieldId))
  const counted = allOf([filter, ...read.map((fieldId) => isGiven(column(fieldId)))])
  const added = functionName(expression) === 'count' ? [] : read.map(column)
  const guard = place.guards.get(name) ?? newGuard(place, attested, counted, added)
  place.guards.set(name, guard)
  const value = filteredAggregates(expression, allOf([filter, readsSafely(guard, place.alias)]))
  const { subject } = guard
  const isLargeEnough = allOf([
    showsGroup(guard, place.alias, place.isAlone),
    subject && operatorNode('>=', differentValues(subject.column, counted), integerNode(subject.k)),
  ])
  return isLargeEnough === undefined ? value : caseNode(isLargeEnough, value)
}

/** A column of the relation's subquery, which is brought from now on. */
function inputColumn({ inputs, alias }: MeasurePlace, fieldId: number, raw: boolean): Node {
  const name = inputName(fieldId, raw)
  inputs.set(name, { fieldId, raw })
  return columnNode(alias, name)
}

interface Attested {
  readonly attestation: Attestation
  readonly parts: AttestedParts
}

/** The attestation of a metric, noted as one by which the statement reads. */
function liftedBy({ model, attestations, lifts }: MeasurePlace, name: string): Attested | undefined {
  const attestation = model.attestations.get(name)
  const parts = attestation && lifts(attestation)
  if (attestation === undefined || parts === undefined) return undefined
  attestations.set(name, attestation)
  return { attestation, parts }
}

function newGuard(
  place: MeasurePlace,
  { attestation: { minGroupSize, anonymity }, parts }: Attested,
  counted: Node | undefined,
  added: readonly Node[],
): Guard {
  // Below every mask, because masked values may fall together.
  const subject = anonymity && { k: anonymity.k, column: inputColumn(place, anonymity.fieldId, true) }
  const masked = (fieldId: number) => inputColumn(place, fieldId, false)
  return {
    index: place.guards.size,
    minGroupSize,
    counted,
    partKeys: [
      ...parts.dimensions.map((each) => partKey(place.alias, each)),
      ...parts.filters.map((filter) => flag(boundNode(filter, masked))),
    ],
    ...{ subject, added },
  }
}

function partKey(alias: string, { name, grain }: AttestedDimension): Node {
  const column = columnNode(alias, name)
  return grain === undefined ? column : periodNode(grain, column)
}

function differentValues(column: Node, filter: Node | undefined): Node {
  return callNode('count', [column], { agg_distinct: true, ...(filter && { agg_filter: filter }) })
}

/**
 * An expression over columns.
 * @param column writes the column of a field id
 * @param joined writes a dimension of a joined table
 */
export function boundNode(
  { text, names, dimensions }: BoundExpression,
  column: (fieldId: number) => Node,
  joined?: (dimension: string) => Node,
): Node {
  return mapNodes(parseMetricExpression(text), (node) => {
    const path = columnPath(node)
    if (path === undefined) return undefined
    const [name = '', ...more] = path
    if (joined !== undefined && more.length === 0 && dimensions?.includes(name)) return joined(name)
    const fieldId = Object.hasOwn(names, name) ? names[name] : undefined
    if (fieldId === undefined || more.length > 0)
      throw new SqlError('42703', `column "${path.join('.')}" does not exist`)
    return column(fieldId)
  })
}

/** The tree with the filter on each of its aggregates. */
function filteredAggregates(tree: Node, filter: Node | undefined): Node {
  if (filter === undefined) return tree
  return mapNodes(tree, (node) => {
    if (!('FuncCall' in node) || !isAggregate(functionName(node) ?? '')) return undefined
    const own = allOf([filter, node.FuncCall.agg_filter])
    return { FuncCall: { ...node.FuncCall, ...(own && { agg_filter: own }) } }
  })
}
