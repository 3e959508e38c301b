/** Answers a query on `$system` from the rowset that it names. */

import { Fault } from '../../base/fault.ts'
import type { RowsetColumn, RowsetRow } from '../../wire/soap/rowset.ts'
import { type DiscoverContext, readRows } from './discover/rowset.ts'
import { rowsetOf } from './discover/rowsets.ts'
import { readSystemQuery, type SystemValue } from './system-query.ts'

/** @throws Fault `bad_request` for an unknown rowset, column or parameter */
export async function readSystemRows(
  context: DiscoverContext,
  text: string,
  parameters: ReadonlyMap<string, string>,
): Promise<{ readonly columns: readonly RowsetColumn[]; readonly rows: readonly RowsetRow[] }> {
  const query = readSystemQuery(text)
  const rowset = rowsetOf(query.rowset)
  const placeOf = (name: string) => {
    const place = rowset.columns.findIndex((each) => each.name.toUpperCase() === name.toUpperCase())
    if (place < 0) throw new Fault('bad_request', `The rowset ${rowset.name} has no column \`${name}\`.`)
    return place
  }
  const restrictions = new Map<string, readonly string[]>()
  const conditions: (readonly [place: number, value: string])[] = []
  for (const { column, value } of query.where) {
    const given = givenValue(value, parameters)
    const name = column.toUpperCase()
    const isRestriction = rowset.restrictions.some((each) => each.name.toUpperCase() === name)
    // A restriction by an empty text is none, and a comparison with one is.
    if (isRestriction && given !== '' && !restrictions.has(name)) restrictions.set(name, [given])
    else conditions.push([placeOf(column), given])
  }
  const rows = await readRows(rowset, context, restrictions)
  const places = query.columns?.map(placeOf) ?? rowset.columns.map((_, place) => place)
  return {
    columns: places.flatMap((place) => rowset.columns[place] ?? []),
    rows: rows
      .filter((row) => conditions.every(([place, value]) => String(row[place] ?? '') === value))
      .map((row) => places.map((place) => row[place])),
  }
}

function givenValue(value: SystemValue, parameters: ReadonlyMap<string, string>): string {
  if (value.kind === 'literal') return value.text
  const found = [...parameters].find(([name]) => name.toUpperCase() === value.name.toUpperCase())
  if (found === undefined) throw new Fault('bad_request', `The parameter \`@${value.name}\` has no value.`)
  return found[1]
}
