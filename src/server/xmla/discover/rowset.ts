/** What a rowset is: its columns in the order of [MS-SSAS], its restrictions, and how its rows are found. */

import { Fault } from '../../../base/fault.ts'
import type { QueryContext, QueryService } from '../../../query/query-service.ts'
import type { Cube } from '../../../semantics/cube/model.ts'
import type { SessionFormula } from '../../../semantics/mdx/session.ts'
import type { Restrictions } from '../../../wire/soap/read-request.ts'
import type { RowsetColumn, RowsetRow, RowsetType, RowsetValue } from '../../../wire/soap/rowset.ts'
import type { OpenConnection } from '../at-work.ts'
import type { XmlaSession } from '../sessions.ts'

export interface DiscoverContext {
  /** Nickname of the catalog that the connection is for. */
  readonly catalog: string
  /** Of that catalog, as the principal may see them; made when first asked for, because most messages need none. */
  readonly cubes: () => Promise<readonly Cube[]>
  /** When the data of a cube was last changed; undefined where that is not told. */
  readonly dataTimes: () => Promise<(cube: Cube) => Date | undefined>
  readonly queries: QueryService
  readonly on: QueryContext
  readonly signal: AbortSignal
  /** What the XMLA session of the message defines. */
  readonly formulas: readonly SessionFormula[]
  /** Those that the principal may see. */
  readonly sessions: () => readonly XmlaSession[]
  readonly connections: () => readonly OpenConnection[]
}

/** Values by column. A column that is absent has no value. */
export type Row = Readonly<Record<string, RowsetValue>>

interface Restriction {
  readonly name: string
  readonly type: RowsetType
  /**
   * How it holds: - `equal`: the column has one of the values. - `bits`: it shares a bit with the value. - `visible`: what
   * is visible has bit 1, and all that is shown is. - `own`: the rowset sees to it.
   */
  readonly by: 'equal' | 'bits' | 'visible' | 'own'
}

export interface Rowset {
  readonly name: string
  readonly guid: string
  readonly columns: readonly RowsetColumn[]
  readonly restrictions: readonly Restriction[]
  readonly rows: (
    context: DiscoverContext,
    restrictions: Restrictions,
  ) => readonly Row[] | Promise<readonly Row[]>
}

const types: Readonly<Record<string, RowsetType>> = {
  s: 'string',
  us: 'unsignedShort',
  h: 'short',
  i: 'int',
  u: 'unsignedInt',
  b: 'boolean',
  t: 'dateTime',
  g: 'uuid',
  l: 'unsignedLong',
  x: 'xml',
}

/** Columns from `NAME:type`, where a `?` behind the type means that a row may lack it. */
export function columnsOf(text: string): readonly RowsetColumn[] {
  return words(text).map(([name, kind]) => {
    const type = types[kind.replace('?', '')]
    if (type === undefined) throw new Error(`the column ${name} has no type`)
    return { name, type, optional: kind.endsWith('?') }
  })
}

/** Restrictions from `NAME:type:by`; without `by`, `equal`. */
export function restrictionsOf(text: string): readonly Restriction[] {
  return words(text).map(([name, kind, by = 'equal']) => ({
    ...{ name, type: types[kind] ?? 'string' },
    by: by as Restriction['by'],
  }))
}

function words(text: string): readonly (readonly [name: string, kind: string, by?: string])[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => word.split(':') as [string, string, string?])
}

/** The rows that a client asked for, by position. @throws Fault `bad_request` for an unknown restriction */
export async function readRows(
  rowset: Rowset,
  context: DiscoverContext,
  given: Restrictions,
): Promise<readonly RowsetRow[]> {
  const held = [...given].flatMap(([name, values]) => {
    const restriction = rowset.restrictions.find((each) => each.name.toUpperCase() === name)
    if (restriction === undefined)
      throw new Fault('bad_request', `The rowset ${rowset.name} has no restriction \`${name}\`.`)
    const wanted = values.filter((value) => value !== '')
    return wanted.length > 0 ? [{ ...restriction, values: wanted }] : []
  })
  const rows = await rowset.rows(context, new Map(held.map(({ name, values }) => [name, values])))
  return rows
    .filter((row) =>
      held.every(({ name, by, values }) => values.some((value) => holds(row[name], by, value))),
    )
    .map((row) => rowset.columns.map(({ name }) => row[name]))
}

function holds(found: RowsetValue, by: Restriction['by'], value: string): boolean {
  switch (by) {
    case 'own':
      return true
    case 'visible':
      return (Number(value) & 1) !== 0
    case 'bits':
      return (Number(value) & Number(found ?? 0)) !== 0
    case 'equal':
      return found !== undefined && String(found) === value
  }
}
