/** Post-commit detection as the store and the feature share it (docs/reference/detection.md). */

import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

export const hitSources = ['baseline-poller', 'catalog-webhook', 'storage-event'] as const
/** Which of the three triggers told of a snapshot. */
export type HitSource = (typeof hitSources)[number]

/** A snapshot that some trigger says should be scanned. */
export interface Hit {
  readonly tenant: TenantId
  readonly source: HitSource
  /** As its teller spells it; one spelling per object is kept. */
  readonly metadataLocation: string
  /** Whose catalog holds it, where the trigger knows. */
  readonly credentialId?: string | undefined
  readonly table?: TableRef | undefined
  /** What the teller says the table is; nothing rests on it until the catalog confirms it. */
  readonly advisory?: TableRef | undefined
}

/** Bytes of a metadata location that a run can be kept under. */
export const metadataLocationBytesMax = 2_048

/** One spelling per object: `s3a` and `s3n` are what storage calls `s3`. */
export function canonicalLocation(location: string): string {
  return location.replace(/^s3[an]:\/\//, 's3://')
}

export const runStates = ['queued', 'running', 'done', 'failed'] as const
export type RunState = (typeof runStates)[number]

export const findingStatuses = ['open', 'confirmed', 'rejected', 'exempt'] as const
/** What the latest decision makes of a finding. */
export type FindingStatus = (typeof findingStatuses)[number]

export const detectionDecisions = ['confirm', 'reject', 'exempt'] as const
export type DetectionDecision = (typeof detectionDecisions)[number]

/** What one scan covered. Files are counted, and named by their last path segment only. */
export interface ScanReport {
  /** Decimal. */
  readonly snapshotIds: readonly string[]
  readonly tableUuid: string | undefined
  readonly filesAdded: number
  readonly filesScanned: number
  /** Added files that the file budget left out. */
  readonly filesLeftOut: number
  /** ORC, Avro and encrypted data files, which cannot be read. */
  readonly filesUnsupported: number
  readonly filesFailed: number
  readonly bytesRead: number
  readonly valuesSampled: number
  readonly columns: number
  /** Those of the least confidence, where there were more than are kept. */
  readonly findingsLeftOut: number
  /** Why a file was not scanned, for the first of them. */
  readonly problems: readonly { readonly file: string; readonly reason: string }[]
}

/** docs/reference/detection.md 5.1: findings with at least this confidence alert. */
export const alertConfidenceMin = 0.85
