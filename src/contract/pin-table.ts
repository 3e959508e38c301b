/** Pins a table to a snapshot that its upstream catalog holds. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { TableRef } from '../core/table-ref.ts'
import { findCatalogCredential } from '../store/catalog-credential/catalog-credentials.ts'
import { type NewPin, pinTable } from '../store/contract/pins.ts'
import type { ChangeContext } from './change.ts'
import { pinView } from './list-pins.ts'

interface PinParts {
  readonly states: TableStates
  readonly clock: Clock
}

/** A snapshot, and the nickname of the catalog that holds it. */
interface WantedPin {
  readonly catalog: string
  readonly snapshotId: bigint
  /** As of PinChange. */
  readonly expectedSequence?: number | undefined
}

/**
 * Pins a table to a snapshot that the catalog holds at this moment.
 * @throws Fault `not_found` for an unknown catalog or table, `unprocessable` when the table has no such snapshot
 */
export async function pinSnapshot(parts: PinParts, on: ChangeContext, table: TableRef, wanted: WantedPin) {
  const { expectedSequence } = wanted
  const change = { table, actor: on.actor, atMs: parts.clock.now(), expectedSequence }
  return pinView(
    await pinTable(on.store, on.tenant, change, await findSnapshot(parts.states, on, table, wanted)),
  )
}

/** Finds a snapshot in its catalog. @throws Fault as {@link pinSnapshot} */
export async function findSnapshot(
  states: TableStates,
  on: Pick<ChangeContext, 'store' | 'tenant'>,
  table: TableRef,
  { catalog, snapshotId }: WantedPin,
): Promise<NewPin> {
  const credential = await findCatalogCredential(on.store, on.tenant, catalog)
  if (credential === undefined) throw new Fault('not_found', 'There is no such catalog.')
  const state = await fromCatalog(() => states.load(on.tenant, credential, table))
  if (!state.snapshotSchemaIds.has(snapshotId))
    throw new Fault('unprocessable', 'The table has no such snapshot.')
  // A snapshot of format version 1 may not name its schema: the table's current schema is stored for it.
  const schemaId = state.snapshotSchemaIds.get(snapshotId) ?? state.currentSchemaId
  const columns = state.schemas.get(schemaId)
  if (columns === undefined) throw new Fault('unprocessable', 'The table has no schema of the snapshot.')
  return { snapshotId, schemaId, columns, catalog }
}

/** What a catalog answers. @throws Fault `not_found` for a table that it does not have, `upstream_failed` */
export async function fromCatalog<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (thrown) {
    if (!(thrown instanceof CatalogError)) throw thrown
    if (thrown.code === 'ErrTableNotFound')
      throw new Fault('not_found', 'The catalog has no such table.', { cause: thrown })
    throw new Fault('upstream_failed', thrown.publicMessage, { cause: thrown })
  }
}
