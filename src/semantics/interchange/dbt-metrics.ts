/** Turns metrics and measures of dbt into metrics of ours. What would change a number is not carried at all. */

import { metricNamePattern } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { toSqlError } from '../../query/compile/base/sql-error.ts'
import { filterOf } from './dbt-filters.ts'
import { type DbtInput, inputOf, offsetMetric, windowOf } from './dbt-inputs.ts'
import type { DraftDimension, DraftMetric } from './draft.ts'
import { isPlain, type Members } from './members.ts'
import { identifier, renamed } from './sql-names.ts'

export interface DbtModel {
  readonly name: string
  readonly table: TableRef
  readonly dimensions: readonly DraftDimension[]
  /** Columns of the entities that are keys, by name. */
  readonly entities: ReadonlyMap<string, string>
  /** Columns of the entities that lead to other models, by name. */
  readonly leading: ReadonlyMap<string, string>
  readonly timeDimension: string | undefined
  readonly measures: ReadonlyMap<string, DbtMeasure>
  /** Metrics that the model holds itself. */
  readonly ownMetrics: readonly Members[]
}

export interface DbtMeasure {
  readonly at: Members
  readonly name: string
  readonly about: Readonly<Record<string, string>>
  /** SQL of the aggregate; undefined where there is none. */
  readonly expression: string | undefined
  readonly semiAdditive: Readonly<Record<string, unknown>> | undefined
  /** Why the number would be another one here. */
  readonly problem: string | undefined
  readonly createsMetric: boolean
}

const namePattern = new RegExp(metricNamePattern)

/** The members of a simple metric, or of a measure. @param timeDimension of its model */
export function readSimple(members: Members, timeDimension: string | undefined): DbtMeasure {
  const name = members.text('name') ?? ''
  const agg = members.text('agg') ?? ''
  const given = members.any('expr')
  const expr = given === undefined ? identifier(name) : String(given)
  const params = members.object('agg_params') ?? members
  const percentile = params.any('percentile')
  const isDiscrete =
    params.flag('use_discrete_percentile') === true || params.any('percentile_type') === 'discrete'
  const time = members.text('agg_time_dimension')
  const semi = semiOf(members)
  const createsMetric = members.flag('create_metric') === true
  for (const shown of ['fill_nulls_with', 'join_to_timespine'])
    if (members.any(shown) !== undefined)
      members.lose('A period without rows has no row, unless the metric is cumulative', shown)
  const aggregate = aggregateOf(agg, expr, { percentile, isDiscrete })
  return {
    at: members,
    name,
    about: aboutOf(members),
    expression: aggregate,
    semiAdditive: semi === 'unknown' ? undefined : semi,
    problem:
      aggregate === undefined
        ? `The aggregation ${agg} is not supported`
        : semi === 'unknown'
          ? 'Its `non_additive_dimension` needs a name and `min` or `max`'
          : time !== undefined && time !== timeDimension
            ? `It is told by the time ${time}, and a table has one time for all its metrics`
            : undefined,
    createsMetric,
  }
}

function aggregateOf(
  agg: string,
  expr: string,
  { percentile, isDiscrete }: { readonly percentile: unknown; readonly isDiscrete: boolean },
): string | undefined {
  switch (agg.toLowerCase()) {
    case 'sum':
      return /^\s*1\s*$/.test(expr) ? 'count(*)' : `sum(${expr})`
    case 'min':
    case 'max':
      return `${agg.toLowerCase()}(${expr})`
    case 'avg':
    case 'average':
      return `avg(${expr})`
    case 'count':
      return /^\s*(1|\*)\s*$/.test(expr) ? 'count(*)' : `count(${expr})`
    case 'count_distinct':
      return `count(DISTINCT ${expr})`
    case 'sum_boolean':
      return `sum(CASE WHEN ${expr} THEN 1 ELSE 0 END)`
    case 'median':
      return `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${expr})`
    case 'percentile': {
      const share = Number(percentile) > 1 ? Number(percentile) / 100 : Number(percentile)
      if (!(share >= 0 && share <= 1)) return undefined
      return `percentile_${isDiscrete ? 'disc' : 'cont'}(${share}) WITHIN GROUP (ORDER BY ${expr})`
    }
    default:
      return undefined
  }
}

function semiOf(members: Members): DbtMeasure['semiAdditive'] | 'unknown' {
  const given = members.object('non_additive_dimension')
  if (given === undefined) return undefined
  const name = given.text('name')
  const choice = given.text('window_agg') ?? given.text('window_choice') ?? 'min'
  const over = [...given.texts('group_by'), ...given.texts('window_groupings')]
  given.rest()
  if (name === undefined || !['min', 'max'].includes(choice)) return 'unknown'
  return { dimension: name, take: choice === 'min' ? 'first' : 'last', over }
}

