/**
 * Pins tables to snapshots and unpins them (docs/reference/contracts.md 3.1) by appending events. The database refuses
 * to change or delete an event.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { Pin } from '../../core/governance.ts'
import { isSessionKind } from '../../core/session.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { lockContracts, recordChange } from './changes.ts'
import type { RunQuery } from './versions.ts'

export interface PinEvent {
  /** Rises by one with each event of the table. */
  readonly sequence: number
  readonly kind: 'pin' | 'unpin'
  /** Of a pin. A decimal string, because an id may exceed 2^53. */
  readonly snapshotId?: string
  /** The catalog credential whose catalog held the snapshot. */
  readonly catalog?: string
  /** Subject of who pinned or unpinned it. */
  readonly by: string
  /** The session of `by`; undefined where none decided, or none was recorded. */
  readonly session: Pick<NonNullable<Actor['session']>, 'kind' | 'createdBy'> | undefined
  /** RFC 3339. */
  readonly at: string
}

export interface NewPin extends Pin {
  /** The columns of the snapshot's schema, which pg_catalog then shows. Absent: it shows the current columns. */
  readonly columns?: readonly SchemaColumn[]
  /** Nickname of the catalog credential whose catalog holds the snapshot. */
  readonly catalog: string
}

/** Who pins what. */
export interface PinChange {
  readonly table: TableRef
  readonly actor: Actor
  readonly atMs: number
  /** The number of the table's last event, 0 for none; where it is another, nothing is changed. */
  readonly expectedSequence?: number | undefined
}

/**
 * Pins a table to a snapshot. The caller has checked that the upstream catalog has the snapshot.
 * @throws Fault `not_found` for a table that is not in the graph
 */
export async function pinTable(
  store: Store,
  tenant: TenantId,
  change: PinChange,
  pin: NewPin,
): Promise<PinEvent> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    return await appendPin(tx, tenant, change, pin)
  })
}

/** As {@link pinTable}, in the transaction of a caller who holds the lock of contracts. */
export function appendPin(
  tx: Tx,
  tenant: TenantId,
  change: PinChange,
  { snapshotId, schemaId, columns, catalog }: NewPin,
): Promise<PinEvent> {
  const value = { snapshot_id: String(snapshotId), schema_id: String(schemaId), catalog }
  return appendPinEvent(tx, tenant, change, { kind: 'pin', ...value }, columns)
}

/** Ends a table's pin. @throws Fault `conflict` where it is not pinned, `not_found` as {@link pinTable} */
export async function unpinTable(store: Store, tenant: TenantId, change: PinChange): Promise<PinEvent> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const [latest] = await eventsOf(tx, change.table, 1)
    if (latest?.kind !== 'pin') throw new Fault('conflict', 'The table is not pinned.')
    return await appendPinEvent(tx, tenant, change, { kind: 'unpin' })
  })
}

/**
 * A table's events, newest first. None where the table is not in the graph.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listPins(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  page: PageRequest,
): Promise<Page<PinEvent>> {
  const [found] = await listPinsOf(store, tenant, [table], page)
  return found ?? { items: [] }
}

/** The same page of each of several tables, in their order, in one statement. @throws Fault as {@link listPins} */
export async function listPinsOf(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  page: PageRequest,
): Promise<readonly Page<PinEvent>[]> {
  const limit = pageLimit(page)
  const after = afterCount(page)
  const ids = tables.map((table) => nodeId(tableKey(table)))
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params, { readOnly: true })
  const rows = await eventRows(run, ids, after, limit + 1)
  const byTable = Map.groupBy(rows, ({ table }) => table)
  return ids.map((id) => {
    const events = (byTable.get(id) ?? []).map(({ event }) => event)
    return toPage(events, limit, ({ sequence }) => String(sequence))
  })
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

async function eventsOf(tx: Tx, table: TableRef, count: number): Promise<readonly PinEvent[]> {
  const run: RunQuery = (text, params) => tx.query(text, params)
  return (await eventRows(run, [nodeId(tableKey(table))], undefined, count)).map(({ event }) => event)
}

