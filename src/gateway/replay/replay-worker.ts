/** The worker thread of replays: judges the stored changes of one metadata file at a time. It has no access to the store. */

import { parentPort } from 'node:worker_threads'
import type { JsonObject } from '../../base/json.ts'
import type { WorkerRequest, WorkerResult } from '../../base/single-worker.ts'
import type { ReplayDraft, Replayed, StoredChange } from '../../core/policy-replay.ts'
import type { ManifestFacts } from '../../policy/manifest-facts.ts'
import { parseMetadata } from '../../storage/table-metadata-file.ts'
import { type AsksManifests, judgeStored, unavailable } from './judge-stored.ts'

export interface ReplayTask {
  readonly draft: ReplayDraft | undefined
  /** The content of the file that the changes are based on; undefined where they had none. */
  readonly metadata: Uint8Array | undefined
  readonly changes: readonly StoredChange[]
  /** Of the one change, where a policy has asked for them. */
  readonly facts?: ManifestFacts
}

export type ReplayResult = Replayed | AsksManifests

/** One result for each change, in their order. */
export function performReplayTask({ draft, metadata, changes, facts }: ReplayTask): readonly ReplayResult[] {
  let base: JsonObject | undefined
  try {
    base = metadata && parseMetadata(metadata)
  } catch {
    return changes.map(() => unavailable('storage'))
  }
  return changes.map((change) => judgeStored(draft, change, base, facts))
}

parentPort?.on('message', ({ taskId, task }: WorkerRequest<ReplayTask>) => {
  const result: WorkerResult<readonly ReplayResult[]> = { taskId, outcome: performReplayTask(task) }
  parentPort?.postMessage(result)
})
