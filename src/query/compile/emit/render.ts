/** Renders compiled SQL for one run: fills in relations, parameters and the salt. */

import { quoteIdentifier } from '../../../base/sql-text.ts'
import type { GovernedTable } from '../../../core/governed-table.ts'
import { saltBytesMin } from '../../../core/mask.ts'
import { type DialectName, elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import type { LiteralExpr } from '../base/ir.ts'
import { notNegative, roundedCount } from '../base/row-count.ts'
import { SqlError } from '../base/sql-error.ts'
import { isInteger } from '../base/types.ts'
import { literalElements, literalOf, nullOf } from '../resolve/coerce.ts'
import type { Dialect } from './dialect.ts'
import { duckdb } from './duckdb.ts'
import { slotMark } from './expression.ts'
import { emitLiteral } from './literal.ts'
import type { Member } from './long-list.ts'
import { trino } from './trino.ts'

/** `value`: a typed literal. `limit`, `offset`: digits, or what stands for NULL. `elements`: the right side of IN. */
interface ParameterSlot {
  readonly slot: 'parameter'
  readonly number: number
  readonly type: SqlType
  readonly form: 'value' | 'limit' | 'offset' | 'elements'
}

/** The right side of IN of a long list. */
interface MembersSlot {
  readonly slot: 'members'
  readonly type: SqlType
  readonly members: readonly Member[]
}

const forms: ReadonlyMap<string, ParameterSlot['form']> = new Map([
  ['p', 'value'],
  ['n', 'limit'],
  ['o', 'offset'],
  ['e', 'elements'],
])

export type SqlPart =
  | string
  | { readonly slot: 'relation'; readonly table: GovernedTable }
  | ParameterSlot
  | MembersSlot
  | { readonly slot: 'salt' }
  /** A copy of the visible rows of a table's appearance. */
  | { readonly slot: 'copy'; readonly id: string }

export const dialects: Readonly<Record<DialectName, Dialect>> = { duckdb, trino }

/** Splits emitted SQL at its marks. @throws SqlError XX000 for an unknown mark */
export function splitSlots(
  sql: string,
  tables: ReadonlyMap<string, GovernedTable>,
  parameterTypes: ReadonlyMap<number, SqlType>,
): readonly SqlPart[] {
  return sql.split(slotMark).map((text, index): SqlPart => {
    if (index % 2 === 0) return text
    const name = text.slice(1)
    if (text.startsWith('m')) return { slot: 'members', ...(JSON.parse(name) as Omit<MembersSlot, 'slot'>) }
    if (text === 's') return { slot: 'salt' }
    if (text.startsWith('r')) {
      const table = tables.get(name)
      if (table !== undefined) return { slot: 'relation', table }
    }
    if (text.startsWith('c') && tables.has(name)) return { slot: 'copy', id: name }
    const number = Number(name)
    const type = parameterTypes.get(number)
    const form = forms.get(text.charAt(0))
    if (type === undefined || form === undefined)
      throw new SqlError('XX000', 'The statement could not be compiled.')
    return { slot: 'parameter', number, type, form }
  })
}

interface RenderOptions {
  /** How the engine names a table. Default: the parts of its `relation`, quoted. */
  readonly relation?: (table: GovernedTable) => string
  /** How the engine names a copy; required where the SQL reads copies. */
  readonly copy?: (id: string) => string
  /** Random bytes of this run; required where the SQL has a slot for them. */
  readonly salt?: Uint8Array
  /** PostgreSQL text forms, inlined as typed literals. Without them parameters stay as `$n` (DuckDB only). */
  readonly parameters?: readonly (string | null)[]
}

/**
 * The SQL for one run.
 *
 * @throws SqlError 42P02 where a parameter has no value, 22P02 and similar where its value is invalid, 42501 where the
 *   engine has no name for a table or the salt is missing
 */
export function renderSql(parts: readonly SqlPart[], name: DialectName, options: RenderOptions = {}): string {
  const dialect = dialects[name]
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      if (part.slot === 'relation')
        return (options.relation ?? ((table) => relationOf(table, name)))(part.table)
      if (part.slot === 'copy') return copyOf(part.id, options)
      if (part.slot === 'salt') return dialect.literal(saltOf(options), 'bytea')
      if (part.slot === 'members') return renderMembers(dialect, part, options.parameters)
      if (options.parameters === undefined) {
        if (name !== 'duckdb') throw new SqlError('42P02', `there is no value for parameter $${part.number}`)
        return part.form === 'elements' ? `(SELECT unnest($${part.number}))` : `$${part.number}`
      }
      return renderParameter(dialect, part, options.parameters[part.number - 1])
    })
    .join('')
}

