/** The worker thread: performs one task on a contract document at a time. It has no access to the store. */

import { parentPort } from 'node:worker_threads'
import type { WorkerRequest, WorkerResult } from '../../base/single-worker.ts'
import type { DocumentOutcome, DocumentTask } from '../../wire/odcs/document-task.ts'
import { performContractTask } from '../policy-tests/perform-task.ts'

parentPort?.on('message', ({ taskId, task }: WorkerRequest<DocumentTask>) => {
  const result: WorkerResult<DocumentOutcome> = { taskId, outcome: performContractTask(task) }
  parentPort?.postMessage(result)
})
