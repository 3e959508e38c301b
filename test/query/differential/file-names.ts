/** The names of the checked-in Parquet files, and the writer of each. */

import type { Writer } from './columns.ts'

export type FileName =
  | 'mixed-dictionary'
  | 'mixed-plain'
  | 'sorted-dictionary'
  | 'sorted-groups'
  | 'runs-dictionary'
  | 'spark'
/** Whether rows that nobody may see hold hostile values, or copies of what is seen. */
export type FileKind = 'hostile' | 'harmless'

/**
 * What a pair's table holds. `twin`: what may be seen and nothing else, without any policy. `guarded`: the same under the
 * policies. `rewritten`: everything under the policies, in a file laid out as the twin's.
 */
export type TableKind = FileKind | 'twin' | 'guarded' | 'rewritten'

export const writerOf = (name: FileName): Writer => (name === 'spark' ? 'spark' : 'pyarrow')

/** The columns of a table depend on who wrote its file. */
export const writerOfTable = (name: FileName, kind: TableKind): Writer | 'twin' =>
  kind === 'hostile' || kind === 'harmless' ? writerOf(name) : 'twin'
