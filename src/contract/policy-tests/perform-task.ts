/** Performs a task on a document, and runs the policy tests of a document that is read. A failed test is no refusal. */

import { checkPolicyToSave } from '../../policy/check.ts'
import {
  type DocumentOutcome,
  type DocumentTask,
  performDocumentTask,
} from '../../wire/odcs/document-task.ts'
import { describeFailure, runPolicyTests } from './run-policy-tests.ts'

/** As `performDocumentTask`; the model then says which tests fail. */
export function performContractTask(task: DocumentTask): DocumentOutcome {
  const outcome = performDocumentTask(task, checkPolicyToSave)
  if (outcome.kind !== 'read') return outcome
  const { model } = outcome.read
  const failedTests = runPolicyTests(model)
    .filter(({ problem }) => problem !== undefined)
    .map(describeFailure)
  if (failedTests.length === 0) return outcome
  return { kind: 'read', read: { ...outcome.read, model: { ...model, failedTests } } }
}
