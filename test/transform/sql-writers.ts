/**
 * How each engine that writes by SQL takes a value in and shows it, so that what the expressions of a plan give can be
 * compared with what the TypeScript library gives. A value is shown as text: texts and bytes as hexadecimal.
 */

import { quoteText } from '../../src/base/sql-text.ts'
import { type MaskValue, maskActions } from '../../src/core/mask.ts'
import { emitProtected, type WriterDialectName } from '../../src/query/compile/emit/protect.ts'
import { type ColumnRule, problemOf } from '../../src/transform/plan.ts'
import { asRefusal, protectValues } from '../../src/transform/protect-values.ts'
import { randomInputs } from './random-inputs.ts'
import vectors from './transform-vectors.json'
import { fromJson } from './vector-values.ts'

interface Vector {
  readonly name: string
  readonly column: ColumnRule
  readonly input: readonly (boolean | number | string | null)[]
  readonly output: readonly (boolean | number | string | null)[]
}
const keylessVectors = (vectors.columns as unknown as readonly Vector[]).filter(
  ({ column, output }) => output !== undefined && ['keep', 'redact', 'mask'].includes(column.action),
)

export interface SqlWriter {
  readonly dialect: WriterDialectName
  readonly typeOf: (type: string) => string
  /** SQL of a value that is not NULL. */
  readonly literal: (type: string, value: NonNullable<MaskValue>) => string
  /** SQL that shows a column of a type as {@link shownValue} does, but for times, which {@link shownCell} reads. */
  readonly shown: (type: string, sql: string) => string
}

const isBytes = (type: string) => type === 'binary' || type.startsWith('fixed[')
const isInstant = (type: string) => type.startsWith('timestamp')
const hexOf = (value: NonNullable<MaskValue>) =>
  Buffer.from(value instanceof Uint8Array ? value : String(value)).toString('hex')

const dayMs = 86_400_000
const dateText = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10)
const fraction = (micros: bigint) =>
  String(((micros % 1_000_000n) + 1_000_000n) % 1_000_000n).padStart(6, '0')
