/** Answers a query on `$system` from the rowset that it names. It sees what Discover shows, and nothing else. */

import { Fault } from '../../base/fault.ts'
import type { RowsetColumn, RowsetRow, RowsetValue } from '../../wire/soap/rowset.ts'
import { type DiscoverContext, type Rowset, readRows } from './discover/rowset.ts'
import { rowsetOf } from './discover/rowsets.ts'
import { readSystemQuery, type SystemCondition, type SystemQuery, type SystemValue } from './system-query.ts'

type Holds = (row: RowsetRow) => boolean
type Comparison = Extract<SystemCondition, { readonly kind: 'comparison' }>

/** @throws Fault `bad_request` for an unknown rowset, column or parameter */
export async function readSystemRows(
  context: DiscoverContext,
  text: string,
  parameters: ReadonlyMap<string, string>,
): Promise<{ readonly columns: readonly RowsetColumn[]; readonly rows: readonly RowsetRow[] }> {
  const query = readSystemQuery(text)
  const rowset = rowsetOf(query.rowset)
  const given = (value: SystemValue) => givenValue(value, parameters)
  const { restrictions, rest } = restrictionsOf(query, rowset, given)
  const conditions = rest.map((condition) => conditionOf(condition, rowset, given))
  const selected = query.columns?.map(({ column, as }) => ({ place: placeOf(rowset, column), as }))
  const shown = selected ?? rowset.columns.map((_, place) => ({ place, as: undefined }))
  const order = query.orderBy.map(({ column, isFalling }) => {
    const named = shown.find(({ as }) => as !== undefined && isSame(as, column))
    return { place: named?.place ?? placeOf(rowset, column), isFalling }
  })
  const found = (await readRows(rowset, context, restrictions))
    .filter((row) => conditions.every((holds) => holds(row)))
    .toSorted((one, other) => {
      for (const { place, isFalling } of order) {
        const compared = compare(one[place], other[place])
        if (compared !== 0) return isFalling ? -compared : compared
      }
      return 0
    })
    .map((row) => shown.map(({ place }) => row[place]))
  const rows = query.isDistinct
    ? [...new Map(found.map((row) => [JSON.stringify(row.map(identity)), row])).values()]
    : found
  return {
    columns: shown.flatMap(({ place, as }) => {
      const column = rowset.columns[place]
      return column === undefined ? [] : [as === undefined ? column : { ...column, name: as }]
    }),
    rows: rows.slice(0, query.top),
  }
}

const isSame = (one: string, other: string) => one.toUpperCase() === other.toUpperCase()

function placeOf(rowset: Rowset, name: string): number {
  const place = rowset.columns.findIndex((each) => isSame(each.name, name))
  if (place < 0) throw new Fault('bad_request', `The rowset ${rowset.name} has no column \`${name}\`.`)
  return place
}

/** What a rowset is asked for, of a query: what must hold of every row by equality. The rest is looked at in its rows. */
function restrictionsOf(query: SystemQuery, rowset: Rowset, given: (value: SystemValue) => string) {
  const restrictions = new Map<string, readonly string[]>()
  for (const { column, value } of query.restrictions) {
    const name = column.toUpperCase()
    if (restrictions.has(name))
      throw new Fault('bad_request', `The restriction \`${column}\` is given twice.`)
    restrictions.set(name, [given(value)])
  }
  const rest = (query.where === undefined ? [] : conjuncts(query.where)).filter((condition) => {
    if (condition.kind !== 'comparison' || condition.operator !== '=') return true
    const name = condition.column.toUpperCase()
    const value = given(condition.value)
    // A restriction by an empty text is none, and a comparison with one is.
    if (
      value === '' ||
      restrictions.has(name) ||
      !rowset.restrictions.some((each) => isSame(each.name, name))
    )
      return true
    restrictions.set(name, [value])
    return false
  })
  return { restrictions, rest }
}

function conjuncts(condition: SystemCondition): readonly SystemCondition[] {
  return condition.kind === 'and' ? condition.of.flatMap(conjuncts) : [condition]
}

function conditionOf(
  condition: SystemCondition,
  rowset: Rowset,
  given: (value: SystemValue) => string,
): Holds {
  const inner = (each: SystemCondition) => conditionOf(each, rowset, given)
  switch (condition.kind) {
    case 'comparison':
      return comparisonOf(condition, placeOf(rowset, condition.column), given(condition.value))
    case 'not': {
      const holds = inner(condition.of)
      return (row) => !holds(row)
    }
    case 'and': {
      const all = condition.of.map(inner)
      return (row) => all.every((holds) => holds(row))
    }
    case 'or': {
      const any = condition.of.map(inner)
      return (row) => any.some((holds) => holds(row))
    }
  }
}

/** A comparison with a value that is absent is one with the empty text. */
function comparisonOf({ operator }: Comparison, place: number, value: string): Holds {
  const order = (row: RowsetRow) => {
    const found = row[place]
    return compare(found, isNumber(found) && value.trim() !== '' ? Number(value) : value)
  }
  switch (operator) {
    case '=':
      return (row) => textOf(row[place]) === value
    case '<>':
      return (row) => textOf(row[place]) !== value
    case '<':
      return (row) => order(row) < 0
    case '<=':
      return (row) => order(row) <= 0
    case '>':
      return (row) => order(row) > 0
    case '>=':
      return (row) => order(row) >= 0
  }
}

/** As it is written in the answer, which is what a client compares with. */
const textOf = (value: RowsetValue) =>
  value instanceof Date ? value.toISOString().slice(0, 19) : String(value ?? '')

const identity = (value: RowsetValue) => (Array.isArray(value) ? value.map(String) : textOf(value))

const isNumber = (value: RowsetValue) => typeof value === 'number' || typeof value === 'bigint'

function compare(one: RowsetValue, other: RowsetValue): number {
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other)
  const [left, right] = [textOf(one), textOf(other)]
  return left < right ? -1 : left > right ? 1 : 0
}

function givenValue(value: SystemValue, parameters: ReadonlyMap<string, string>): string {
  if (value.kind === 'literal') return value.text
  const found = [...parameters].find(([name]) => isSame(name, value.name))
  if (found === undefined) throw new Fault('bad_request', `The parameter \`@${value.name}\` has no value.`)
  return found[1]
}