/** The newest events of each table, newest first. */
async function eventRows(
  run: RunQuery,
  ids: readonly string[],
  before: string | undefined,
  count: number,
): Promise<readonly { readonly table: string; readonly event: PinEvent }[]> {
  const rows = await run<{ table_id: string; properties: string }>(
    `select x.id as table_id, p.properties
     from (select distinct id, to_jsonb(id)::text::agtype as key from jsonb_array_elements_text($1::text::jsonb) id) x
       join "Table" t on ${property('t', 'id')} = x.key, lateral (
       select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id
       where e.end_id = t.id and ($2::text is null or ${property('p', 'seq')} < $2::text::agtype)
       order by ${property('p', 'seq')} desc limit $3::int) p
     order by x.id, ${property('p', 'seq')} desc`,
    [JSON.stringify(ids), before ?? null, count],
  )
  return rows.map(({ table_id: table, properties }) => {
    return { table, event: eventOf(parseAgtype(properties) as Properties) }
  })
}

function eventOf(properties: Properties): PinEvent {
  const { seq, kind, snapshot_id: snapshotId, catalog, by, at } = properties
  const { session_kind: sessionKind, session_created_by: createdBy } = properties
  return {
    sequence: Number(seq),
    kind: kind === 'unpin' ? 'unpin' : 'pin',
    ...(kind !== 'unpin' && { snapshotId: String(snapshotId), catalog: String(catalog) }),
    by: String(by),
    session: isSessionKind(sessionKind)
      ? { kind: sessionKind, ...(createdBy !== undefined && { createdBy: String(createdBy) }) }
      : undefined,
    at: String(at),
  }
}

type NewEvent =
  | { readonly kind: 'unpin' }
  | {
      readonly kind: 'pin'
      readonly snapshot_id: string
      readonly schema_id: string
      readonly catalog: string
    }

async function appendPinEvent(
  tx: Tx,
  tenant: TenantId,
  { table, actor, atMs, expectedSequence }: PinChange,
  event: NewEvent,
  columns?: readonly SchemaColumn[],
): Promise<PinEvent> {
  const tableId = nodeId(tableKey(table))
  const [latest] = await eventsOf(tx, table, 1)
  const last = latest?.sequence ?? 0
  if (expectedSequence !== undefined && expectedSequence !== last)
    throw new Fault('conflict', `The table's last pin event is ${last}, not ${expectedSequence}.`)
  const sequence = last + 1
  const id = nodeId(`${tableId}\u001f${sequence}`)
  const { kind: sessionKind, createdBy } = actor.session ?? {}
  const properties = {
    ...event,
    seq: sequence,
    by: actor.sub,
    ...(sessionKind !== undefined && { session_kind: sessionKind }),
    ...(createdBy !== undefined && { session_created_by: createdBy }),
    at: new Date(atMs).toISOString(),
  }
  // Inserts without upsert, because two events of one sequence must not become one.
  const pinned = await tx.query(
    `with event as (insert into "PinEvent" (properties) values ($1::text::agtype) returning id)
     insert into "PINS" (start_id, end_id, properties)
     select event.id, t.id, $2::text::agtype from event, "Table" t
     where ${property('t', 'id')} = to_jsonb($3::text)::text::agtype returning 1`,
    [
      storableJson({ ...properties, id, tenant_id: tenant }),
      // The columns are on the edge, because every query reads the event and only catalog look-ups read the columns.
      storableJson({ ...(columns && { columns }), id, tenant_id: tenant }),
      tableId,
    ],
  )
  if (pinned.length !== 1) throw new Fault('not_found', 'There is no such table.')
  const { kind, ...value } = event
  await recordChange(tx, actor, { action: kind, subject: { table }, ...(kind === 'pin' && { value }) })
  const made = eventOf(properties)
  await tellPin(tx, table, made)
  return made
}

async function tellPin(tx: Tx, table: TableRef, { kind, sequence, snapshotId, catalog, by }: PinEvent) {
  const { namespace, name } = table
  const pinned = kind === 'pin' && { snapshot_id: snapshotId, catalog }
  await appendEvent(tx, {
    type: kind === 'pin' ? 'table.pinned' : 'table.unpinned',
    subject: tableKey(table),
    data: { namespace, table: name, pin_sequence: sequence, by, ...pinned },
  })
}
