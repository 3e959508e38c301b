/**
 * What the Iceberg surface gives of a table to a caller from whom nothing of it is hidden. Such a caller reads the files
 * itself, so no statement is recorded; the giving is.
 */

import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

/** The surface of usage records of raw reads. */
export const rawReadSurface = 'iceberg'

/**
 * - `load`: the table's metadata
 * - `credentials`: keys for its files
 * - `plan`: the files of a scan
 * - `sign`: signatures of requests for its files
 */
export const rawReadKinds = ['load', 'credentials', 'plan', 'sign'] as const
export type RawReadKind = (typeof rawReadKinds)[number]

/**
 * - `none`: the table had no row filter and no mask
 * - `exempt`: it had, and the principal's roles exempt from all of them
 * - `told`: they apply, and a trusted engine was told to apply them
 */
export const rawReadProtections = ['none', 'exempt', 'told'] as const
export type RawReadProtection = (typeof rawReadProtections)[number]

export interface RawRead {
  readonly tenant: TenantId
  readonly principal: string
  readonly principalSource: string
  /** Undefined where the request came without a session of its own. */
  readonly sessionId: string | undefined
  /** Nickname of the catalog credential. */
  readonly catalog: string
  readonly table: TableRef
  readonly given: RawReadKind
  readonly protection: RawReadProtection
  /** The purpose that the request named; undefined for none. */
  readonly purpose?: string | undefined
  /** The contract in force; undefined where the table has none. */
  readonly contract?: { readonly id: string; readonly version: number } | undefined
  /** Decimal, where the request names a snapshot. */
  readonly snapshotId?: string | undefined
}

/** Raw reads of one kind within a minute, as one usage record. */
export interface RawReads extends Omit<RawRead, 'snapshotId'> {
  /** Of the usage record. */
  readonly id: string
  /** Milliseconds since the Unix epoch. */
  readonly firstMs: number
  readonly lastMs: number
  readonly times: number
  readonly snapshotIds: readonly string[]
}

/** The bounds of raw reads that wait to be written. */
export const rawReadBounds = {
  /** Records of one process that wait. */
  pendingMax: 20_000,
  flushMs: 5_000,
  /** Reads within so long are one record. */
  windowMs: 60_000,
  /** Snapshots that a record names. */
  snapshotsMax: 20,
} as const
