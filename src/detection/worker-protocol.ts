/** The messages between the pool and its workers: plain tagged data. */

import type { OutsideFile } from '../storage/territory-guard.ts'
import type { ScanResult, ScanTask } from './scan/scan-snapshot.ts'

export interface DetectionWorkerRequest {
  readonly taskId: number
  readonly task: ScanTask
}

export type ScanOutcome =
  | { readonly kind: 'scanned'; readonly result: ScanResult }
  | {
      readonly kind: 'failed'
      /** Written by this code; holds no data of the table. */
      readonly reason: string
      /** Whether another attempt may succeed. */
      readonly passing: boolean
      /** The file outside the table's territory because of which it failed. */
      readonly outside?: readonly OutsideFile[]
    }

export type DetectionWorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcome'; readonly taskId: number; readonly outcome: ScanOutcome }
