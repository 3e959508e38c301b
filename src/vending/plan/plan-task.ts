/**
 * Seals plan tasks: opaque texts by which a client fetches the next file scan tasks of a plan. They hold all that the
 * plan depends on, so that any process can go on with it, and they are of use to the session that planned only.
 */

import { type OpeningKeys, seal, unseal } from '../../store/database/sealing.ts'

export interface PlanTask {
  readonly planId: string
  readonly tenant: string
  readonly sessionId: string
  /** Of the catalog. */
  readonly credentialId: string
  readonly table: string
  readonly tableUuid: string | undefined
  /** The principal for whom filters and masks were looked up. */
  readonly sub: string
  readonly metadataLocation: string
  /** In decimal. */
  readonly snapshotId: string
  /** The client's predicate as JSON text. */
  readonly filter: string
  readonly caseSensitive: boolean
  readonly useSnapshotSchema: boolean
  /** Of the first file, among those that match. */
  readonly from: number
  /** Milliseconds since the Unix epoch. */
  readonly expiresAtMs: number
}

const place = ['plan task', '1'] as const

/** @param key 32 bytes */
export function sealPlanTask(key: Uint8Array, task: PlanTask): string {
  return Buffer.from(seal(key, place, JSON.stringify(task))).toString('base64url')
}

/** The task of a text; undefined where it was not sealed with one of the keys. */
export function openPlanTask(keys: OpeningKeys, text: string): PlanTask | undefined {
  try {
    return JSON.parse(unseal(keys, place, Buffer.from(text, 'base64url'))) as PlanTask
  } catch {
    return undefined
  }
}
