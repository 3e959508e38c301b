/** Answers a statement in MDX: as a dataset, as rows, or with nothing. */

import type { CellType } from '../../core/cellset.ts'
import type { Cellset } from '../../semantics/mdx/cellset.ts'
import { runMdx } from '../../semantics/mdx/run.ts'
import type { Tabular } from '../../semantics/mdx/tabular.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { writeDataset } from '../../wire/soap/cellset.ts'
import {
  type RowsetColumn,
  type RowsetContent,
  type RowsetType,
  rowsetEnd,
  rowsetStart,
  writeRow,
} from '../../wire/soap/rowset.ts'
import { emptyRoot } from '../../wire/soap/write-envelope.ts'
import { updateTime } from './discover/cube-rowsets.ts'
import type { DiscoverContext } from './discover/rowset.ts'
import type { XmlaSession, XmlaSessions } from './sessions.ts'

type RunParts = Parameters<typeof runMdx>[0]

interface StatementRequest {
  readonly text: string
  readonly isTabular: boolean
  readonly content: RowsetContent
  readonly session: XmlaSession | undefined
  readonly sessions: XmlaSessions
  /** The property Cube of the message. */
  readonly currentCube: string | undefined
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * Runs a statement.
 * @returns the pieces of the root
 * @throws Fault, SqlError
 */
export async function runStatement(
  parts: RunParts,
  { on, cubes, dataTimes, signal }: DiscoverContext,
  { text, isTabular, content, session, sessions, currentCube, parameters }: StatementRequest,
): Promise<Iterable<string>> {
  const seen = await cubes()
  const before = session?.formulas ?? []
  const request = {
    ...{ statement: text, format: isTabular ? ('tabular' as const) : ('multidimensional' as const) },
    ...{ parameters, session: before, currentCube, cubes: seen },
  }
  const found = await runMdx(parts, on, request, { signal })
  switch (found.kind) {
    case 'cellset':
      return writeDataset(datasetOf(found.cellset, (await dataTimes())(found.cellset.cube)), content)
    case 'tabular':
      return writeTable(found.tabular, content)
    case 'empty':
      if (session !== undefined) sessions.define(session, found.session)
      else if (found.session !== before)
        refuseMdx('what is created lasts for a session of XMLA, and the message has none: begin one')
      return [emptyRoot]
  }
}

function datasetOf(cellset: Cellset, dataUpdatedAt: Date | undefined) {
  const { name: cubeName } = cellset.cube
  return { ...cellset, cubeName, dataUpdatedAt, schemaUpdatedAt: updateTime(cellset.cube) }
}

const types: Readonly<Record<CellType, RowsetType>> = {
  double: 'double',
  int: 'int',
  long: 'long',
  string: 'string',
  boolean: 'boolean',
}

function* writeTable({ columns: given, rows }: Tabular, content: RowsetContent): Generator<string> {
  const columns = distinct(given).map(
    ({ name, type }): RowsetColumn => ({ name, type: types[type], optional: true }),
  )
  yield rowsetStart(columns, content)
  if (content === 'SchemaData' || content === 'Data') for (const row of rows) yield writeRow(columns, row)
  yield rowsetEnd
}

/** The columns, where a name that is there already has a number behind it. */
function distinct(columns: Tabular['columns']): Tabular['columns'] {
  const counts = new Map<string, number>()
  return columns.map((column) => {
    const before = counts.get(column.name) ?? 0
    counts.set(column.name, before + 1)
    return before === 0 ? column : { ...column, name: `${column.name} (${before + 1})` }
  })
}