function instantText(micros: bigint): string {
  const seconds = (micros - (((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n
  const text = new Date(Number(seconds) * 1_000).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, 19)}.${fraction(micros)}`
}
const timeText = (micros: bigint) => instantText(micros).slice(11)

/** A literal that all engines write alike: text that is cast to the type. */
const castText = (typeOf: (type: string) => string, type: string, value: NonNullable<MaskValue>) => {
  const text =
    type === 'date'
      ? dateText(value as number)
      : type === 'time'
        ? timeText(value as bigint)
        : isInstant(type)
          ? instantText(value as bigint)
          : String(value)
  return `CAST(${quoteText(type.startsWith('timestamptz') ? `${text} UTC` : text)} AS ${typeOf(type)})`
}

const duckdbTypes: Readonly<Record<string, string>> = {
  ...{ int: 'INTEGER', long: 'BIGINT', string: 'VARCHAR', binary: 'BLOB', timestamptz: 'TIMESTAMPTZ' },
}
const duckdbType = (type: string) => (isBytes(type) ? 'BLOB' : (duckdbTypes[type] ?? type.toUpperCase()))
const duckdb: SqlWriter = {
  dialect: 'duckdb',
  typeOf: duckdbType,
  literal(type, value) {
    if (isBytes(type)) return `unhex('${hexOf(value)}')`
    if (type === 'string') return `decode(unhex('${hexOf(value)}'))`
    if (type === 'timestamptz') return `make_timestamptz(${value})`
    return castText(duckdbType, type, value)
  },
  shown(type, sql) {
    if (type === 'string') return `hex(encode(${sql}))`
    if (isBytes(type)) return `hex(${sql})`
    if (type === 'timestamptz') return `CAST(make_timestamp(epoch_us(${sql})) AS VARCHAR)`
    return `CAST(${sql} AS VARCHAR)`
  },
}

const trinoTypes: Readonly<Record<string, string>> = {
  ...{ int: 'INTEGER', long: 'BIGINT', float: 'REAL', string: 'VARCHAR', time: 'TIME(6)' },
  ...{ timestamp: 'TIMESTAMP(6)', timestamptz: 'TIMESTAMP(6) WITH TIME ZONE' },
}
const trinoType = (type: string) => (isBytes(type) ? 'VARBINARY' : (trinoTypes[type] ?? type.toUpperCase()))
const trino: SqlWriter = {
  dialect: 'trino',
  typeOf: trinoType,
  literal(type, value) {
    if (isBytes(type)) return `X'${hexOf(value)}'`
    return type === 'string' ? `from_utf8(X'${hexOf(value)}')` : castText(trinoType, type, value)
  },
  shown(type, sql) {
    if (type === 'string') return `to_hex(to_utf8(${sql}))`
    if (isBytes(type)) return `to_hex(${sql})`
    // The text of a REAL has seven digits, which are too few for some.
    if (type === 'float') return `CAST(CAST(${sql} AS DOUBLE) AS VARCHAR)`
    if (type === 'timestamptz') return `CAST(CAST((${sql}) AT TIME ZONE 'UTC' AS TIMESTAMP(6)) AS VARCHAR)`
    return `CAST(${sql} AS VARCHAR)`
  },
}

const sparkTypes: Readonly<Record<string, string>> = {
  ...{ long: 'BIGINT', uuid: 'STRING', timestamp: 'TIMESTAMP_NTZ', timestamptz: 'TIMESTAMP' },
}
const sparkType = (type: string) => (isBytes(type) ? 'BINARY' : (sparkTypes[type] ?? type.toUpperCase()))
const spark: SqlWriter = {
  dialect: 'spark',
  typeOf: sparkType,
  literal(type, value) {
    if (isBytes(type)) return `X'${hexOf(value)}'`
    if (type === 'string') return `CAST(X'${hexOf(value)}' AS STRING)`
    return type === 'timestamptz' ? `timestamp_micros(${value})` : castText(sparkType, type, value)
  },
  shown(type, sql) {
    if (type === 'string' || isBytes(type)) return `hex(${sql})`
    return type === 'timestamptz' ? `CAST(unix_micros(${sql}) AS STRING)` : `CAST(${sql} AS STRING)`
  },
}

export const sqlWriters = { duckdb, trino, spark } as const

/** What the library gives, as text. */
export function shownValue(type: string, value: MaskValue): string | null {
  if (value === null) return null
  return type === 'string' || isBytes(type) ? hexOf(value) : String(value)
}

/** What an engine shows, in the same form: hexadecimal in lower case, dates as days, times as microseconds. */
export function shownCell(type: string, cell: unknown): string | null {
  if (cell === null || cell === undefined) return null
  const text = String(cell)
  if (type === 'string' || isBytes(type)) return text.toLowerCase()
  if (type === 'float') return String(Math.fround(Number(text)))
  if (type === 'double') return String(Number(text))
  if (/^-?\d+$/.test(text) && isInstant(type)) return text
  if (type === 'date') return String(Date.parse(`${text}T00:00:00Z`) / dayMs)
  if (type === 'time' || isInstant(type)) {
    const [seconds = '', micros = ''] = (type === 'time' ? `1970-01-01 ${text}` : text).split('.')
    const ms = Date.parse(`${seconds.replace(' ', 'T')}Z`)
    return String(BigInt(ms) * 1_000n + BigInt(micros.padEnd(6, '0')))
  }
  return text
}

/** Every rule without a key that a type has. */
export function keylessRules(type: string): readonly ColumnRule[] {
  const bases = [
    { action: 'keep', required: false },
    { action: 'redact', required: false },
    { action: 'redact', required: true },
    ...maskActions.flatMap((mask) => [false, true].map((required) => ({ action: 'mask', mask, required }))),
  ]
  return bases
    .map((base) => ({ ...base, field_id: 1, name: 'c', type }) as ColumnRule)
    .filter((rule) => problemOf(rule) === undefined)
}

interface SqlCase {
  readonly label: string
  readonly rule: ColumnRule
  /** Of the first values, or of all of them. */
  readonly output: readonly MaskValue[]
}

/** One INSERT … SELECT of a plan whose columns all hold the same values, each under a rule of its own. */
export interface SqlComparison {
  readonly type: string
  /** Makes the table to read from and the table to write to, and writes by the expressions of the plan. */
  readonly statements: readonly string[]
  /** Shows what was written, in the order of the values. */
  readonly query: string
  /** By the name of a case, what its column must hold. */
  readonly expected: Readonly<Record<string, readonly (string | null)[]>>
  /** The rows of the query in the same form. */
  readonly read: (
    rows: readonly (readonly unknown[])[],
  ) => Readonly<Record<string, readonly (string | null)[]>>
}

export interface SqlPlace {
  /** What stands before the names of tables, such as `lake.n.`. */
  readonly prefix: string
  /** What follows the columns of CREATE TABLE. */
  readonly suffix?: string
}

/** Values of one statement: engines bound the length of its text. */
const valuesPerStatement = 200

/** The vectors of the file that SQL carries out, by type. */
export function compareVectors(writer: SqlWriter, place: SqlPlace): readonly SqlComparison[] {
  const byType = Map.groupBy(keylessVectors, ({ column }) => column.type)
  return [...byType].flatMap(([type, vectors]) => {
    const longest = vectors.reduce((a, b) => (b.input.length > a.input.length ? b : a)).input
    const cases = vectors.map(({ name, column, input, output }): SqlCase => {
      // NULL is what a required column lacks: its values are the others, and NULL is the last.
      if (JSON.stringify(input) !== JSON.stringify(longest.slice(0, input.length)))
        throw new Error(`the vector ${name} has other values than those of its type`)
      return { label: name, rule: column, output: output.map((value) => fromJson(type, value)) }
    })
    const values = longest.map((value) => fromJson(type, value))
    return compare(writer, type, cases, values, { ...place, prefix: `${place.prefix}vector_` })
  })
}

/** Random values of a type under each rule, and what the library gives. */
export function compareRandom(
  writer: SqlWriter,
  type: string,
  count: number,
  place: SqlPlace,
): readonly SqlComparison[] {
  const values = randomInputs(type, count)
  const noKey = () => {
    throw new Error('a rule without a key asked for one')
  }
  const cases = keylessRules(type).map((rule): SqlCase => {
    const input = values.map((value) => (value === null && rule.required ? substituteOf(values) : value))
    const what = 'mask' in rule ? rule.mask : rule.action
    return {
      label: rule.required ? `${what} where required` : what,
      rule,
      output: asRefusal(rule, () => protectValues(rule, '', noKey, input)),
    }
  })
  return compare(writer, type, cases, values, { ...place, prefix: `${place.prefix}random_` })
}

/** What stands in a required column in the place of NULL. */
const substituteOf = (values: readonly MaskValue[]) =>
  values.find((value) => value !== null) as NonNullable<MaskValue>

/** None where the engine carries out no rule of the type. */
function compare(
  { dialect, typeOf, literal, shown }: SqlWriter,
  type: string,
  given: readonly SqlCase[],
  values: readonly MaskValue[],
  { prefix, suffix = '' }: SqlPlace,
): readonly SqlComparison[] {
  const cases = given
    .filter(({ rule }) => canWrite(dialect, rule))
    .map((one, index) => ({ ...one, rule: { ...one.rule, field_id: index + 1, name: `c${index}` } }))
  if (cases.length === 0) return []
  const rules = cases.map(({ rule }) => rule)
  const name = type.replaceAll(/\W+/g, '_')
  const [source, target] = [`${prefix}${name}_given`, `${prefix}${name}_written`]
  const columns = rules.map((rule) => `${rule.name} ${typeOf(type)}`).join(', ')
  const substitute = literal(type, substituteOf(values))
  const copies = rules.map((rule) => (rule.required ? `coalesce(c, ${substitute})` : 'c')).join(', ')
  const sql = (value: MaskValue) => (value === null ? `CAST(NULL AS ${typeOf(type)})` : literal(type, value))
  const inserts: string[] = []
  for (let from = 0; from < values.length; from += valuesPerStatement) {
    const rows = values
      .slice(from, from + valuesPerStatement)
      .map((value, at) => `(${from + at}, ${sql(value)})`)
    inserts.push(`INSERT INTO ${source} SELECT i, ${copies} FROM (VALUES ${rows.join(', ')}) AS v (i, c)`)
  }
  const emitted = emitProtected(dialect, rules).map((column) => `${column.sql} AS ${column.quoted}`)
  return [
    {
      type,
      statements: [
        `CREATE TABLE ${source} (i INT, ${columns})${suffix}`,
        ...inserts,
        `CREATE TABLE ${target} (i INT, ${columns})${suffix}`,
        `INSERT INTO ${target} SELECT i, ${emitted.join(', ')} FROM ${source}`,
      ],
      query: `SELECT ${rules.map((rule) => shown(type, rule.name)).join(', ')} FROM ${target} ORDER BY i`,
      expected: Object.fromEntries(
        cases.map(({ label, output }) => [label, output.map((value) => shownValue(type, value))]),
      ),
      read: (rows) =>
        Object.fromEntries(
          cases.map(({ label, output }, place) => [
            label,
            rows.slice(0, output.length).map((row) => shownCell(type, row[place])),
          ]),
        ),
    },
  ]
}

/** Types with nanoseconds, and times on Spark, are refused where they are not kept; nobody writes them by SQL. */
function canWrite(dialect: WriterDialectName, rule: ColumnRule): boolean {
  if (rule.type.endsWith('_ns') || (dialect === 'spark' && rule.type === 'time')) return false
  emitProtected(dialect, [rule])
  return true
}
