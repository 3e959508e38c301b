/**
 * Writes the statements of a reconciliation, for one side each: totals of columns in one scan, content hashes that do not
 * depend on the order of rows, and the rows of a part. Every result column is text.
 */

import type { ColumnPair, SideColumn } from './column-kind.ts'
import { canonicalText, engineOf, type ReconcileDialect, sideValue } from './dialect.ts'

/** One side of a comparison. */
export type Side = 'left' | 'right'

/** What is measured of a column besides NULLs, by what it shows. `sum` of floats has a tolerance and a scale. */
const measureNames = [
  'nulls',
  'empty',
  'bytes',
  'true',
  'nan',
  'infinity',
  'negative_infinity',
  'negative_zero',
  'sum',
  'sum_of_magnitudes',
  'min',
  'max',
] as const
export type MeasureName = (typeof measureNames)[number]

/** Doubles are added divided by this power of two, so that no engine's sum of 10¹² of them overflows. */
export const floatSumScale = 2 ** 64

export interface Measure {
  readonly fieldId: number
  readonly name: MeasureName
}

interface Written extends Measure {
  readonly sql: string
}

/** The measures of a pair on one side. */
function measuresOf(dialect: ReconcileDialect, pair: ColumnPair, side: Side): readonly Written[] {
  const column = pair[side]
  const engine = engineOf(dialect)
  const x = sideValue(dialect, column)
  const text = (value: string) => `CAST(${value} AS ${engine.text})`
  const one = (name: MeasureName, sql: string): Written => ({ fieldId: pair.fieldId, name, sql: text(sql) })
  const countIf = (condition: string) => `count(CASE WHEN ${condition} THEN 1 END)`
  const nulls = one('nulls', countIf(`${x} IS NULL`))
  const range = (value: string, of = '') => [
    one('min', `min(${value})${of}`),
    one('max', `max(${value})${of}`),
  ]
  const whole = (value: string) => [one('sum', `sum(CAST(${value} AS ${engine.wide(0)}))`), ...range(value)]
  switch (pair.kind) {
    case 'exact':
      return [
        nulls,
        ...(pair.sums ? [one('sum', `sum(CAST(${x} AS ${engine.wide(column.scale)}))`)] : []),
        ...range(x),
      ]
    case 'float': {
      const finite = `CASE WHEN ${engine.isFinite(x)} THEN ${x} END`
      const double = (value: number) => `CAST('${value}' AS ${engine.double})`
      // What is too small to be scaled counts as nothing beside the tolerance of sums.
      const scaled = (value: string) =>
        `CASE WHEN ${engine.isFinite(x)} AND abs(${x}) >= ${double(1e-280)} THEN ${value} * ${double(1 / floatSumScale)} WHEN ${engine.isFinite(x)} THEN 0 END`
      const infinite = (sign: string) =>
        countIf(`NOT ${engine.isFinite(x)} AND NOT ${engine.isNan(x)} AND ${x} ${sign} 0`)
      return [
        nulls,
        one('nan', countIf(engine.isNan(x))),
        one('infinity', infinite('>')),
        one('negative_infinity', infinite('<')),
        one('negative_zero', countIf(`${x} = 0 AND ${engine.bits(x)} < 0`)),
        one('sum', engine.bits(`sum(${scaled(x)})`)),
        one('sum_of_magnitudes', engine.bits(`sum(${scaled(`abs(${x})`)})`)),
        one('min', engine.bits(`min(${finite})`)),
        one('max', engine.bits(`max(${finite})`)),
      ]
    }
    case 'text': {
      const value = canonicalText(dialect, column)
      return [
        nulls,
        one('empty', countIf(`${value} = ''`)),
        one('bytes', `sum(CAST(${engine.octets(value)} AS ${engine.wide(0)}))`),
        ...range(engine.least(value)),
      ]
    }
    case 'binary': {
      const hex = canonicalText(dialect, column)
      return [
        nulls,
        one('empty', countIf(`${hex} = ''`)),
        one('bytes', `sum(CAST(${engine.bytes(x)} AS ${engine.wide(0)}))`),
        ...range(engine.least(hex)),
      ]
    }
    case 'boolean':
      return [nulls, one('true', countIf(x))]
    case 'date':
      return [nulls, ...whole(guarded(x, engine.days(x)))]
    case 'time':
      return [nulls, ...range(engine.least(canonicalText(dialect, column)))]
    case 'instant':
      return [nulls, ...whole(guarded(x, (pair.nanos ? engine.nanos : engine.micros)(x, column)))]
    case 'other':
      return [nulls]
  }
}

/** NULL where the value is, because an engine may not say that of a CASE about it. */
function guarded(x: string, value: string): string {
  return `CASE WHEN ${x} IS NOT NULL THEN ${value} END`
}

/** A statement of one side. */
export interface SideStatement {
  readonly sql: string
  /** Names of the result columns. */
  readonly names: readonly string[]
}

