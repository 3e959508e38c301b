/**
 * The worker thread of replays: judges the stored changes of one metadata file at a time, or one change part by part. It
 * has no access to the store.
 */

import { parentPort } from 'node:worker_threads'
import { Fault } from '../../base/fault.ts'
import type { JsonObject } from '../../base/json.ts'
import type { WorkerRequest, WorkerResult } from '../../base/single-worker.ts'
import type { ReplayDraft, Replayed, StoredChange } from '../../core/policy-replay.ts'
import type { ManifestFacts } from '../../policy/manifest-facts.ts'
import { PolicyError } from '../../policy/policy-error.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { parseMetadata } from '../../storage/table-metadata-file.ts'
import {
  type AsksManifests,
  judgeStored,
  type TriedPolicy,
  tryOnStored,
  unavailable,
} from './judge-stored.ts'

interface ReplayTask {
  readonly kind: 'replay'
  readonly draft: ReplayDraft | undefined
  /** The content of the file that the changes are based on; undefined where they had none. */
  readonly metadata: Uint8Array | undefined
  readonly changes: readonly StoredChange[]
  /** Of the one change, where a policy has asked for them. */
  readonly facts?: ManifestFacts
}

export interface TryTask {
  readonly kind: 'try'
  readonly definitionCel: string
  readonly metadata: Uint8Array | undefined
  readonly change: StoredChange
  readonly facts?: ManifestFacts
}

type ReplayResult = Replayed | AsksManifests
/** `refused`: the change cannot be made of what was given. */
type TryResult = TriedPolicy | AsksManifests | { readonly outcome: 'refused'; readonly problem: string }

export type WorkerTask = ReplayTask | TryTask
/** Of a replay one result for each change, in their order. */
export type WorkerOutcome =
  | { readonly kind: 'replay'; readonly results: readonly ReplayResult[] }
  | { readonly kind: 'try'; readonly result: TryResult }

/** Performs a task. It never throws for what a change or a policy holds. */
function performReplayTask(task: WorkerTask): WorkerOutcome {
  if (task.kind === 'try') return { kind: 'try', result: tryOne(task) }
  const { draft, metadata, changes, facts } = task
  let base: JsonObject | undefined
  try {
    base = metadata && parseMetadata(metadata)
  } catch {
    return { kind: 'replay', results: changes.map(() => unavailable('storage')) }
  }
  return { kind: 'replay', results: changes.map((change) => judgeStored(draft, change, base, facts)) }
}

function tryOne({ definitionCel, metadata, change, facts }: TryTask): TryResult {
  try {
    return tryOnStored(definitionCel, change, metadata && parseMetadata(metadata), facts)
  } catch (thrown) {
    return { outcome: 'refused', problem: problemOf(thrown) }
  }
}

/** Our own words only: nothing else says what it may quote. */
function problemOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.publicMessage
  if (thrown instanceof PolicyError) return `\`definition_cel\`: ${thrown.message}`
  if (thrown instanceof ReadFailure) return `The metadata is not valid: ${thrown.reason}.`
  return 'The commit cannot be applied to the table.'
}

parentPort?.on('message', ({ taskId, task }: WorkerRequest<WorkerTask>) => {
  const result: WorkerResult<WorkerOutcome> = { taskId, outcome: performReplayTask(task) }
  parentPort?.postMessage(result)
})