function renderMembers(
  dialect: Dialect,
  { type, members }: MembersSlot,
  parameters: RenderOptions['parameters'],
): string {
  const texts = members.map((member) => {
    if (typeof member === 'string' || member === null) return member
    const [number, own] = member
    if (parameters === undefined) return undefined
    const value = parameters[number - 1]
    if (value === undefined) throw new SqlError('42P02', `there is no value for parameter $${number}`)
    return value === null ? null : literalOf(value, own).value
  })
  const known = texts.filter((text) => text !== undefined)
  const whole = known.length === texts.length ? dialect.members?.(known, type) : undefined
  if (whole !== undefined) return whole
  const items = texts.map((text, index) => {
    const member = members[index]
    if (text === undefined && Array.isArray(member)) return `CAST($${member[0]} AS ${dialect.typeName(type)})`
    return emitLiteral(dialect, text === null || text === undefined ? nullOf(type) : literalOf(text, type))
  })
  return `(${items.join(', ')})`
}

function renderParameter(dialect: Dialect, part: ParameterSlot, value: string | null | undefined): string {
  if (value === undefined) throw new SqlError('42P02', `there is no value for parameter $${part.number}`)
  const literal = value === null ? nullOf(part.type) : literalOf(value, part.type)
  if (part.form === 'elements') return renderElements(dialect, literal)
  if (part.form === 'value') return emitLiteral(dialect, literal)
  // NULL limits nothing, as where a client describes a plan without values.
  if (literal.value === null) return part.form === 'limit' ? 'ALL' : '0'
  return notNegative(roundedCount(literal.value, part.type), part.form === 'limit' ? 'LIMIT' : 'OFFSET')
}

/** The right side of IN: nothing is in an empty array, and whether anything is in NULL is unknown. */
function renderElements(dialect: Dialect, array: LiteralExpr): string {
  const none = nullOf(isArray(array.type) ? elementOf(array.type) : array.type)
  const elements = literalElements(array) ?? [none]
  if (elements.length === 0) return `(SELECT ${emitLiteral(dialect, none)} WHERE FALSE)`
  return `(${elements.map((each) => emitLiteral(dialect, uncast(each))).join(', ')})`
}

/** An integer as digits alone. Engines take long for thousands of casts. */
function uncast(element: LiteralExpr): LiteralExpr {
  const isShort = isInteger(element.type) && element.value !== null && element.value.length < 19
  return isShort ? { ...element, type: 'int4' } : element
}

function relationOf(table: GovernedTable, name: DialectName): string {
  const parts = table.relation[name]
  if (parts === undefined || parts.length === 0)
    throw new SqlError('42501', `permission denied for table ${table.tableName}`, undefined, {
      detail: `${name} has no name for ${table.schemaName}.${table.tableName}`,
    })
  return parts.map(quoteIdentifier).join('.')
}

function copyOf(id: string, { copy }: RenderOptions): string {
  if (copy === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
  return copy(id)
}

function saltOf({ salt }: RenderOptions): string {
  if (salt === undefined || salt.length < saltBytesMin)
    throw new SqlError('42501', 'permission denied', undefined, {
      detail: 'the salt is missing or too short',
    })
  return Buffer.from(salt).toString('hex')
}
