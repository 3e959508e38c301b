/** The tasks on documents that a worker performs, as plain data, and the function that performs one. */

import { type Amendments, amendmentEdits } from './amend-document.ts'
import { type Conversion, convertDocument } from './convert-document.ts'
import { type DocumentEdit, editDocument } from './edit-document.ts'
import { type ReportedField, reportFields } from './field-report.ts'
import type { ContractModel } from './model.ts'
import { type DocumentProblem, DocumentRefusal } from './problem.ts'
import { type DocumentFormat, readDocument } from './read-document.ts'
import { type CheckPolicyText, readModel } from './read-model.ts'
import { standardProblems } from './validate-document.ts'

export type DocumentTask = { readonly bytes: Uint8Array; readonly format: DocumentFormat } & (
  | { readonly kind: 'read' }
  | { readonly kind: 'edit'; readonly edits: readonly DocumentEdit[] }
  | { readonly kind: 'amend'; readonly amendments: Amendments }
  | { readonly kind: 'convert'; readonly conversion: Conversion }
)

/** A document that the standard's schema and ours accept. */
export interface ReadDocument {
  readonly bytes: Uint8Array
  readonly model: ContractModel
  readonly fields: readonly ReportedField[]
}

export type DocumentOutcome =
  | { readonly kind: 'read'; readonly read: ReadDocument }
  | { readonly kind: 'converted'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly problems: readonly DocumentProblem[] }

/** Performs a task; a refusal is an outcome. @param checkPolicy as for `readModel` */
export function performDocumentTask(task: DocumentTask, checkPolicy?: CheckPolicyText): DocumentOutcome {
  const { bytes, format } = task
  try {
    if (task.kind === 'convert')
      return { kind: 'converted', bytes: convertDocument(bytes, format, task.conversion) }
    const wanted = task.kind === 'read' ? bytes : editedBytes(task)
    return { kind: 'read', read: readWhole(wanted, format, checkPolicy) }
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    return { kind: 'refused', problems: thrown.problems }
  }
}

function editedBytes(task: Extract<DocumentTask, { kind: 'edit' | 'amend' }>): Uint8Array {
  const document = readDocument(task.bytes, task.format)
  return editDocument(document, task.kind === 'edit' ? task.edits : amendmentEdits(document, task.amendments))
}

function readWhole(
  bytes: Uint8Array,
  format: DocumentFormat,
  checkPolicy: CheckPolicyText | undefined,
): ReadDocument {
  const document = readDocument(bytes, format)
  const problems = standardProblems(document)
  if (problems.length > 0) throw new DocumentRefusal(problems)
  const model = readModel(document, checkPolicy)
  return { bytes, model, fields: reportFields(document, model) }
}
