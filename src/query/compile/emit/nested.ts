/**
 * Writes nested values: fields inside a column, and a whole column as JSON with the masks of its fields. A masked field is
 * masked where it stands, so nothing above can see what the mask hides. Chooses no mask; see protect.ts.
 */

import { quoteText } from '../../../base/sql-text.ts'
import { fieldsIn, type IcebergType, type NestedField } from '../../../core/iceberg-type.ts'
import type { SqlType } from '../../../core/sql-type.ts'
import type { Step } from '../base/nested-fields.ts'
import { isNested, servedType } from '../base/types.ts'
import { byKey } from '../functions/collections.ts'
import type { Dialect } from './dialect.ts'

/** Writes a masked field. @param sql the raw value @returns undefined where no mask applies to it */
export type WriteMask = (field: NestedField, sql: string) => string | undefined

interface Writer {
  readonly dialect: Dialect
  readonly mask: WriteMask
}

/** Of what is raw. */
export const noMasks: WriteMask = () => undefined

/**
 * A field inside a column, raw.
 * @param column SQL of the column
 */
export function stepsFrom(dialect: Dialect, column: string, steps: readonly Step[]): string {
  return steps.reduce(
    (sql, step) => (step.to === 'field' ? dialect.nested.field(sql, step.field) : sql),
    column,
  )
}

/**
 * The value of a field that lies in a list, for each element of the list: an array.
 * @param column SQL of the column
 * @param write the shown value of a raw one
 */
export function eachInList(
  dialect: Dialect,
  column: string,
  steps: readonly Step[],
  write: (sql: string) => string,
): string {
  const at = steps.findIndex(({ to }) => to === 'element')
  if (at < 0) return write(stepsFrom(dialect, column, steps))
  const list = stepsFrom(dialect, column, steps.slice(0, at))
  return dialect.nested.each(list, 'y', write(stepsFrom(dialect, 'y', steps.slice(at + 1))))
}

/**
 * A value of a type that is not a primitive, as it is shown: JSON, an array of JSON or an array.
 * @param sql the raw value
 */
export function emitNested(dialect: Dialect, type: IcebergType, sql: string, mask: WriteMask): string {
  const writer: Writer = { dialect, mask }
  if (typeof type === 'string') return dialect.raw(sql, type)
  if (type.type !== 'list') return dialect.nested.json(jsonText(writer, type, sql, 0))
  const [element] = fieldsIn(type)
  if (element === undefined) return dialect.raw(sql, type)
  const variable = 'x0'
  if (isNested(type)) {
    const text = fieldText(writer, element, variable, 1)
    return dialect.nested.each(sql, variable, dialect.nested.json(text))
  }
  const masked = mask(element, variable)
  return masked === undefined ? dialect.raw(sql, type) : dialect.nested.each(sql, variable, masked)
}

/** A value in an array: of a primitive type, else JSON. @param sql the raw value */
export function emitElement(dialect: Dialect, field: NestedField, sql: string, mask: WriteMask): string {
  if (typeof field.type === 'string') return mask(field, sql) ?? dialect.raw(sql, field.type)
  return dialect.nested.json(fieldText({ dialect, mask }, field, sql, 0))
}

/** A field's value as the text of JSON, masked; NULL of NULL. */
function fieldText(writer: Writer, field: NestedField, sql: string, depth: number): string {
  const masked = writer.mask(field, sql)
  if (masked !== undefined && typeof field.type === 'string')
    return primitiveText(writer.dialect, field.type, masked)
  // The only mask of a nested value hides all of it.
  return masked === undefined ? jsonText(writer, field.type, sql, depth) : 'CAST(NULL AS VARCHAR)'
}

function jsonText(writer: Writer, type: IcebergType, sql: string, depth: number): string {
  const { dialect } = writer
  const { nested } = dialect
  if (typeof type === 'string') return primitiveText(dialect, type, dialect.raw(sql, type))
  const fields = fieldsIn(type)
  const variable = `x${depth}`
  const text = (field: NestedField, from: string) =>
    `coalesce(${fieldText(writer, field, from, depth + 1)}, 'null')`
  const wrapped = (open: string, inside: string, close: string) =>
    `CASE WHEN ${sql} IS NOT NULL THEN '${open}' || ${inside} || '${close}' END`
  if (type.type === 'struct') {
    const members = fields
      .toSorted((a, b) => byKey(a.name, b.name))
      .map((field) => {
        const value = text(field, nested.field(sql, field))
        return `${quoteText(`${JSON.stringify(field.name)}: `)} || ${value}`
      })
    return wrapped('{', members.join(` || ', ' || `), '}')
  }
  const [first, second] = fields
  if (type.type === 'list' && first !== undefined)
    return wrapped('[', nested.joined(nested.each(sql, variable, text(first, variable))), ']')
  if (first === undefined || second === undefined) throw new RangeError('no fields in a nested type')
  const key = keyText(dialect, first, nested.key(variable, first))
  const member = `${nested.quoted(key)} || ': ' || ${text(second, nested.value(variable, second))}`
  return wrapped('{', nested.joined(nested.ordered(nested.entries(sql), variable, key, member)), '}')
}

/** A map's key as the name of a member. */
function keyText(dialect: Dialect, { type }: NestedField, sql: string): string {
  const served = typeof type === 'string' ? servedType(type) : undefined
  if (served === undefined) throw new RangeError('no text for a key of this type')
  return dialect.cast(dialect.raw(sql, type), served.type, 'text')
}

/** A value of a primitive type as the text of JSON, as PostgreSQL's to_jsonb has it. @param sql of its PostgreSQL type */
function primitiveText(dialect: Dialect, iceberg: string, sql: string): string {
  const type: SqlType = servedType(iceberg)?.type ?? 'text'
  const { nested } = dialect
  const text = dialect.cast(sql, type, 'text')
  switch (type) {
    case 'bool':
      return `CASE WHEN ${sql} THEN 'true' WHEN NOT ${sql} THEN 'false' END`
    case 'int2':
    case 'int4':
    case 'int8':
    case 'numeric':
      return text
    case 'float4':
    case 'float8':
      return `CASE WHEN ${nested.isFinite(sql)} THEN ${text} ELSE '"' || ${text} || '"' END`
    case 'text':
    case 'varchar':
      return nested.quoted(sql)
    case 'timestamp':
      return `'"' || replace(${text}, ' ', 'T') || '"'`
    case 'timestamptz':
      return `'"' || replace(${text}, ' ', 'T') || ':00"'`
    case 'bytea':
      return `'"\\' || ${text} || '"'`
    default:
      return `'"' || ${text} || '"'`
  }
}
