/**
 * Writes quotients and averages of numerics as decimals. Engines divide decimals as doubles, or to a scale of their own;
 * here a double's quotient is corrected by what is left of the dividend, which decimals multiply exactly.
 */

import type { NumericSize } from '../../../core/sql-type.ts'

const digitsMax = 38
/** Digits after the point of an average, and the fewest of a quotient that is a decimal: twenty are left before it. */
const scaleMin = 18
const scaleMost = 28
export const averageSize: NumericSize = [digitsMax, scaleMin]
/** Digits before the point that are left for sums of quotients. */
const room = 10
/** Significant digits that the least quotient of its operands should have. */
const significant = 4

/** The size of a quotient of decimals of these sizes; undefined where it is a double, which has digits for small ones. */
export function quotientSize(
  [precision, scale]: NumericSize,
  [divisorPrecision, divisorScale]: NumericSize,
): NumericSize | undefined {
  const whole = precision - scale + divisorScale
  const wanted = Math.min(scaleMost, Math.max(scaleMin, digitsMax - whole - room))
  const least = scale + Math.min(room, divisorPrecision - divisorScale) + significant
  return least <= wanted && divisorScale <= scaleMin && whole + wanted <= digitsMax
    ? [digitsMax, wanted]
    : undefined
}

const decimal = (scale: number): string => `DECIMAL(${digitsMax},${scale})`

/** An expression of a value that is written once. */
export const once = (value: string, name: string, read: string): string =>
  `list_extract(list_transform(list_value(${value}), lambda ${name}: ${read}), 1)`

/** A field of a lambda's parameter. In HAVING DuckDB would read `v.a` as a column. */
export const field = (of: string, name: string): string => `struct_extract(${of}, '${name}')`
const [dividend, divisor] = [field('v', 'a'), field('v', 'b')]

/** @param b an integer or decimal that is not zero; fields of `v` in any case */
function corrected(first: number, guard: string | undefined, wide = decimal(scaleMin)): string {
  const [a, b, q] = [field('w', 'a'), field('w', 'b'), field('w', 'q')]
  const estimate = `CAST(CAST(${dividend} AS DOUBLE) / CAST(${divisor} AS DOUBLE) AS DECIMAL(38,${first}))`
  const rest = `CAST(${a} - ${q} * ${b} AS DOUBLE) / CAST(${b} AS DOUBLE)`
  const exact = once(
    `struct_pack(a := ${dividend}, b := ${divisor}, q := ${estimate})`,
    'w',
    `CAST(${q} AS ${wide}) + CAST(${rest} AS ${wide})`,
  )
  if (guard === undefined) return exact
  return `CASE WHEN ${guard} THEN ${exact} ELSE CAST(CAST(${dividend} AS DOUBLE) / CAST(${divisor} AS DOUBLE) AS ${wide}) END`
}

/** DuckDB's quotient of decimals. @param size of the quotient */
export function quotientOnDuckdb(
  a: string,
  b: string,
  [precision, scale]: NumericSize,
  [, divisorScale]: NumericSize,
  size: NumericSize,
): string {
  // A smaller first estimate leaves room for a divisor with a long fraction.
  const first = divisorScale <= 4 ? 9 : 4
  const whole = 38 - first - divisorScale
  const isBounded = precision - scale <= whole && first + divisorScale >= scale
  const guard = isBounded
    ? undefined
    : `abs(CAST(${dividend} AS DOUBLE)) < 1e${Math.min(whole, 38 - Math.max(scale, first + divisorScale)) - 1}`
  const [x, y] = [field('x', 'a'), field('x', 'b')]
  const checked = `CASE WHEN ${y} = 0 AND ${x} IS NOT NULL THEN error('division by zero') ELSE ${y} END`
  return once(
    `struct_pack(a := ${a}, b := ${b})`,
    'x',
    once(`struct_pack(a := ${x}, b := ${checked})`, 'v', corrected(first, guard, decimal(size[1]))),
  )
}

/** Trino divides decimals exactly, to the larger scale of the two. */
export const quotientOnTrino = (a: string, b: string, [, scale]: NumericSize): string =>
  `(CAST(${a} AS ${decimal(scale)}) / ${b})`

const wide = decimal(scaleMin)

/** The average as the quotient of an exact sum, because engines average by adding doubles. */
export const average = {
  duckdb: once(
    'struct_pack(a := sum[{0}], b := nullif(count[{0}], 0))',
    'v',
    corrected(9, `abs(CAST(${dividend} AS DOUBLE)) < 1e28`),
  ),
  trino: `(CAST((sum[{0}] - sum[{0}] % nullif(count[{0}], 0)) / nullif(count[{0}], 0) AS ${wide}) + CAST(sum[{0}] % nullif(count[{0}], 0) AS ${wide}) / nullif(count[{0}], 0))`,
} as const