/** The totals of columns: the number of rows, then each measure. */
export function totalsStatement(
  dialect: ReconcileDialect,
  pairs: readonly ColumnPair[],
  side: Side,
  relation: string,
): SideStatement & { readonly measures: readonly Measure[] } {
  const written = pairs.flatMap((pair) => measuresOf(dialect, pair, side))
  const rows = `CAST(count(*) AS ${engineOf(dialect).text})`
  return {
    ...selected([rows, ...written.map(({ sql }) => sql)], `FROM ${relation}`),
    measures: written.map(({ fieldId, name }) => ({ fieldId, name })),
  }
}

/** A SELECT of texts named c1, c2 and so on. */
function selected(expressions: readonly string[], rest: string): SideStatement {
  const names = expressions.map((_, index) => `c${index + 1}`)
  return {
    names,
    sql: `SELECT ${expressions.map((sql, index) => `${sql} AS ${names[index]}`).join(', ')} ${rest}`,
  }
}

/** The sum of a number over the rows, as exact as the engine can: 10¹² rows of 60 bits. */
function exactSum(dialect: ReconcileDialect, value: string): string {
  const engine = engineOf(dialect)
  return `CAST(coalesce(sum(CAST(${value} AS ${engine.wide(0)})), 0) AS ${engine.text})`
}

/** The content of columns: of each, the sum of the hashes of its values. It does not depend on the order of rows. */
export function contentStatement(
  dialect: ReconcileDialect,
  pairs: readonly ColumnPair[],
  side: Side,
  relation: string,
): SideStatement {
  const { hash } = engineOf(dialect)
  const sums = pairs.map((pair) => exactSum(dialect, hash(canonicalText(dialect, pair[side], pair.nanos))))
  return selected(sums, `FROM ${relation}`)
}

/** A row as one text: each value with its length in bytes, so that no two rows have the same. */
export function rowText(dialect: ReconcileDialect, pairs: readonly ColumnPair[], side: Side): string {
  const { octets, text } = engineOf(dialect)
  const parts = pairs.map((pair) => {
    const value = canonicalText(dialect, pair[side], pair.nanos)
    return `coalesce(CAST(${octets(value)} AS ${text}) || ':' || ${value}, '-')`
  })
  return parts.length === 0 ? `''` : parts.join(` || ',' || `)
}

/** The content of rows: finds values that changed places between rows. */
export function rowsStatement(
  dialect: ReconcileDialect,
  pairs: readonly ColumnPair[],
  side: Side,
  relation: string,
): SideStatement {
  return selected(
    [exactSum(dialect, engineOf(dialect).hash(rowText(dialect, pairs, side)))],
    `FROM ${relation}`,
  )
}

/** Parts into which keys are divided at each level. */
export const partsPerLevel = 1_024

/** A part of the rows: those whose key's hash, divided by 1,024 so often, leaves these remainders. */
export type Part = readonly number[]

function keyHash(dialect: ReconcileDialect, key: readonly ColumnPair[], side: Side): string {
  return engineOf(dialect).hash(rowText(dialect, key, side))
}

const remainder = (value: string, level: number) => {
  const divided =
    level === 0 ? value : `(${value} - ${value} % ${partsPerLevel ** level}) / ${partsPerLevel ** level}`
  return `(${level === 0 ? value : `CAST(${divided} AS BIGINT)`}) % ${partsPerLevel}`
}

function within(hash: string, part: Part): string {
  const conditions = part.map((wanted, level) => `${remainder(hash, level)} = ${wanted}`)
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

/** Counts and hashes of the parts of a part. Their keys are hashed, so any kind of key will do. */
export function partsStatement(
  dialect: ReconcileDialect,
  key: readonly ColumnPair[],
  pairs: readonly ColumnPair[],
  side: Side,
  relation: string,
  part: Part,
): SideStatement {
  const engine = engineOf(dialect)
  const hashed = `SELECT ${keyHash(dialect, key, side)} AS k, ${engine.hash(rowText(dialect, pairs, side))} AS h FROM ${relation}`
  const bucket = remainder('k', part.length)
  return selected(
    [`CAST(${bucket} AS ${engine.text})`, `CAST(count(*) AS ${engine.text})`, exactSum(dialect, 'h')],
    `FROM (${hashed}) AS hashed${within('k', part)} GROUP BY ${bucket}`,
  )
}

/** The rows of a part: the values of the key, and how often the row stands there, by its hash. */
export function partRowsStatement(
  dialect: ReconcileDialect,
  key: readonly ColumnPair[],
  pairs: readonly ColumnPair[],
  side: Side,
  relation: string,
  part: Part,
): SideStatement {
  const engine = engineOf(dialect)
  const keys = key.map((pair, index) => `${canonicalText(dialect, pair[side], pair.nanos)} AS k${index + 1}`)
  const hashed = `SELECT ${keyHash(dialect, key, side)} AS k, ${engine.hash(rowText(dialect, pairs, side))} AS h, ${keys.join(', ')} FROM ${relation}`
  const names = key.map((_, index) => `k${index + 1}`)
  return selected(
    [`CAST(h AS ${engine.text})`, `CAST(count(*) AS ${engine.text})`, ...names],
    `FROM (${hashed}) AS hashed${within('k', part)} GROUP BY h, ${names.join(', ')}`,
  )
}

/** Whether a column is compared by its content. */
export function hasContent({ kind }: Pick<SideColumn, 'kind'>): boolean {
  return kind !== 'other'
}
