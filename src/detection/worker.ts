/** The worker thread: one snapshot at a time; nothing that it read leaves it but findings and a report. */

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
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

/** Scans wait where requests want the processor. Linux alone names its threads; elsewhere this thread is as any other. */
function giveWay(): void {
  try {
    const thread = Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isInteger(thread)) setPriority(thread, scanNiceness)
  } catch {
    // Not Linux, or not allowed.
  }
}

/** Of 19: a scan goes on where nobody else wants the processor, and crawls where all of it is wanted. */
const scanNiceness = 15

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

giveWay()
parentPort?.on('message', async ({ taskId, task }: WorkerRequest) => {
  send({ kind: 'outcome', taskId, outcome: await perform(task) })
})
send({ kind: 'ready' })
