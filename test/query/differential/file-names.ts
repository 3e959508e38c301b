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

export const writerOf = (name: FileName): Writer => (name === 'spark' ? 'spark' : 'pyarrow')
