/** What the HTTP thread and the policy worker say to each other: plain tagged objects, fit for structured clone. */

import type { PolicyErrorCode } from '../core/decision.ts'
import type { ParsedPolicy } from './check.ts'
import type { PolicyBindings } from './evaluate.ts'

export type WorkerTask =
  | {
      readonly kind: 'evaluate'
      /** In the order in which they are to run. */
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

export type WorkerAnswer =
  | { readonly kind: 'evaluated'; readonly results: readonly PolicyResult[] }
  | { readonly kind: 'parsed'; readonly policy: ParsedPolicy }
  | { readonly kind: 'refused'; readonly error: PolicyErrorCode }

export type WorkerRequest = { readonly jobId: number; readonly task: WorkerTask }
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly jobId: number; readonly answer: WorkerAnswer }
