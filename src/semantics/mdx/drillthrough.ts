/**
 * DRILLTHROUGH: what one cell is made of, through the read path: every row of the table, with the values of the cell's
 * measure. Rows that are alike in every column are merged only where an attested metric is among the columns, because
 * that shows no single value.
 */

import type { MdxStatement, NamePart, ReturnedColumn, ReturnedPart } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Hierarchy, Measure } from '../cube/model.ts'
import { memberCaption, memberUniqueName } from '../cube/names.ts'
import { measuredCoordinates } from './cell.ts'
import { at, type Context } from './context.ts'
import { type Condition, conditionOf } from './data.ts'
import { type EvaluateParts, openSelect } from './evaluate-select.ts'
import { type NeedReader, rowsAt, runRead } from './read-needs.ts'
import { resolveName } from './resolve.ts'
import { tuplesOf } from './sets.ts'
import type { Space, SpaceLevel } from './space.ts'
import { drillStatement } from './statements.ts'
import type { Tabular } from './tabular.ts'

/** Rows of a drill-through where the client names no number, and the most. */
const rowsDefault = 1_000
const rowsMost = 10_000

/** What is read for the details of a cell. */
export interface DrillTarget {
  readonly conditions: readonly Condition[]
  readonly columns: readonly DrillColumn[]
}

type DrillColumn =
  | {
      readonly kind: 'level'
      readonly name: string
      readonly level: SpaceLevel
      /** What is shown of the member; its key where undefined. */
      readonly shown?: { readonly part: ReturnedPart; readonly at: Hierarchy } | undefined
    }
  | { readonly kind: 'measure'; readonly name: string; readonly measure: Measure }

type DrillThrough = Extract<MdxStatement, { kind: 'drillthrough' }>

/** @throws Fault `bad_request` unless the statement is about one cell without a calculated member; Missing */
export function drillTarget(parts: EvaluateParts, { select, columns: named }: DrillThrough): DrillTarget {
  let context = openSelect(parts, select)
  for (const { set } of select.axes) {
    const [tuple, ...more] = tuplesOf(context, set)
    if (tuple === undefined || more.length > 0) refuseMdx('DRILLTHROUGH is of one cell')
    context = at(context, tuple ?? [])
  }
  const { measure, members, conditions: own } = measuredCoordinates(context)
  const ofMembers = members.flatMap((member) => conditionOf([[member]]) ?? [])
  const found = {
    conditions: [...own, ...ofMembers],
    columns: columnsOf(context, { space: parts.space, measure }, named),
  }
  context.environment.data.stopIfMissing()
  return found
}

/** Reads the details of a cell. */
export async function readDetails(
  reader: NeedReader,
  { rowsMax = rowsDefault }: DrillThrough,
  { conditions, columns }: DrillTarget,
  isAttested: (measure: string) => boolean,
): Promise<Tabular> {
  const levels = columns.flatMap((column) => (column.kind === 'level' ? [column.level] : []))
  const measures = columns.flatMap((column) => (column.kind === 'measure' ? [column.measure] : []))
  const most = Math.min(rowsMax, rowsMost)
  const isMerged = measures.some(({ name }) => isAttested(name))
  const statement = drillStatement(reader.cube, { conditions, levels, measures, isMerged, rowsMax: most })
  const rows: DetailRow[] = []
  for await (const batch of runRead(reader, statement, reader.note))
    for (const row of rowsAt(batch, levels.length))
      rows.push(...(isMerged ? [row] : apart(row, levels.length, most - rows.length)))
  const ordered = [
    ...columns.filter(({ kind }) => kind === 'level'),
    ...columns.filter(({ kind }) => kind === 'measure'),
  ]
  const shown = rows.slice(0, most).map((row) =>
    row.map((value, index) => {
      const column = ordered[index]
      return column?.kind === 'level' && column.shown ? partOf(column.level, column.shown, value) : value
    }),
  )
  return {
    columns: ordered.map(({ kind, name }, index) => ({
      name,
      type: kind === 'level' || rows.some((row) => typeof row[index] === 'string') ? 'string' : 'double',
    })),
    rows: shown,
  }
}

/** A part of the member of a key. */
function partOf(
  { number }: SpaceLevel,
  { part, at }: { readonly part: ReturnedPart; readonly at: Hierarchy },
  value: DetailRow[number],
): DetailRow[number] {
  const level = at.levels[number]
  if (level?.kind !== 'key' || part === 'KEY' || part === 'MEMBERVALUE') return value
  const key = value === undefined ? null : String(value)
  return part === 'UNIQUENAME' ? memberUniqueName(at, level, key) : memberCaption(level, key)
}

type DetailRow = readonly (string | number | bigint | boolean | undefined)[]

/** As many rows as are alike. No key tells them apart, so none has a value of its own. */
function apart(row: DetailRow, levels: number, most: number): readonly DetailRow[] {
  const [keys, values, count] = [row.slice(0, levels), row.slice(levels, -1), Number(row.at(-1))]
  const own = [...keys, ...values.map((value) => (count === 1 ? value : undefined))]
  return Array.from({ length: Math.max(0, Math.min(count, most)) }, () => own)
}

/** The columns that RETURN names; without it, every attribute and the measure of the cell. */
function columnsOf(
  context: Context,
  { space, measure }: { readonly space: Space; readonly measure: Measure },
  named: readonly ReturnedColumn[],
): readonly DrillColumn[] {
  if (named.length === 0) {
    const levels = space.hierarchies.flatMap(({ hierarchy, uniqueName, levels: [, level] }): DrillColumn[] =>
      hierarchy?.kind === 'attribute' && level !== undefined
        ? [{ kind: 'level', name: uniqueName, level }]
        : [],
    )
    return [...levels, { kind: 'measure', name: measure.uniqueName, measure }]
  }
  const found = named.map((parts) => columnOf(context, parts))
  return [...new Map(found.map((column) => [column.name, column])).values()]
}

function columnOf(context: Context, { name, part }: ReturnedColumn): DrillColumn {
  const found = namedColumn(context, name)
  if (part === undefined) return found
  const at = found.kind === 'level' ? hierarchyWith(context, found.level) : undefined
  if (found.kind !== 'level' || at === undefined)
    return refuseMdx(`${part} in RETURN is of a hierarchy or level`)
  return { ...found, name: `${part}(${found.name})`, shown: { part, at } }
}

function hierarchyWith({ environment: { space } }: Context, level: SpaceLevel): Hierarchy | undefined {
  return space.hierarchies.find(({ levels }) => levels.includes(level))?.hierarchy
}

function namedColumn(context: Context, [first, ...rest]: readonly NamePart[]): DrillColumn {
  // Some clients write `$` before a dimension.
  const plain = first?.kind === 'name' ? { ...first, name: first.name.replace(/^\$/, '') } : first
  const result = resolveName(context, plain === undefined ? [] : [plain, ...rest])
  if (result.is === 'member' && result.member?.kind === 'measure')
    return { kind: 'measure', name: result.member.uniqueName, measure: result.member.measure }
  if (result.is === 'level' && result.level.key !== undefined)
    return { kind: 'level', name: result.level.uniqueName, level: result.level }
  const last = result.is === 'hierarchy' ? result.at.levels.at(-1) : undefined
  if (result.is === 'hierarchy' && last?.key !== undefined)
    return { kind: 'level', name: result.at.uniqueName, level: last }
  return refuseMdx('RETURN names hierarchies, levels and measures')
}
