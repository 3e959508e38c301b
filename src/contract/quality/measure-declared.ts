/**
 * Writes what a schema declares as SQL that counts the rows which break it, for the read path's compiler. NULL breaks
 * `required` alone. What cannot be counted without guessing is named, and not counted.
 */

import { quoteIdentifier, quoteText } from '../../base/sql-text.ts'
import { fieldsIn, type IcebergType } from '../../core/iceberg-type.ts'
import type { SystemTable } from '../../core/system-read.ts'
import type { Declared } from './declared-rules.ts'
import { counted, duplicatesOf, literalsOf, type Metric, MetricProblem } from './measure.ts'

/** Why something declared is not measured, as a word; a rule that an author writes is an error then. */
export const unmeasurable: ReadonlySet<string> = new Set([
  ...['nested', 'type', 'not measurable', 'no bound', 'format', 'timezone', 'not exact'],
])

/** The value of a property in a statement. */
interface Place {
  readonly sql: string
  readonly type: IcebergType
  /** The structs around it. */
  readonly around: readonly string[]
  readonly fieldIds: readonly number[]
}

interface MeasuredDeclared {
  readonly measure: Metric
  readonly fieldIds: readonly number[]
  /** Whether the compiler takes it in any case. */
  readonly isPlain: boolean
}

/** How it is measured. @throws MetricProblem */
export function declaredMetric(
  declared: Declared,
  table: Pick<SystemTable, 'columns' | 'relation'>,
): MeasuredDeclared {
  const places = declared.paths.map((path) => placeOf(path, table))
  const [place] = places
  if (place === undefined) throw new MetricProblem('nested')
  const fieldIds = places.flatMap((one) => one.fieldIds)
  const { word } = declared
  if (word === 'unique') {
    if (places.some(({ type }) => typeof type !== 'string')) throw new MetricProblem('type')
    return {
      measure: duplicatesOf(
        places.map(({ sql }) => sql),
        table.relation,
      ),
      fieldIds,
      isPlain: false,
    }
  }
  const isPlain = place.around.length === 0 && isPrimitive(place.type) && plainWords.has(word)
  if (word === 'required') return { measure: absent(place), fieldIds, isPlain }
  return { measure: counted(broken(declared, place)), fieldIds, isPlain }
}

