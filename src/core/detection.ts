/** Types of post-commit detection that the store and the feature share (docs/reference/detection.md). */

import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

export const hitSources = ['baseline-poller', 'catalog-webhook', 'storage-event'] as const
/** Which of the three triggers reported a snapshot. */
export type HitSource = (typeof hitSources)[number]

/** A snapshot that a trigger reported for scanning. */
export interface Hit {
  readonly tenant: TenantId
  readonly source: HitSource
  /** As the trigger spells it; the store holds one spelling per object. */
  readonly metadataLocation: string
  /** Whose catalog holds it, where the trigger knows. */
  readonly credentialId?: string | undefined
  readonly table?: TableRef | undefined
  /** The table that the trigger names. Nothing relies on it until the catalog confirms it. */
  readonly advisory?: TableRef | undefined
}

/** Longest metadata location of a run, in bytes. */
export const metadataLocationBytesMax = 2_048

/** One spelling per object: `s3a` and `s3n` become `s3`. */
export function canonicalLocation(location: string): string {
  return location.replace(/^s3[an]:\/\//, 's3://')
}

/** `partial`: ended well, but left files out, met files that cannot be read, or did not judge all columns. */
export const runStates = ['queued', 'running', 'done', 'partial', 'failed'] as const
export type RunState = (typeof runStates)[number]

export const findingStatuses = ['open', 'confirmed', 'rejected', 'exempt', 'withdrawn'] as const
/** A finding's status after the latest decision; `withdrawn` where there is none, and nothing stands for it any more. */
export type FindingStatus = (typeof findingStatuses)[number]

export const detectionDecisions = ['confirm', 'reject', 'exempt'] as const
export type DetectionDecision = (typeof detectionDecisions)[number]

/** What one scan covered. Files are counted; their names show only the last path segment. */
export interface ScanReport {
  /** Decimal. */
  readonly snapshotIds: readonly string[]
  readonly tableUuid: string | undefined
  readonly filesAdded: number
  readonly filesScanned: number
  /** Added files that the file budget left out. */
  readonly filesLeftOut: number
  /** ORC and encrypted data files, which are not supported. */
  readonly filesUnsupported: number
  readonly filesFailed: number
  readonly bytesRead: number
  readonly valuesSampled: number
  readonly columns: number
  /** Columns times custom classifiers that were not judged, because the patterns cost too much. Absent: none. */
  readonly unjudged?: number
  /** Findings of the least confidence, above the number that is stored. */
  readonly findingsLeftOut: number
  /** Why files were not scanned; the first ones only. */
  readonly problems: readonly { readonly file: string; readonly reason: string }[]
}

/**
 * How much of what a snapshot added was read: `partial` where files were left out or cannot be read, or where custom
 * classifiers did not judge all columns.
 */
export function coverageOf(report: Partial<ScanReport>): {
  readonly isPartial: boolean
  readonly share: number
} {
  const { filesAdded = 0, filesScanned = 0, filesLeftOut = 0, filesUnsupported = 0, unjudged = 0 } = report
  return {
    isPartial: filesLeftOut + filesUnsupported + unjudged > 0,
    share: filesAdded === 0 ? 1 : filesScanned / filesAdded,
  }
}

/**
 * Whether a tag falls whose values are gone: never, once no older snapshot is listed either, or once no branch and no tag
 * of the table has them.
 */
export const goneModes = ['never', 'history', 'current'] as const
export type GoneMode = (typeof goneModes)[number]

/** Which values a table still holds, by the snapshots that added their files. */
export interface LiveFiles {
  /** Of the metadata file. Milliseconds since 1970, as all times here. */
  readonly asOfMs: number
  /** Snapshots that added a file which a branch or a tag has. Decimal. */
  readonly snapshotIds: readonly string[]
  /** What is gone now may be in every listed snapshot that is older than this. */
  readonly goneMs: number
  /** Of the oldest snapshot that is listed and that no branch or tag names. */
  readonly oldestMs: number
}

/** docs/reference/detection.md 5.1: findings with at least this confidence alert. */
export const alertConfidenceMin = 0.85

/** Who sees the sample of a finding, which shows the ends of a value. */
export const sampleAudiences = ['stewards', 'nobody'] as const
export type SampleAudience = (typeof sampleAudiences)[number]
