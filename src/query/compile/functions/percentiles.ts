/**
 * Defines percentiles. They are computed as PostgreSQL computes them, to the last digit: DuckDB's `quantile_cont` weighs the
 * two values between which a percentile lies, where PostgreSQL adds a part of their distance, and its `quantile_disc`
 * rounds the place in another way. Trino has none that is exact.
 */

import type { ScalarType, SqlType } from '../../../core/sql-type.ts'
import { type AggregateDef, aggregate, byName } from '../base/function-definition.ts'

type Order = 'ASC' | 'DESC'

const count = 'count[{1}]'

/** The value of a fraction in the list `l`, which is sorted and has its NULLs at the end. */
const valueAt = {
  percentile_cont: (fraction: string) => {
    const place = `(${fraction} * (${count} - 1))`
    const at = (round: string) => `list_extract(l, 1 + CAST(${round}(${place}) AS BIGINT))`
    const between = `${at('floor')} + (${place} - floor(${place})) * (${at('ceil')} - ${at('floor')})`
    return `CASE WHEN floor(${place}) = ceil(${place}) THEN ${at('floor')} ELSE ${between} END`
  },
  percentile_disc: (fraction: string) =>
    `list_extract(l, greatest(CAST(ceil(${fraction} * ${count}) AS BIGINT), 1))`,
}

type Name = keyof typeof valueAt

function template(name: Name, order: Order, isArray: boolean): string {
  const value = valueAt[name](`CAST(${isArray ? 'f' : '{0}'} AS DOUBLE)`)
  const found = isArray ? `list_transform({0}, lambda f: ${value})` : value
  return `list_extract(list_transform(list_value(list_sort(list[{1}], '${order}', 'NULLS LAST')), lambda l: CASE WHEN ${count} > 0 THEN ${found} END), 1)`
}

const options = { ordered: true, literal: [0] }

const one = (name: Name, order: Order, types: readonly SqlType[]): AggregateDef[] =>
  types.map((type) => aggregate(name, `float8 ${type}`, type, template(name, order, false), null, options))

/** Several fractions at once. */
const several = (name: Name, order: Order, types: readonly ScalarType[]): AggregateDef[] =>
  (['numeric[]', 'float8[]'] as const).flatMap((fractions) =>
    types.map((type) =>
      aggregate(name, `${fractions} ${type}`, `${type}[]`, template(name, order, true), null, options),
    ),
  )

const inOrder = (order: Order): AggregateDef[] => [
  ...one('percentile_cont', order, ['float8']),
  ...several('percentile_cont', order, ['float8']),
  ...several('percentile_disc', order, ['int4', 'int8', 'float8', 'date', 'timestamp', 'text']),
  ...one('percentile_disc', order, [
    ...(['bool', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'text', 'varchar'] as const),
    ...(['date', 'time', 'timestamp', 'timestamptz', 'interval', 'uuid', 'bytea'] as const),
  ]),
]

export const percentiles = inOrder('ASC')

/** Those whose key descends. */
export const descendingPercentiles = byName(inOrder('DESC'))
