/** The worker thread: performs one task on a contract document at a time. It has no access to the store. */

import { parentPort } from 'node:worker_threads'
import type { DocumentOutcome, DocumentTask } from '../../wire/odcs/document-task.ts'
import { performContractTask } from '../policy-tests/perform-task.ts'

export interface DocumentRequest {
  readonly taskId: number
  readonly task: DocumentTask
}

export interface DocumentResult {
  readonly taskId: number
  readonly outcome: DocumentOutcome
}

parentPort?.on('message', ({ taskId, task }: DocumentRequest) => {
  const result: DocumentResult = { taskId, outcome: performContractTask(task) }
  parentPort?.postMessage(result)
})
