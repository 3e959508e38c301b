/**
 * Refuses a table that its catalog shows under a second name, because everything that governs it is bound to the first
 * (docs/reference/gateway.md 2.13).
 */

import { Fault } from '../../base/fault.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { opensUncontracted } from '../../core/uncontracted.ts'
import { hasTwoNames, type KnownTable } from '../../storage/one-name.ts'
import { parseLoadTableResult, tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { sightOf } from './masked.ts'

/** Who asks for a table, and whether the session may commit. */
interface NameAsker {
  readonly tenant: TenantId
  readonly identified: IdentifiedPrincipal
  readonly mayCommit: boolean
  readonly signal: AbortSignal
}

/**
 * Of a table that is known under another name.
 * @param uuidOf as for `hasTwoNames`
 * @throws Fault `conflict` where that name still is this table; it names the first one to who may see it. Fault of the
 *   store or the upstream where that is not known
 */
export async function assertOneName(
  parts: Pick<GatewayParts, 'store' | 'sightFor' | 'log'>,
  { catalog }: Upstream,
  { tenant, identified, mayCommit, signal }: NameAsker,
  known: KnownTable,
  uuidOf = async (table: TableRef): Promise<string | undefined> => {
    const loaded = await catalog.loadTable(table, { snapshots: 'refs', signal })
    if (loaded.status !== 'loaded') throw new Error('the upstream answered 304 to an unconditional load')
    return tableUuidOf(parseLoadTableResult(loaded.body).metadata)
  },
): Promise<void> {
  if (!(await hasTwoNames(parts.store, tenant, known, uuidOf))) return
  const { first, fed } = known
  const { table } = fed.owner
  parts.log.warn({ tenant, table, first }, 'a table answers to a second name, which was refused')
  const { uncontracted } = await sightOf(parts, tenant, first, identified)
  const isSeen = uncontracted === undefined || opensUncontracted(uncontracted, mayCommit)
  const instead = isSeen ? `it is ${tableName(first)}. Use that name` : 'use its first name'
  throw new Fault(
    'conflict',
    `${tableName(table)} is a second name of a table that is known under another one: ${instead}.`,
  )
}