function aboutOf(members: Members): Readonly<Record<string, string>> {
  const [label, description] = [members.text('label'), members.text('description')]
  return { ...(label !== undefined && { label }), ...(description !== undefined && { description }) }
}

/** Every metric of the document. @param given those at its top */
export function readMetrics(given: readonly Members[], models: readonly DbtModel[]): readonly DraftMetric[] {
  const found = new Map<string, DraftMetric>()
  const add = (metric: DraftMetric | undefined, at: Members) => {
    if (metric === undefined) return
    if (!namePattern.test(metric.name)) {
      at.lose('A metric is named by lower-case letters, digits and underscores', 'name')
      return
    }
    if (found.has(metric.name)) {
      at.lose('There is a metric of that name already', 'name')
      return
    }
    found.set(metric.name, metric)
  }
  /** The metric of a measure, made where something asks for it by name. */
  const ofMeasure = (name: string): boolean => {
    if (found.has(name)) return true
    for (const model of models) {
      const measure = model.measures.get(name)
      if (measure === undefined) continue
      add(simpleMetric(measure, model, undefined, models), measure.at)
      return found.has(name)
    }
    return false
  }
  const ofInput = (input: DbtInput): string => {
    ofMeasure(input.name)
    const moved = offsetMetric(input)
    if (moved !== undefined && !found.has(moved.name)) found.set(moved.name, moved)
    return moved?.name ?? input.name
  }
  const making = { ofMeasure, ofInput }
  for (const model of models) {
    for (const members of model.ownMetrics) add(readMetric(members, models, model, making), members)
    for (const [name, { createsMetric }] of model.measures) if (createsMetric) ofMeasure(name)
  }
  for (const members of given) add(readMetric(members, models, undefined, making), members)
  for (const { measures } of models)
    for (const { at, name } of measures.values()) {
      at.rest()
      if (![...found.values()].some((metric) => metric.at === at.at || usesMeasure(metric, name)))
        at.lose('No metric of the document uses the measure')
    }
  return [...found.values()]
}

const usesMeasure = ({ body }: DraftMetric, name: string) =>
  [body.of, body.base, body.conversion].includes(name)

function simpleMetric(
  measure: DbtMeasure,
  model: DbtModel,
  filters: readonly string[] | undefined,
  models: readonly DbtModel[],
): DraftMetric | undefined {
  const { table } = model
  const { at, name, about, expression, semiAdditive, problem } = measure
  const filter = filters && filterOf(filters, model, models)
  const why =
    problem ??
    (filter === null
      ? 'Its filter reads more than dimensions and entities that the model leads to'
      : undefined)
  if (why !== undefined || expression === undefined) {
    at.lose(why ?? 'It has no aggregation')
    return undefined
  }
  return {
    at: at.at,
    name,
    body: {
      ...{ kind: 'simple', table, expression, ...about },
      ...(filter && { filter }),
      ...(semiAdditive && { semi_additive: semiAdditive }),
    },
  }
}

interface Making {
  /** Makes the metric of a measure. */
  readonly ofMeasure: (name: string) => void
  /** Makes the metric of an input that is moved in time. @returns its name */
  readonly ofInput: (input: DbtInput) => string
}

function readMetric(
  members: Members,
  models: readonly DbtModel[],
  own: DbtModel | undefined,
  making: Making,
): DraftMetric | undefined {
  const name = members.text('name') ?? ''
  const type = (members.text('type') ?? 'simple').toLowerCase()
  // The older form has the members of a kind in an object of their own.
  const params = members.object('type_params') ?? members
  const at = members.at
  const about = aboutOf(members)
  const filters = members.texts('filter')
  const finished = (body: DraftMetric['body'] | undefined, why: string): DraftMetric | undefined => {
    if (params !== members) params.rest()
    members.rest()
    if (body !== undefined && filters.length === 0) return { at, name, body: { ...body, ...about } }
    members.lose(body === undefined ? why : 'A filter of a metric that is made of others is not supported')
    return undefined
  }
  switch (type) {
    case 'simple':
      return simpleOf(members, params, { own, models, filters })
    case 'ratio': {
      const [numerator, denominator] = ['numerator', 'denominator'].map((each) =>
        inputOf(params.any(each), params.at),
      )
      const isThere = numerator !== undefined && denominator !== undefined
      const body = isThere
        ? { kind: 'ratio', numerator: making.ofInput(numerator), denominator: making.ofInput(denominator) }
        : undefined
      return finished(body, 'Its numerator or denominator is filtered: define that as a metric')
    }
    case 'derived':
      return finished(
        derivedBody(params, making),
        'Its inputs are filtered, or its expression cannot be read',
      )
    case 'cumulative': {
      const inner = params.object('cumulative_type_params') ?? params
      const input = inputOf(
        params.any('input_metric') ?? params.any('measure') ?? inner.any('metric'),
        params.at,
      )
      if (input !== undefined) making.ofMeasure(input.name)
      const window = windowOf(params.any('window') ?? inner.any('window'))
      const toDate = params.text('grain_to_date') ?? inner.text('grain_to_date')
      if ((params.any('period_agg') ?? inner.any('period_agg')) !== undefined)
        params.lose('Every period is computed from its rows', 'period_agg')
      if (inner !== params) inner.rest()
      const body =
        input === undefined || input.offset !== undefined || window === 'unknown' || (window && toDate)
          ? undefined
          : {
              kind: 'cumulative',
              of: input.name,
              ...(window && { window }),
              ...(toDate && { to_date: toDate }),
            }
      return finished(
        body,
        'Its input is filtered, or its window is no number of days, weeks, months, quarters or years',
      )
    }
    case 'conversion':
      return finished(conversionBody(params, making), 'It is no conversion between two plain measures')
    default:
      return finished(undefined, `Metrics of the type ${type} are not supported`)
  }
}

