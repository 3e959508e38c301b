/**
 * The tabular face of a cube: a table for each dimension, its columns for the levels, and the measures in the first. Names
 * are found in any case. What the reader may not see is not in the cube, so it is not found either.
 */

import { keySql } from '../../query/compile/metrics/key.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import type { Cube, LevelKey, Measure } from '../cube/model.ts'
import { type DaxType, daxTypeOf } from './values.ts'

export interface TabularColumn {
  /** Of its table. */
  readonly table: string
  readonly name: string
  readonly caption: string
  readonly description: string
  readonly folder: string
  readonly key: LevelKey
  readonly type: DaxType
  /** The key over the relation `f`. Columns of one table with the same are one. */
  readonly sql: string
}

/** Levels of a calendar, outermost first. */
interface TabularHierarchy {
  readonly name: string
  readonly caption: string
  readonly folder: string
  readonly levels: readonly { readonly name: string; readonly column: TabularColumn }[]
}

interface TabularTable {
  readonly name: string
  readonly caption: string
  readonly columns: readonly TabularColumn[]
  readonly hierarchies: readonly TabularHierarchy[]
  /** Of the first table only. */
  readonly measures: readonly Measure[]
  /** Whether it is the cube's own, whose rows are counted. */
  readonly isOwn: boolean
}

export interface TabularModel {
  readonly cube: Cube
  readonly tables: readonly TabularTable[]
}

/** What clients call a model where they name no perspective. */
export const wholeModel = 'Model'

/** The face of a cube. */
export function tabularOf(cube: Cube): TabularModel {
  const tables = cube.dimensions.map((dimension): TabularTable => {
    const columns: TabularColumn[] = []
    const hierarchies: TabularHierarchy[] = []
    const columnFor = (given: Omit<TabularColumn, 'table' | 'type' | 'sql'>): TabularColumn => {
      const sql = keySql({ name: given.key.column, grain: given.key.grain })
      const found = columns.find((each) => each.sql === sql || isDayOf(each.key, given.key))
      if (found !== undefined) return found
      const column = { ...given, table: dimension.name, type: daxTypeOf(given.key.type), sql }
      columns.push(column)
      return column
    }
    for (const { name, caption, description, folder, kind, levels } of dimension.hierarchies) {
      if (kind === 'attribute') {
        for (const level of levels)
          if (level.kind === 'key') columnFor({ name, caption, description, folder, key: level.key })
        continue
      }
      const placed = levels.flatMap((level) => {
        if (level.kind !== 'key') return []
        const title = `${level.key.column.split('__').at(-1)} (${level.name})`
        const shown = { name: title, caption: title, description, folder, key: level.key }
        return [{ name: level.name, column: columnFor(shown) }]
      })
      hierarchies.push({ name, caption, folder, levels: placed })
    }
    return {
      ...{ name: dimension.name, caption: dimension.caption, columns, hierarchies, measures: [] },
      isOwn: dimension.table === cube.table,
    }
  })
  return { cube, tables: withMeasures(cube, tables) }
}

/** The day of a date column is the column. */
function isDayOf(one: LevelKey, other: LevelKey): boolean {
  return (
    one.column === other.column && one.grain === undefined && one.type === 'date' && other.grain === 'day'
  )
}

function withMeasures({ table, measures }: Cube, tables: readonly TabularTable[]): readonly TabularTable[] {
  const [first, ...others] = tables
  if (first?.isOwn) return [{ ...first, measures }, ...others]
  const taken = tables.some(({ name }) => isSame(name, table.name))
  const name = taken ? `${table.name} (metrics)` : table.name
  return [{ name, caption: name, columns: [], hierarchies: [], measures, isOwn: true }, ...tables]
}

/** Whether two names are one. */
export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** @throws Fault `bad_request` for a table that does not exist or may not be seen */
export function tableNamed({ tables }: TabularModel, name: string): TabularTable {
  return tables.find((table) => isSame(table.name, name)) ?? refuseDax('a table is not in this model')
}

/** The column of a name; undefined where there is none, or a measure. */
export function columnNamed(
  model: TabularModel,
  table: string | undefined,
  name: string,
): TabularColumn | undefined {
  const tables = table === undefined ? model.tables : [tableNamed(model, table)]
  const found = tables.flatMap(({ columns }) => columns.filter((column) => isSame(column.name, name)))
  return found.length === 1 ? found[0] : undefined
}

/** The measure of a name; undefined where there is none. */
export function measureNamed({ cube }: TabularModel, name: string): Measure | undefined {
  return cube.measures.find((measure) => isSame(measure.name, name))
}
