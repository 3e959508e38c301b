/**
 * Defines aggregates and window functions. Results are cast to PostgreSQL's type. Square brackets stand for the
 * parentheses of an aggregate's own call, to which the emitter adds DISTINCT, ORDER BY, FILTER and OVER.
 */

import { isArray, type SqlType, scalarTypes } from '../../../core/sql-type.ts'
import { type AggregateDef, aggregate, byName, type FunctionDef, fn } from '../base/function-definition.ts'
import { intervalAggregates } from './interval.ts'
import { asJson, inBrackets, jsonText, memberText } from './json-text.ts'
import { jsonAggregates } from './jsonb.ts'
import { moreAggregates } from './more.ts'
import { percentiles } from './percentiles.ts'
import { average } from './quotient.ts'

const ordered = (
  [
    'int2',
    'int4',
    'int8',
    'numeric',
    'float4',
    'float8',
    'text',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'interval',
    'bytea',
  ] as const
).flatMap((type) => [aggregate('min', type, type, 'min[{0}]'), aggregate('max', type, type, 'max[{0}]')])

const may = { fallible: true }

const sums = [
  aggregate('sum', 'int2', 'int8', 'CAST(sum[{0}] AS BIGINT)', 'sum[CAST({0} AS BIGINT)]', may),
  aggregate('sum', 'int4', 'int8', 'CAST(sum[{0}] AS BIGINT)', 'sum[CAST({0} AS BIGINT)]', may),
  aggregate(
    'sum',
    'int8',
    'numeric',
    'CAST(sum[{0}] AS DECIMAL(38,0))',
    'sum[CAST({0} AS DECIMAL(38,0))]',
    may,
  ),
  aggregate('sum', 'numeric', 'numeric', 'sum[{0}]', 'sum[{0}]', may),
  aggregate('sum', 'float4', 'float4', 'CAST(sum[{0}] AS FLOAT)', 'CAST(sum[{0}] AS REAL)'),
  aggregate('sum', 'float8', 'float8', 'sum[{0}]'),
  ...intervalAggregates,
]

/** A statistic: PostgreSQL returns numeric for integers and numerics, double for floats. */
const statistic = (name: string, duckdb = name, trino = duckdb): AggregateDef[] => [
  ...['int2', 'int4', 'int8', 'numeric'].map((type) =>
    aggregate(name, type, 'numeric', `${duckdb}[{0}]`, `${trino}[CAST({0} AS DOUBLE)]`, may),
  ),
  aggregate(name, 'float8', 'float8', `${duckdb}[{0}]`, `${trino}[CAST({0} AS DOUBLE)]`, may),
]

const averages: readonly AggregateDef[] = [
  ...statistic('avg').filter(({ returns }) => returns !== 'numeric'),
  ...(['int2', 'int4', 'int8', 'numeric'] as const).map((type) =>
    aggregate(
      'avg',
      type,
      'numeric',
      type === 'numeric'
        ? average.duckdb
        : average.duckdb.replace('sum[{0}]', 'CAST(sum[{0}] AS DECIMAL(38,0))'),
      type === 'numeric' ? average.trino : average.trino.replaceAll('{0}', 'CAST({0} AS DECIMAL(38,0))'),
      may,
    ),
  ),
  aggregate('avg', 'interval', 'interval', 'avg[{0}]', null),
]

const paired = (name: string): AggregateDef =>
  aggregate(name, 'float8 float8', 'float8', `${name}[{0}, {1}]`, `${name}[{0}, {1}]`, may)

/** Without variance PostgreSQL returns NULL where engines return NaN. */
const sloped = (name: string): AggregateDef =>
  aggregate(
    name,
    'float8 float8',
    'float8',
    `nullif(${name}[{0}, {1}], CAST('NaN' AS DOUBLE))`,
    `CASE WHEN NOT is_nan(${name}[{0}, {1}]) THEN ${name}[{0}, {1}] END`,
    may,
  )

/** In JSON each array that is gathered begins a line. */
const gathered = (['json', 'jsonb'] as const).flatMap((result) =>
  [...scalarTypes, ...scalarTypes.map((type): SqlType => `${type}[]`)].map((type) => {
    const isInLines = result === 'json' && isArray(type)
    const line = `coalesce(chr(10) || ' ' || ${jsonText('{0}', type, result)}, 'null')`
    const member = isInLines ? line : memberText('{0}', type, result)
    const joined = `array_to_string(list[${member}], ', ')`
    const text = inBrackets(isInLines ? `ltrim(${joined}, chr(10) || ' ')` : joined)
    return aggregate(`${result}_agg`, type, result, asJson(text), null, { keepsOrder: true })
  }),
)

