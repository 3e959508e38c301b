/**
 * A cellset as rows: a column for each level of the row axes' hierarchies, and one for each tuple of the column axis. A
 * value that is absent has no element in its row.
 */

import type { CellsetCell, CellType } from '../../core/cellset.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { exceeds } from './bounds.ts'
import type { Evaluated } from './evaluate-select.ts'
import { memberProperty } from './member-properties.ts'
import { ancestorOf, type Member, type Tuple } from './space.ts'

export interface TabularColumn {
  readonly name: string
  readonly type: CellType
}

export interface Tabular {
  readonly columns: readonly TabularColumn[]
  /** Undefined where a row has no value. */
  readonly rows: readonly (readonly (CellsetCell['value'] | undefined)[])[]
}

interface LevelColumn {
  readonly name: string
  readonly read: (tuple: Tuple) => CellsetCell['value'] | undefined
}

/** @throws Fault `bad_request` for more than two axes */
export function tabularOf({ axes, cells }: Evaluated, cellsMax: number): Tabular {
  const [columns, rows, ...more] = axes
  if (more.length > 0) return refuseMdx('rows of a table come of two axes at most')
  const width = columns?.tuples.length ?? 1
  if (width * (rows?.tuples.length ?? 1) > cellsMax) exceeds(`a table has at most ${cellsMax} values`)
  const labels = columnsOf(rows?.tuples ?? [], rows?.properties ?? [])
  const byOrdinal = new Map(cells.map((cell) => [cell.ordinal, cell]))
  const names = columns === undefined ? ['Measure'] : columns.tuples.map(nameOf)
  const types = Array.from({ length: width }, (): CellType | undefined => undefined)
  for (const { ordinal, type } of cells) {
    const index = ordinal % width
    types[index] = types[index] === undefined || types[index] === type ? type : widest(types[index], type)
  }
  const heads = rows === undefined ? [[]] : rows.tuples
  return {
    columns: [
      ...labels.map(({ name }) => ({ name, type: 'string' as const })),
      ...names.map((name, index) => ({ name, type: types[index] ?? 'double' })),
    ],
    rows: heads.map((tuple, row) => [
      ...labels.map(({ read }) => read(tuple)),
      ...names.map((_, index) => byOrdinal.get(row * width + index)?.value),
    ]),
  }
}

function widest(one: CellType | undefined, other: CellType): CellType {
  return one === 'string' || other === 'string' ? 'string' : 'double'
}

const nameOf = (tuple: Tuple) => tuple.map(({ uniqueName }) => uniqueName).join('.')

/** A column for each level that the tuples reach, without `(All)` where there are others. */
function columnsOf(tuples: readonly Tuple[], properties: readonly string[]): readonly LevelColumn[] {
  const [first = []] = tuples
  return first.flatMap((member, place) => {
    const deepest = Math.max(...tuples.map((tuple) => tuple[place]?.level.number ?? 0))
    const levels = member.at.levels.filter(({ number }) => number <= deepest && (number > 0 || deepest === 0))
    return levels.flatMap((level) =>
      ['MEMBER_CAPTION', ...properties].map(
        (property): LevelColumn => ({
          name: `${level.uniqueName}.[${property}]`,
          read: (tuple) => {
            const found = tuple[place] && levelOf(tuple[place], level.number)
            return found === undefined ? undefined : (memberProperty(found, property) ?? undefined)
          },
        }),
      ),
    )
  })
}

function levelOf(member: Member, level: number): Member | undefined {
  return member.kind === 'key'
    ? ancestorOf(member, level)
    : member.level.number === level
      ? member
      : undefined
}