function simpleOf(
  members: Members,
  params: Members,
  {
    own,
    models,
    filters,
  }: {
    readonly own: DbtModel | undefined
    readonly models: readonly DbtModel[]
    readonly filters: readonly string[]
  },
): DraftMetric | undefined {
  const wanted = params.any('measure')
  const name = members.text('name') ?? ''
  if (own !== undefined && wanted === undefined) {
    const measure = readSimple(members, own.timeDimension)
    members.rest()
    return simpleMetric(measure, own, filters, models)
  }
  const shape = isPlain(wanted) ? params.object('measure') : undefined
  const measureName = shape?.text('name') ?? (typeof wanted === 'string' ? wanted : undefined)
  const more = shape?.texts('filter') ?? []
  shape?.rest('It is not supported')
  if (params !== members) params.rest()
  const about = aboutOf(members)
  members.rest()
  const model = models.find(({ measures }) => measures.has(measureName ?? ''))
  const measure = model?.measures.get(measureName ?? '')
  if (model === undefined || measure === undefined) {
    members.lose('Its measure is not in the document')
    return undefined
  }
  const found = simpleMetric(
    { ...measure, name, about: { ...measure.about, ...about } },
    model,
    [...filters, ...more],
    models,
  )
  return found && { ...found, at: measure.at.at }
}

function conversionBody(params: Members, { ofMeasure }: Making): DraftMetric['body'] | undefined {
  const inner = params.object('conversion_type_params') ?? params
  const [base, conversion] = (['base', 'conversion'] as const).map((each) =>
    inputOf(inner.any(`${each}_measure`) ?? inner.any(`${each}_metric`), inner.at),
  )
  const entity = inner.text('entity')
  const calculation = { conversion_rate: 'rate', conversions: 'count' }[
    inner.text('calculation') ?? 'conversion_rate'
  ]
  const window = windowOf(inner.any('window'))
  const constant = inner.objects('constant_properties').map((one) => ({
    base: one.text('base_property') ?? '',
    conversion: one.text('conversion_property') ?? '',
  }))
  if (inner !== params) inner.rest()
  const isPlain = base !== undefined && conversion !== undefined && !base.offset && !conversion.offset
  if (!isPlain || entity === undefined || calculation === undefined || window === 'unknown') return undefined
  for (const { name } of [base, conversion]) ofMeasure(name)
  return {
    ...{ kind: 'conversion', base: base.name, conversion: conversion.name, entity, calculation },
    ...(window && { window }),
    ...(constant.length > 0 && { constant_properties: constant }),
  }
}

function derivedBody(params: Members, { ofInput }: Making): DraftMetric['body'] | undefined {
  const expr = params.text('expr')
  const given = params.any('input_metrics') ?? params.any('metrics') ?? []
  if (expr === undefined || !Array.isArray(given)) return undefined
  const inputs = given.map((one) => inputOf(one, params.at))
  if (!inputs.every((one) => one !== undefined)) return undefined
  const names = new Map(
    inputs.flatMap((one) => {
      const [called, name] = [one.alias ?? one.name, ofInput(one)]
      return called === name ? [] : [[called, name]]
    }),
  )
  try {
    const expression = renamed(expr, ([first = '', ...more]) =>
      more.length === 0 ? names.get(first) : undefined,
    )
    return { kind: 'derived', expression }
  } catch (thrown) {
    params.lose(toSqlError(thrown).publicMessage.replace(/\.$/, ''), 'expr')
    return undefined
  }
}
