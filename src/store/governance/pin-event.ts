/** Pin events (docs/reference/contracts.md 3.1) as the graph holds them: the current pin is the latest event. */

import { Fault } from '../../base/fault.ts'
import type { Properties } from '../graph/graph.ts'

/** The snapshot that a table is read at. */
export interface Pin {
  readonly snapshotId: bigint
  /** The schema that the snapshot is read with. */
  readonly schemaId: bigint
}

/**
 * The pin that the latest event of a table makes.
 * @param latest its properties; undefined where there was no event
 * @returns undefined where the table is not pinned
 * @throws Fault `unavailable` for an event that cannot be read: it must not look like none
 */
export function pinOf(latest: Properties | undefined): Pin | undefined {
  if (latest === undefined || latest.kind === 'unpin') return undefined
  const { kind, snapshot_id: snapshotId, schema_id: schemaId } = latest
  const isId = (value: unknown) => /^-?\d{1,19}$/.test(String(value))
  if (kind !== 'pin' || !isId(snapshotId) || !isId(schemaId))
    throw new Fault('unavailable', 'The pin of the table could not be read.', {
      detail: 'a malformed PinEvent',
    })
  return { snapshotId: BigInt(String(snapshotId)), schemaId: BigInt(String(schemaId)) }
}