const plainWords: ReadonlySet<string> = new Set(['required', 'minLength', 'maxLength'])
const primitives =
  /^(boolean|int|long|float|double|decimal\(.*|date|time|timestamp|timestamptz|string|uuid|binary)$/
const numbers = /^(int|long|float|double|decimal\(.*)$/

function isPrimitive(type: IcebergType): boolean {
  return typeof type === 'string' && primitives.test(type)
}

/** @throws MetricProblem `no column`; `nested` for what is in a list or map */
function placeOf(path: readonly string[], { columns }: Pick<SystemTable, 'columns'>): Place {
  const [first = '', ...inner] = path
  const column = columns.find(({ name }) => name === first)
  if (column === undefined) throw new MetricProblem('no column')
  const { fieldId, type } = column
  let place: Place = { sql: quoteIdentifier(first), type, around: [], fieldIds: [fieldId] }
  for (const name of inner) {
    if (typeof place.type === 'string' || place.type.type !== 'struct') throw new MetricProblem('nested')
    const field = fieldsIn(place.type).find((one) => one.name === name)
    if (field === undefined) throw new MetricProblem('no column')
    const base = place.around.length === 0 ? `(${place.sql})` : place.sql
    place = {
      ...{ sql: `${base}.${quoteIdentifier(name)}`, type: field.type },
      ...{ around: [...place.around, place.sql], fieldIds: [...place.fieldIds, field.fieldId] },
    }
  }
  return place
}

/** A field of an absent struct is not missing; `required` of the struct counts that. */
function absent({ sql, around }: Place): Metric {
  if (around.length === 0) return { kind: 'scan', expression: `count(*) - count(${sql})` }
  return counted([...around.map((one) => `${one} IS NOT NULL`), `${sql} IS NULL`].join(' AND '))
}

/** The condition of a row that breaks it; it is not true for NULL. */
function broken({ word, value, options }: Declared, { sql, type }: Place): string {
  switch (word) {
    case 'enum':
      return besides(sql, type, value)
    case 'minLength':
      return `length(${textOf(sql, type)}) < ${wholeOf(value)}`
    case 'maxLength':
      return `length(${textOf(sql, type)}) > ${wholeOf(value)}`
    case 'pattern':
      if (typeof value !== 'string') throw new MetricProblem('arguments')
      return `NOT (${textOf(sql, type)} ~ ${quoteText(value)})`
    case 'minimum':
      return `${sql} < ${boundOf(type, value, options)}`
    case 'exclusiveMinimum':
      return `${sql} <= ${boundOf(type, value, options)}`
    case 'maximum':
      return `${sql} > ${boundOf(type, value, options)}`
    case 'exclusiveMaximum':
      return `${sql} >= ${boundOf(type, value, options)}`
    case 'multipleOf':
      // A binary fraction is a multiple of nearly nothing that a person writes.
      if (!/^(int|long|decimal\(.*)$/.test(String(type))) throw new MetricProblem('type')
      return `${sql} % ${numberOf(value)} <> 0`
    case 'minItems':
      return `cardinality(${listOf(sql, type)}) < ${wholeOf(value)}`
    case 'maxItems':
      return `cardinality(${listOf(sql, type)}) > ${wholeOf(value)}`
    default:
      throw new MetricProblem('not measurable')
  }
}

function besides(sql: string, type: IcebergType, values: unknown): string {
  if (!isPrimitive(type) || type === 'binary') throw new MetricProblem('type')
  const given = Array.isArray(values) ? (values as readonly unknown[]) : []
  for (const value of given) if (typeof value === 'number') numberOf(value)
  const literals = literalsOf({ type }, given)
  return literals.length > 0 ? `${sql} NOT IN (${literals.join(', ')})` : `${sql} IS NOT NULL`
}

function textOf(sql: string, type: IcebergType): string {
  if (type === 'string') return sql
  if (type === 'uuid') return `CAST(${sql} AS text)`
  throw new MetricProblem('type')
}

function listOf(sql: string, type: IcebergType): string {
  if (typeof type === 'string' || type.type !== 'list') throw new MetricProblem('type')
  return sql
}

function wholeOf(value: unknown): string {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new MetricProblem('arguments')
  return String(value)
}

/** The number as it stands in the document. A great whole one may have lost digits when it was read. */
function numberOf(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new MetricProblem('arguments')
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new MetricProblem('not exact')
  return String(value)
}

const day = String.raw`\d{4}-\d{2}-\d{2}`
const clock = String.raw`\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?`
const dayOnly = new RegExp(`^${day}$`)
const clockOnly = new RegExp(`^${clock}$`)
const momentOf = new RegExp(`^(${day})([T ]${clock})?(Z|[+-]\\d{2}(:?\\d{2})?)?$`)
const universal: ReadonlySet<unknown> = new Set([undefined, 'UTC', 'Etc/UTC', 'GMT', 'Etc/GMT', 'Z'])

/** A bound as a literal. One that is written in a format of its own, or in another time zone, is not guessed. */
function boundOf(type: IcebergType, value: unknown, { defaultTimezone }: Declared['options']): string {
  if (value === undefined || value === null) throw new MetricProblem('no bound')
  if (typeof type !== 'string') throw new MetricProblem('type')
  if (numbers.test(type)) return numberOf(value)
  if (!/^(date|time|timestamp|timestamptz)(_ns)?$/.test(type)) throw new MetricProblem('type')
  if (typeof value !== 'string') throw new MetricProblem('arguments')
  if (type === 'date' || type === 'time') {
    if (!(type === 'date' ? dayOnly : clockOnly).test(value)) throw new MetricProblem('format')
    return quoteText(value)
  }
  const [, , , , , zone] = momentOf.exec(value) ?? []
  if (!momentOf.test(value)) throw new MetricProblem('format')
  const isZoned = zone !== undefined
  if (!type.startsWith('timestamptz')) {
    if (isZoned && zone !== 'Z') throw new MetricProblem('timezone')
    return quoteText(isZoned ? value.slice(0, -1) : value)
  }
  if (!isZoned && !universal.has(defaultTimezone)) throw new MetricProblem('timezone')
  return quoteText(isZoned ? value : `${dayOnly.test(value) ? `${value} 00:00:00` : value}+00`)
}
