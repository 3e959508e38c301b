/** Reads the current pin of a table from its latest pin event in the graph (docs/reference/contracts.md 3.1). */

import { Fault } from '../../base/fault.ts'
import type { Pin } from '../../core/governance.ts'
import type { Properties } from '../graph/graph.ts'

/**
 * The pin of a table.
 * @param latest the properties of its latest event; undefined where it has none
 * @returns undefined where the table is not pinned
 * @throws Fault `unavailable` for a malformed event, because it must not look like no pin
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
