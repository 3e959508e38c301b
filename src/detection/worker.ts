/** The worker thread: scans one snapshot at a time, and sends back findings and a report, never data. */

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { toReadFailure } from '../storage/read-failure.ts'
import { TerritoryFailure } from '../storage/territory-guard.ts'
import { type ScanTask, scanSnapshot } from './scan/scan-snapshot.ts'
import type { DetectionWorkerMessage, DetectionWorkerRequest, ScanOutcome } from './worker-protocol.ts'

async function perform(task: ScanTask): Promise<ScanOutcome> {
  try {
    return { kind: 'scanned', result: await scanSnapshot(task) }
  } catch (thrown) {
    const { reason, passing } = toReadFailure(thrown, 'the snapshot')
    const outside = thrown instanceof TerritoryFailure ? [thrown.file] : []
    return { kind: 'failed', reason, passing, outside }
  }
}

/** Lowers the priority of this thread, so that requests get the processor first. Only Linux can do so per thread. */
function giveWay(): void {
  try {
    const thread = Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1])
    if (Number.isInteger(thread)) setPriority(thread, scanNiceness)
  } catch {
    // Not Linux, or not permitted.
  }
}

/** Of 19. A scan runs at full speed on an idle processor, and very slowly on a busy one. */
const scanNiceness = 15

function send(message: DetectionWorkerMessage): void {
  parentPort?.postMessage(message)
}

giveWay()
parentPort?.on('message', async ({ taskId, task }: DetectionWorkerRequest) => {
  send({ kind: 'outcome', taskId, outcome: await perform(task) })
})
send({ kind: 'ready' })
