/** What crosses between the pool and its workers: plain tagged data. */

import type { ScanResult, ScanTask } from './scan/scan-snapshot.ts'

export interface WorkerRequest {
  readonly taskId: number
  readonly task: ScanTask
}

export type ScanOutcome =
  | { readonly kind: 'scanned'; readonly result: ScanResult }
  | {
      readonly kind: 'failed'
      /** Our own words; holds no data. */
      readonly reason: string
      /** Whether another attempt may do better. */
      readonly passing: boolean
    }

export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcome'; readonly taskId: number; readonly outcome: ScanOutcome }
