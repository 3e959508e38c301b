/**
 * Writes a metric as an expression over the columns of its relation's subquery. Every aggregate gets the metric's
 * filter, and an attested one the bounds on the group that its attestation declares.
 */

import type { Node } from 'libpg-query'
import type { Attestation, BoundExpression, MetricVersion, SemiAdditivity } from '../../core/metric.ts'
import type { MetricRelation, SemanticModel } from '../../core/semantic-model.ts'
import { aggregates } from '../functions/aggregates.ts'
import { parseExpression } from '../parse.ts'
import { SqlError } from '../sql-error.ts'
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
  /** Whether an attestation may lift masks here at all. */
  readonly lifts: (attestation: Attestation) => boolean
  /** The condition under which a row's value counts for a metric that does not add up over time. */
  readonly semiAdditive: (semi: SemiAdditivity) => Node
}

/**
 * A metric of the relation as an expression.
 * @throws SqlError 42703 for a metric that the relation does not have
 */
export function measureNode(place: MeasurePlace, name: string): Node {
  const metric = place.relation.metrics.get(name)
  if (metric === undefined) throw unknownMetric(name)
  return writeMetric(place, metric)
}

/** The error for a name that is no metric of a relation. */
export function unknownMetric(name: string): SqlError {
  return new SqlError('42703', `there is no metric "${name}" in this relation`)
}

function writeMetric(place: MeasurePlace, metric: MetricVersion): Node {
  const { computation } = metric.definition
  const part = (name: string) => measureNode(place, name)
  switch (computation.kind) {
    case 'simple':
      return simple(place, metric)
    case 'ratio':
      return ratioNode(part(computation.numerator), part(computation.denominator))
    case 'derived':
      return derivedNode(computation.expression, part)
    case 'cumulative':
      throw new SqlError(
        '0A000',
        `The metric ${metric.name} is cumulative. Ask for it by POST /api/v1/metrics/query.`,
      )
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

function simple(place: MeasurePlace, { name, definition: { computation } }: MetricVersion): Node {
  if (computation.kind !== 'simple') throw unknownMetric(name)
  const attestation = liftedBy(place, name)
  const lifted = new Set(attestation?.masks.map(({ fieldId }) => fieldId))
  const column = (fieldId: number) => {
    const raw = lifted.has(fieldId)
    place.inputs.set(inputName(fieldId, raw), { fieldId, raw })
    return columnNode(place.alias, inputName(fieldId, raw))
  }
  const filter = allOf([
    computation.semiAdditive && place.semiAdditive(computation.semiAdditive),
    computation.filter && boundNode(computation.filter, column),
  ])
  const value = filteredAggregates(boundNode(computation.expression, column), filter)
  if (attestation === undefined) return value
  // Rows without a value hide nobody: a sum over one value and many NULLs is that value.
  const read = Object.values(computation.expression.names).filter((fieldId) => lifted.has(fieldId))
  const counted = allOf([filter, ...read.map((fieldId) => isGiven(column(fieldId)))])
  const rows = callNode('count', [], { agg_star: true, ...(counted && { agg_filter: counted }) })
  const { minGroupSize, anonymity } = attestation
  const subjects = anonymity && subjectCount(place, anonymity.fieldId, counted)
  const isLargeEnough = allOf([
    operatorNode('>=', rows, integerNode(minGroupSize)),
    anonymity && subjects && operatorNode('>=', subjects, integerNode(anonymity.k)),
  ])
  return isLargeEnough === undefined ? value : caseNode(isLargeEnough, value)
}

/** The attestation of a metric, noted as one by which the statement reads. */
function liftedBy({ model, attestations, lifts }: MeasurePlace, name: string): Attestation | undefined {
  const attestation = model.attestations.get(name)
  if (attestation === undefined || !lifts(attestation)) return undefined
  attestations.set(name, attestation)
  return attestation
}

/** Counts the different values below every mask, because masked ones may fall together. */
function subjectCount(place: MeasurePlace, fieldId: number, filter: Node | undefined): Node {
  const name = inputName(fieldId, true)
  place.inputs.set(name, { fieldId, raw: true })
  return callNode('count', [columnNode(place.alias, name)], {
    agg_distinct: true,
    ...(filter && { agg_filter: filter }),
  })
}

/** An expression over columns. @param column writes the column of a field id */
export function boundNode({ text, names }: BoundExpression, column: (fieldId: number) => Node): Node {
  return mapNodes(withoutPositions(parseExpression(text)), (node) => {
    const path = columnPath(node)
    if (path === undefined) return undefined
    const [name = '', ...more] = path
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
    if (!('FuncCall' in node) || !aggregates.has(functionName(node) ?? '')) return undefined
    const own = allOf([filter, node.FuncCall.agg_filter])
    return { FuncCall: { ...node.FuncCall, ...(own && { agg_filter: own }) } }
  })
}
