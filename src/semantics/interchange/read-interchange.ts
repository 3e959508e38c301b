/** Reads documents of another format, in the worker. A refusal is an outcome. */

import { tableName } from '../../core/table-ref.ts'
import { type DocumentProblem, DocumentRefusal } from '../../wire/odcs/problem.ts'
import { dbtProject } from './dbt-documents.ts'
import { assertOnce, joined, readDocuments, type SourceFile } from './documents.ts'
import type { InterchangeFormat, ReadOptions, SemanticDraft } from './draft.ts'
import { readDbt } from './read-dbt.ts'
import { readOdcs } from './read-odcs.ts'
import { readOssie } from './read-ossie.ts'

export interface InterchangeTask extends ReadOptions {
  readonly format: InterchangeFormat
  readonly files: readonly SourceFile[]
}

export type InterchangeOutcome =
  | { readonly kind: 'read'; readonly draft: SemanticDraft }
  | { readonly kind: 'refused'; readonly problems: readonly DocumentProblem[] }

const readers = { ossie: readOssie, odcs: readOdcs } as const

/** Reads the documents of one import. */
export function readInterchange({ format, files, namespace }: InterchangeTask): InterchangeOutcome {
  try {
    const documents = readDocuments(files)
    if (format === 'dbt') {
      const { document, placed } = dbtProject(documents)
      return { kind: 'read', draft: placed(readDbt(document, { namespace })) }
    }
    const drafts = documents.map(
      ({ label, value }) => [label, readers[format](value, { namespace })] as const,
    )
    assertOnce(
      drafts.map(([label, { tables, metrics, kept }]) => ({
        label,
        names: [
          ...tables.map(({ table }) => `The table ${tableName(table)}`),
          ...metrics.map(({ name }) => `The metric ${name}`),
          ...kept.map(({ name }) => `The semantic model ${name}`),
        ],
      })),
    )
    return { kind: 'read', draft: joined(drafts) }
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    return { kind: 'refused', problems: thrown.problems }
  }
}
