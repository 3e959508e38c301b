/** Saves a metric, once it compiles over the columns of today. */

import { createHash } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import {
  type Conversion,
  type Grain,
  isOverPeriods,
  type MetricComputation,
  type MetricDefinition,
  type MetricVersion,
  type SemiAdditivity,
} from '../core/metric.ts'
import { inputsOf, leavesOf, relationOf, type SemanticModel } from '../core/semantic-model.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import { semiAdditiveReason } from '../query/compile/metrics/semi-additive.ts'
import { loadGovernances } from '../store/governance/governance.ts'
import type { SemanticChange } from '../store/semantics/changes.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import { overOf, type StoredMetric, saveMetric } from '../store/semantics/metrics.ts'
import { assertConversion } from './check-conversion.ts'
import { assertConverts, boundCurrency, type GivenCurrency } from './check-currency.ts'
import { bindExpression, compileRelation, metricsIn, requireGovernance } from './check-expressions.ts'
import { mayKnow, tablesOf, tablesReadBy } from './describe-metric.ts'
import { assertFreeLabel } from './free-label.ts'

export interface GivenMetric extends Omit<MetricDefinition, 'computation'> {
  readonly kind: MetricComputation['kind']
  readonly table?: TableRef | undefined
  readonly expression?: string | undefined
  readonly filter?: string | undefined
  readonly semiAdditive?: SemiAdditivity | undefined
  readonly currency?: GivenCurrency | undefined
  readonly numerator?: string | undefined
  readonly denominator?: string | undefined
  readonly metric?: string | undefined
  readonly window?: { readonly count: number; readonly grain: Grain } | undefined
  readonly toDate?: Grain | undefined
  readonly offsetWindow?: { readonly count: number; readonly grain: Grain } | undefined
  readonly offsetToGrain?: Grain | undefined
  readonly base?: string | undefined
  readonly conversion?: string | undefined
  readonly entity?: string | undefined
  readonly constant?: Conversion['constant']
  readonly calculation?: Conversion['calculation'] | undefined
  readonly state: 'draft' | 'active'
}

/**
 * Saves the next version of a metric.
 * @param unlessSame whether a metric in force that is defined so already is left alone, as its attestations are
 * @throws Fault `not_found` for an unknown table, or one that the author may not read, `unprocessable` for what cannot be computed, `conflict` as saveMetric
 * @returns undefined where it was left alone
 */
export async function putMetric(
  on: SemanticChange,
  name: string,
  given: GivenMetric,
  unlessSame = false,
): Promise<StoredMetric | undefined> {
  const { store, tenant } = on
  const { term, state } = given
  const { model } = await loadSemanticModel(store, tenant, 0)
  const refs = [
    ...(given.table ? [given.table] : []),
    ...[...model.tables.values()].map(({ table }) => table),
  ]
  const governances = await loadGovernances(store, tenant, refs)
  const computation = computationOf(given, model, (table) => requireGovernance(governances, table))
  const { label, description, variant, format, owner, folder, defaultGrain } = given
  const { unit = given.currency?.to } = given
  const about = { label, description, term, variant, unit, format, owner, folder, defaultGrain }
  const definition = { ...about, computation }
  const before = model.metrics.get(name)
  if (unlessSame && before?.state === 'active' && isSame(before.definition, definition)) return undefined
  const metric: MetricVersion = { name, number: 0, state: 'active', sha256: '', definition }
  const now = { ...model, metrics: new Map(model.metrics).set(name, metric) }
  assertKnown(on, now, metric, governances)
  assertComputes(now, name, governances)
  assertLabel(now, metric)
  const sha256 = (number: number) =>
    createHash('sha256')
      .update(JSON.stringify([name, number, computation]))
      .digest('hex')
  return await saveMetric(on, { name, definition, state, sha256, over: overOf(definition) })
}

/** Whether two definitions say the same; one may be as the store gives it. */
export function isSame(one: object, other: object): boolean {
  return Bun.deepEquals(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))
}

function computationOf(
  given: GivenMetric,
  model: SemanticModel,
  governed: (table: TableRef) => ReturnType<typeof requireGovernance>,
): MetricComputation {
  const { kind, expression, filter, semiAdditive, numerator, denominator, metric, window, toDate } = given
  const { offsetWindow, offsetToGrain } = given
  const needed = <T>(value: T | undefined, member: string): T => {
    if (value === undefined) throw new Fault('unprocessable', `A metric of kind ${kind} needs \`${member}\`.`)
    return value
  }
  if (given.currency !== undefined && kind !== 'simple')
    throw new Fault(
      'unprocessable',
      '`currency` is of a metric of kind simple. Convert what this one is made of.',
    )
  switch (kind) {
    case 'simple': {
      const table = needed(given.table, 'table')
      const governance = governed(table)
      return {
        kind,
        table: { namespace: table.namespace, name: table.name },
        expression: bindExpression(needed(expression, 'expression'), governance, 'aggregate', '`expression`'),
        ...(filter !== undefined && {
          filter: bindExpression(filter, governance, 'row', '`filter`', relationOf(model, table)),
        }),
        ...(semiAdditive && { semiAdditive }),
        ...(given.currency && { currency: boundCurrency(given.currency, governance) }),
      }
    }
    case 'ratio':
      return {
        kind,
        numerator: needed(numerator, 'numerator'),
        denominator: needed(denominator, 'denominator'),
      }
    case 'derived': {
      const text = needed(expression, 'expression')
      return { kind, expression: text, metrics: metricsIn(text, '`expression`') }
    }
    case 'cumulative':
      if (window && toDate) throw new Fault('unprocessable', 'Give `window` or `to_date`, not both.')
      return { kind, metric: needed(metric, 'metric'), ...(window && { window }), ...(toDate && { toDate }) }
    case 'offset':
      if ((offsetWindow === undefined) === (offsetToGrain === undefined))
        throw new Fault('unprocessable', 'Give `offset_window` or `offset_to_grain`, one of both.')
      return {
        kind,
        metric: needed(metric, 'of'),
        ...(offsetWindow && { offsetWindow }),
        ...(offsetToGrain && { offsetToGrain }),
      }
    case 'conversion': {
      const { base, conversion, entity, constant, calculation = 'rate' } = given
      return {
        ...{ kind, base: needed(base, 'base'), conversion: needed(conversion, 'conversion') },
        ...{ entity: needed(entity, 'entity'), calculation },
        ...(window && { window }),
        ...(constant && { constant }),
      }
    }
  }
}