const bits = (['int2', 'int4', 'int8'] as const).flatMap((type) => [
  aggregate('bit_and', type, type, 'bit_and[{0}]', null),
  aggregate('bit_or', type, type, 'bit_or[{0}]', null),
])

/** Every supported aggregate. */
export const aggregates: ReadonlyMap<string, readonly AggregateDef[]> = byName([
  aggregate('count', '', 'int8', 'count[*]'),
  aggregate('count', 'any', 'int8', 'count[{0}]'),
  ...ordered,
  ...sums,
  ...averages,
  ...statistic('stddev', 'stddev_samp'),
  ...statistic('stddev_samp'),
  ...statistic('stddev_pop'),
  ...statistic('variance', 'var_samp'),
  ...statistic('var_samp'),
  ...statistic('var_pop'),
  sloped('corr'),
  paired('covar_samp'),
  paired('covar_pop'),
  sloped('regr_slope'),
  sloped('regr_intercept'),
  aggregate('regr_count', 'float8 float8', 'int8', 'CAST(regr_count[{0}, {1}] AS BIGINT)', null),
  aggregate('regr_r2', 'float8 float8', 'float8', 'regr_r2[{0}, {1}]', null),
  aggregate('bool_and', 'bool', 'bool', 'bool_and[{0}]'),
  aggregate('bool_or', 'bool', 'bool', 'bool_or[{0}]'),
  aggregate('every', 'bool', 'bool', 'bool_and[{0}]'),
  ...bits,
  aggregate('string_agg', 'text text', 'text', 'string_agg[{0}, {1}]', 'array_join(array_agg[{0}], {1})', {
    keepsOrder: true,
    skipsNulls: true,
    literal: [1],
  }),
  aggregate('array_agg', 'anyelement', 'anyarray', 'array_agg[{0}]', 'array_agg[{0}]', { keepsOrder: true }),
  ...gathered,
  aggregate('any_value', 'anyelement', 'anyelement', 'any_value[{0}]'),
  ...percentiles,
  ...jsonAggregates,
  ...moreAggregates,
  // Of values that are there equally often PostgreSQL takes the first in its order, the least.
  aggregate('mode', 'anyelement', 'anyelement', 'mode[{0} ORDER BY {0}]', null, { ordered: true }),
])

/** Estimates how many different values there are. Only expanded metrics call it, and no text of a client has its name. */
export const estimate = aggregate(
  '\u0001estimate',
  'any',
  'int8',
  'approx_count_distinct[{0}]',
  'approx_distinct[{0}]',
)

/** Window functions proper. Every aggregate without an order of its own can be one too. */
export const windowFunctions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  fn('row_number', '', 'int8', 'row_number[]'),
  fn('rank', '', 'int8', 'rank[]'),
  fn('dense_rank', '', 'int8', 'dense_rank[]'),
  fn('percent_rank', '', 'float8', 'percent_rank[]'),
  fn('cume_dist', '', 'float8', 'cume_dist[]'),
  fn('ntile', 'int4', 'int4', 'CAST(ntile[{0}] AS INTEGER)', 'CAST(ntile[{0}] AS INTEGER)', { literal: [0] }),
  fn('lag', 'anyelement', 'anyelement', 'lag[{0}]'),
  fn('lag', 'anyelement int4', 'anyelement', 'lag[{0}, {1}]'),
  fn('lag', 'anyelement int4 anyelement', 'anyelement', 'lag[{0}, {1}, {2}]'),
  fn('lead', 'anyelement', 'anyelement', 'lead[{0}]'),
  fn('lead', 'anyelement int4', 'anyelement', 'lead[{0}, {1}]'),
  fn('lead', 'anyelement int4 anyelement', 'anyelement', 'lead[{0}, {1}, {2}]'),
  fn('first_value', 'anyelement', 'anyelement', 'first_value[{0}]'),
  fn('last_value', 'anyelement', 'anyelement', 'last_value[{0}]'),
  fn(
    'nth_value',
    'anyelement int4',
    'anyelement',
    `nth_value[{0}, CASE WHEN {1} < 1 THEN error('argument of nth_value must be greater than zero') ELSE {1} END]`,
    'nth_value[{0}, {1}]',
    may,
  ),
])
