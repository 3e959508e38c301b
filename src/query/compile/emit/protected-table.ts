/** Writes a governed table with its filters and masks: the only place at which its raw columns are read. */

import { quoteIdentifier } from '../../../base/sql-text.ts'
import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import { isMaskAction } from '../../../core/mask.ts'
import { columnAt, type Expr, type TableItem } from '../base/ir.ts'
import { isInList, placeAt } from '../base/nested-fields.ts'
import { SqlError } from '../base/sql-error.ts'
import type { Barrier } from '../protect/barrier.ts'
import type { NestedMask } from '../protect/nested-masks.ts'
import { rawAlias } from '../protect/policy-expression.ts'
import type { ProtectedColumn, Protection } from '../protect/protect.ts'
import type { Dialect } from './dialect.ts'
import { type Emitter, emitExpression, slotMark } from './expression.ts'
import { emitMask } from './mask.ts'
import { eachInList, emitElement, emitNested, noMasks, stepsFrom, type WriteMask } from './nested.ts'

/** The same SQL. */
export const same = (sql: string): string => sql

/** Whether a column is written twice: behind the barrier as `c…`, and bare as `b…`. */
export function isWrittenTwice(barrier: Barrier, item: Pick<TableItem, 'id'>, index: number): boolean {
  return barrier.hides(item, index) && barrier.isReadBare(item, index)
}

/** Writes expressions of filters and masks, which read raw columns only. @param form wraps each raw column */
export function rawEmitter(emitter: Emitter, table: GovernedTable, form: (sql: string) => string): Emitter {
  const column = (relation: string, index: number) => {
    if (relation !== rawAlias) throw new SqlError('XX000', 'The statement could not be compiled.')
    return rawValue(emitter.dialect, table, index, form, noMasks)
  }
  return { ...emitter, column, bareColumn: undefined }
}

/** A column, or a field inside one, as it is shown. @param form wraps what is read of the table */
function rawValue(
  dialect: Dialect,
  table: GovernedTable,
  index: number,
  form: (sql: string) => string,
  mask: WriteMask,
): string {
  const place = placeAt(table, index)
  const { type } = columnOf(table, index)
  if (place !== undefined && isInList(place)) {
    const column = form(physical(columnOf(table, place.column)))
    return eachInList(dialect, column, place.steps, (raw) => emitElement(dialect, place.field, raw, mask))
  }
  const sql = read(dialect, table, index, form)
  return typeof type === 'string' ? dialect.raw(sql, type) : emitNested(dialect, type, sql, mask)
}

/** A column, or a field inside one that lies in no list, as the table has it. */
function read(dialect: Dialect, table: GovernedTable, index: number, form: (sql: string) => string): string {
  const place = placeAt(table, index)
  if (place === undefined) return form(physical(columnOf(table, index)))
  const { alone } = dialect.nested
  return alone === undefined
    ? stepsFrom(dialect, form(physical(columnOf(table, place.column))), place.steps)
    : form(alone(rawAlias, place.field))
}

function columnOf(table: GovernedTable, index: number): GovernedColumn {
  const found = columnAt(table, index)
  if (found === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
  return found
}

function physical({ name }: GovernedColumn): string {
  return `${rawAlias}.${quoteIdentifier(name)}`
}

/** The condition of the rows that pass all filters; empty without any. */
export function emitFilters(emitter: Emitter, filters: readonly Expr[]): string {
  return filters.map((each) => emitExpression(emitter, each)).join(' AND ')
}

/** Writes a table with its filters and masks. @param condition of the visible rows; empty without filters */
export function emitProtected(
  emitter: Emitter,
  item: TableItem,
  { columns, filters }: Protection,
  condition: string,
  barrier: Barrier,
): string {
  const { dialect } = emitter
  const isFiltered = filters.length > 0
  const ifVisible = (sql: string) => (isFiltered ? `CASE WHEN ${condition} THEN ${sql} END` : sql)
  const hidden = (sql: string) => dialect.flat(ifVisible(sql))
  // Without barriers around masks, a mask that can fail blanks all columns of hidden rows.
  const blanksAll = !barrier.aroundPolicies && columns.some(({ fallible }) => fallible)
  const outputs = columns.flatMap((column) => {
    const { index } = column
    const guardsMask = column.fallible && barrier.aroundPolicies
    const value = emitMasked(emitter, item.table, column, guardsMask ? hidden : same)
    if (!barrier.hides(item, index) && !guardsMask && !blanksAll) return [`${value} AS c${index + 1}`]
    const shown = hidden(value)
    if (!isWrittenTwice(barrier, item, index)) return [`${shown} AS c${index + 1}`]
    return [`${shown} AS c${index + 1}`, `${guardsMask ? shown : value} AS b${index + 1}`]
  })
  const relation = `${slotMark}r${item.id}${slotMark}`
  const where = isFiltered ? ` WHERE ${condition}` : ''
  return `SELECT ${outputs.join(', ') || '1 AS c0'} FROM ${relation} AS ${rawAlias}${where}`
}

/** @param form wraps the raw column that the mask reads */
function emitMasked(
  emitter: Emitter,
  table: GovernedTable,
  { index, mask, expression, nested }: ProtectedColumn,
  form: (sql: string) => string,
): string {
  if (nested !== undefined)
    return rawValue(emitter.dialect, table, index, form, maskInside(emitter, table, nested, form))
  const raw = rawEmitter(emitter, table, form)
  if (mask === undefined) return raw.column(rawAlias, index)
  if (expression !== undefined) return emitExpression(raw, expression)
  if (!isMaskAction(mask.action) || mask.action === 'apply-expression')
    throw new SqlError('42501', 'permission denied')
  const salt = `${slotMark}s${slotMark}`
  const { type } = columnOf(table, index)
  // What hides all of it reads nothing, also in a list.
  const sql = mask.action === 'replace-with-null' ? '' : read(emitter.dialect, table, index, form)
  return emitMask(emitter.dialect, mask.action, sql, type, salt)
}

/** Writes the masked fields inside a column. */
function maskInside(
  emitter: Emitter,
  table: GovernedTable,
  nested: ReadonlyMap<number, NestedMask>,
  form: (sql: string) => string,
): WriteMask {
  const salt = `${slotMark}s${slotMark}`
  return (field, sql) => {
    const found = nested.get(field.fieldId)
    if (found === undefined) return undefined
    const { mask, expression, index } = found
    if (expression !== undefined) {
      const raw = rawEmitter(emitter, table, form)
      // The masked field itself is the value at hand, in a list one of many.
      const own = emitter.dialect.raw(sql, field.type)
      const column = (relation: string, at: number) =>
        relation === rawAlias && at === index ? own : raw.column(relation, at)
      return emitExpression({ ...raw, column }, expression)
    }
    if (!isMaskAction(mask.action) || mask.action === 'apply-expression')
      throw new SqlError('42501', 'permission denied')
    return emitMask(emitter.dialect, mask.action, sql, field.type, salt)
  }
}