/** @throws Fault `not_found` where its author may not know of one of its tables, so that nobody could ask for it */
function assertKnown(
  { actor }: SemanticChange,
  model: SemanticModel,
  metric: MetricVersion,
  governances: ReadonlyMap<string, Governance>,
): void {
  const unknown = tablesReadBy(model, metric).find(
    (table) => !mayKnow(actor, governances.get(tableKey(table))),
  )
  if (unknown !== undefined)
    throw new Fault(
      'not_found',
      `There is no table ${tableName(unknown)} that you may read. Put it under a contract first.`,
    )
}

/** @throws Fault `unprocessable` where the metric, or one that is made of it, would not compile */
function assertComputes(
  model: SemanticModel,
  name: string,
  governances: Parameters<typeof compileRelation>[1],
): void {
  const concerned = [...model.metrics.values()]
    .filter((each) => {
      const isPart = leavesOf(model, each.name)?.some((leaf) => leaf.name === name)
      return each.name === name || isPart || inputsOf(each)?.includes(name)
    })
    .map((each) => each.name)
  for (const each of concerned) {
    const leaves = leavesOf(model, each)
    if (leaves === undefined)
      throw new Fault(
        'unprocessable',
        `What the metric ${each} is made of is not in force, or is made of itself.`,
      )
    for (const leaf of leaves) assertLeaf(model, leaf, governances)
    // What is made of metrics of one table compiles as one; a function in it that is not there shows here.
    for (const { table } of model.tables.values()) {
      const relation = relationOf(model, table)
      if (relation?.metrics.has(each) && !leaves.some((leaf) => leaf.name === each))
        compileRelation(model, governances, relation, { dimensions: [], metrics: [each], converts: true })
    }
  }
}

/**
 * A label is a name by which people and clients of cubes find a metric.
 * @throws Fault `unprocessable` where another metric of the same cube has it
 */
function assertLabel(model: SemanticModel, metric: MetricVersion): void {
  const over = tablesOf(model, metric).flatMap((table) => relationOf(model, table) ?? [])
  const others = over
    .filter(({ metrics }) => metrics.has(metric.name))
    .flatMap(({ metrics }) => [...metrics.values()].filter(({ name }) => name !== metric.name))
    .map(({ name, definition: { label } }) => ({ name, label }))
  assertFreeLabel('metric', { name: metric.name, label: metric.definition.label }, others)
}

function assertLeaf(
  model: SemanticModel,
  { name, definition: { computation } }: MetricVersion,
  governances: Parameters<typeof compileRelation>[1],
): void {
  if (isOverPeriods(computation)) {
    const base = model.metrics.get(computation.metric)?.definition.computation
    if (base?.kind !== 'simple' || base.semiAdditive !== undefined)
      throw new Fault(
        'unprocessable',
        'A cumulative metric, and one with an offset, needs a metric that is made of simple ones that add up over time.',
        {
          ...(base?.kind === 'simple' && { members: { reason: semiAdditiveReason } }),
        },
      )
    if (model.tables.get(tableKey(base.table))?.timeDimension === undefined)
      throw new Fault('unprocessable', `${tableName(base.table)} has no \`time_dimension\`.`)
    return
  }
  if (computation.kind === 'conversion') assertConversion(model, name, computation, governances)
  if (computation.kind !== 'simple') return
  const relation = relationOf(model, computation.table)
  if (relation === undefined)
    throw new Fault(
      'unprocessable',
      `${tableName(computation.table)} has no dimensions yet. Declare its model first.`,
    )
  if (relation.dimensions.has(name))
    throw new Fault('unprocessable', `\`${name}\` is the name of a dimension already.`)
  const { dimension, over = [] } = computation.semiAdditive ?? {}
  for (const each of dimension === undefined ? [] : [dimension, ...over])
    if (!relation.dimensions.has(each)) throw new Fault('unprocessable', `There is no dimension \`${each}\`.`)
  if (computation.currency !== undefined) assertConverts(model, governances, name, computation)
  compileRelation(model, governances, relation, { dimensions: [], metrics: [name], converts: true })
}
