/** The worker thread: one snapshot at a time; nothing that it read leaves it but findings and a report. */

import { parentPort } from 'node:worker_threads'
import { toReadFailure } from '../storage/read-failure.ts'
import { type ScanTask, scanSnapshot } from './scan/scan-snapshot.ts'
import type { ScanOutcome, WorkerMessage, WorkerRequest } from './worker-protocol.ts'

async function perform(task: ScanTask): Promise<ScanOutcome> {
  try {
    return { kind: 'scanned', result: await scanSnapshot(task) }
  } catch (thrown) {
    const { reason, passing } = toReadFailure(thrown, 'the snapshot')
    return { kind: 'failed', reason, passing }
  }
}

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', async ({ taskId, task }: WorkerRequest) => {
  send({ kind: 'outcome', taskId, outcome: await perform(task) })
})
send({ kind: 'ready' })
