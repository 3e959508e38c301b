/** The worker thread: reads one document of another format at a time. It has no access to the store. */

import { parentPort } from 'node:worker_threads'
import type { WorkerRequest, WorkerResult } from '../../base/single-worker.ts'
import { type InterchangeOutcome, type InterchangeTask, readInterchange } from './read-interchange.ts'

parentPort?.on('message', ({ taskId, task }: WorkerRequest<InterchangeTask>) => {
  const result: WorkerResult<InterchangeOutcome> = { taskId, outcome: readInterchange(task) }
  parentPort?.postMessage(result)
})
