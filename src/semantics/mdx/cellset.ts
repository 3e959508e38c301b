/** The answer to an MDX query as readonly data: axes of tuples, the slicer, and cells by ordinal. Writers take it as it is. */

import type { CellsetAxis, CellsetCell } from '../../core/cellset.ts'
import type { Cube } from '../cube/model.ts'

export interface Cellset {
  readonly cube: Cube
  /** By ordinal. */
  readonly axes: readonly CellsetAxis[]
  /** One tuple: every hierarchy that is on no axis, with the five standard properties alone. */
  readonly slicer: CellsetAxis
  /** Properties of cells that were asked for, in upper case; else VALUE, FORMATTED_VALUE and CELL_ORDINAL. */
  readonly cellProperties: readonly string[]
  /** Those that are not empty, by ordinal. */
  readonly cells: readonly CellsetCell[]
}

/** Properties that every member of a cellset has, which are therefore never among those asked for. */
export const standardProperties: ReadonlySet<string> = new Set([
  'MEMBER_UNIQUE_NAME',
  'MEMBER_CAPTION',
  'LEVEL_UNIQUE_NAME',
  'LEVEL_NUMBER',
  'DISPLAY_INFO',
  'UNIQUE_NAME',
])

export const defaultCellProperties = ['VALUE', 'FORMATTED_VALUE', 'CELL_ORDINAL'] as const

/** Properties of cells that may be asked for. Those without a value for a cell are left out of it. */
export const cellPropertyNames: ReadonlySet<string> = new Set([
  ...defaultCellProperties,
  ...['FORMAT_STRING', 'LANGUAGE', 'BACK_COLOR', 'FORE_COLOR', 'FONT_NAME', 'FONT_SIZE', 'FONT_FLAGS'],
  ...['ACTION_TYPE', 'UPDATEABLE', 'SOLVE_ORDER', 'NON_EMPTY_BEHAVIOR'],
])
