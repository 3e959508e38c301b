/** Reads a document of another format, in the worker. A refusal is an outcome. */

import { type DocumentProblem, DocumentRefusal } from '../../wire/odcs/problem.ts'
import { plainValue, readDocument } from '../../wire/odcs/read-document.ts'
import type { InterchangeFormat, ReadOptions, SemanticDraft } from './draft.ts'
import type { Plain } from './members.ts'
import { readDbt } from './read-dbt.ts'
import { readOdcs } from './read-odcs.ts'
import { readOssie } from './read-ossie.ts'

export interface InterchangeTask extends ReadOptions {
  readonly format: InterchangeFormat
  /** YAML or JSON. */
  readonly text: string
}

export type InterchangeOutcome =
  | { readonly kind: 'read'; readonly draft: SemanticDraft }
  | { readonly kind: 'refused'; readonly problems: readonly DocumentProblem[] }

const readers = { ossie: readOssie, dbt: readDbt, odcs: readOdcs } as const

/** Reads the document. */
export function readInterchange({ format, text, namespace }: InterchangeTask): InterchangeOutcome {
  try {
    const isJson = text.trimStart().startsWith('{')
    const { value } = readDocument(new TextEncoder().encode(text), isJson ? 'json' : 'yaml')
    return { kind: 'read', draft: readers[format](plainValue(value) as Plain, { namespace }) }
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    return { kind: 'refused', problems: thrown.problems }
  }
}
