/** Defines the messages between the HTTP thread and the policy worker: plain objects that structured clone can copy. */

import type { PolicyErrorCode } from '../core/decision.ts'
import type { ParsedPolicy } from './check.ts'
import type { PolicyBindings } from './evaluate.ts'

export type WorkerTask =
  | {
      readonly kind: 'evaluate'
      /** In the order in which they run. */
      readonly policies: readonly { readonly id: string; readonly text: string }[]
      readonly bindings: PolicyBindings
      /** Whether the first policy that is not true ends the task. */
      readonly stopAtFirst: boolean
      /** For the task as a whole. */
      readonly timeoutMs: number
      /** For each policy. */
      readonly ticksMax: number
    }
  | { readonly kind: 'parse'; readonly text: string }

export interface PolicyResult {
  readonly value?: boolean
  readonly error?: PolicyErrorCode
  readonly explanation?: string
}

export type PolicyWorkerResult =
  | { readonly kind: 'evaluated'; readonly results: readonly PolicyResult[] }
  | { readonly kind: 'parsed'; readonly policy: ParsedPolicy }
  | { readonly kind: 'refused'; readonly error: PolicyErrorCode; readonly explanation?: string }

export type PolicyWorkerRequest = { readonly jobId: number; readonly task: WorkerTask }
export type PolicyWorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly jobId: number; readonly result: PolicyWorkerResult }
