/** Stores lineage events as received and merges their edges into the graph (docs/reference/lineage.md 3.1). */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import type {
  LineageDataset,
  LineageEvent,
  LineageEventKind,
  LineageName,
  LineageParent,
} from '../../core/lineage.ts'
import type { IdentifiedPrincipal, PrincipalSource } from '../../core/principal.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Page, PageRequest } from '../database/page.ts'
import { toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import { isSeenJobNamed } from './seen.ts'

export interface ReceivedEvent {
  readonly event: LineageEvent
  readonly identified: Pick<IdentifiedPrincipal, 'principal' | 'source'>
  /** Through what it came; absent where it was stored before. */
  readonly origin?: ChangeOrigin
}

export type LineageOutcome =
  /** Stored, and its edges are in the graph. */
  | { readonly kind: 'merged' }
  /** Was stored and merged before. Nothing changed. */
  | { readonly kind: 'repeated' }
  /** Stored. Some of its edges would close cycles and were not drawn; the others were. */
  | { readonly kind: 'refused'; readonly count: number; readonly first: RefusedEdge }
  /** Stored. With the other events of its run it would make too many edges, so none of its own was drawn. */
  | { readonly kind: 'unbounded'; readonly reason: string }
  /** Stored. Its edges are merged later. */
  | { readonly kind: 'pending' }
  /** Stored. Its cycle check takes long, so that it is merged in a batch of its own. */
  | { readonly kind: 'heavy' }
  /** Not stored: the batch had taken its time before this event. */
  | { readonly kind: 'later' }

/** An edge that was not drawn. */
export interface RefusedEdge {
  readonly from: LineageName
  readonly to: LineageName
  /** Leads from `to` along existing edges to `from`. */
  readonly cycle: readonly LineageName[]
}

/** Why an event was refused. */
export interface EventRefusal {
  /** How many edges were not drawn. */
  readonly count?: number
  /** The first 100 of them. */
  readonly refused?: readonly RefusedEdge[]
  /** The first cycle. */
  readonly cycle?: readonly LineageName[]
  /** Of an event that cannot be read any more, or whose run would make too many edges. */
  readonly reason?: string
}

interface OutcomeRow {
  readonly place: number
  readonly outcome: Exclude<LineageOutcome['kind'], 'unbounded'>
  readonly refusal: EventRefusal | null
}

/** The graph `id` of a dataset. */
export function datasetId({ namespace, name }: LineageName): string {
  return nodeId(`${namespace}\u001f${name}`)
}

/** The graph `id` of a job. */
export function jobId({ namespace, name }: LineageName): string {
  return nodeId(`${namespace}\u001f${name}`)
}

/** Bounds of a batch. */
export interface BatchBounds {
  /** Milliseconds after which no further event is begun. Default: none. */
  readonly batchMs?: number
  /** Edges that the cycle check of an event may read before the event is heavy. Default: all. */
  readonly edgesMax?: number
}

/**
 * Stores events and merges their edges, in order, in one SERIALIZABLE transaction, because A→B and B→A take different
 * locks and each must see the other or fail.
 * @param merging false: only stores the events, after merging has failed
 * @returns one outcome per event
 * @throws Fault; then no event is stored, or after a lost connection that is unknown. Retry where `isContention`
 */
export async function receiveLineage(
  store: Store,
  tenant: TenantId,
  events: readonly ReceivedEvent[],
  merging: boolean,
  { batchMs = 3_600_000, edgesMax = Number.MAX_SAFE_INTEGER }: BatchBounds = {},
): Promise<readonly LineageOutcome[]> {
  let offset = 0
  const items = events.map((received) => {
    const item = eventItem(received, offset)
    offset += received.event.body.length
    return item
  })
  const rows = await store.tenantQuery<OutcomeRow>(
    tenant,
    'select place, outcome, refusal from svc.receive_lineage($1::text::jsonb, $2, $3, $4::float8, $5::int8)',
    [storableJson(items), Buffer.concat(events.map(({ event }) => event.body)), merging, batchMs, edgesMax],
    { isolation: 'serializable' },
  )
  if (rows.length !== events.length)
    throw new Fault('internal', 'Internal error.', {
      detail: 'receive_lineage returned the wrong number of rows',
    })
  return rows.map(({ outcome, refusal }) => {
    if (outcome !== 'refused') return { kind: outcome }
    if (refusal?.reason !== undefined) return { kind: 'unbounded', reason: refusal.reason }
    const first = refusal?.refused?.[0]
    if (first === undefined)
      throw new Fault('internal', 'Internal error.', { detail: 'receive_lineage refused no edge' })
    return { kind: outcome, count: refusal?.count ?? 1, first }
  })
}

const contention = new Set(['40001', '40P01', '55P03', '23505'])

/** Whether a fault came from a concurrent transaction, so that a retry may succeed. */
export function isContention(fault: Fault): boolean {
  return contention.has(fault.detail ?? '')
}

/** An event in the form that svc.receive_lineage reads. */
function eventItem({ event, identified, origin }: ReceivedEvent, offset: number) {
  const { job, parent, inputs, outputs, columns, body } = event
  const sha256 = createHash('sha256').update(body).digest('hex')
  // A clock that is ahead counts as the time of receipt.
  const atMs = Math.min(event.eventTimeMs, event.receivedAtMs)
  return {
    kind: event.kind,
    producer: event.producer,
    run_id: event.runId,
    event_type: event.eventType ?? null,
    event_time_ms: event.eventTimeMs,
    received_at_ms: event.receivedAtMs,
    job: job === undefined ? null : { id: jobId(job), ...job },
    ...(parent !== undefined && { parent: parentItem(parent) }),
    inputs: inputs.map(datasetItem),
    outputs: outputs.map(datasetItem),
    // What another event of the same run says is added to this.
    run: event.kind === 'run' ? `${event.runId} ${event.producer}` : sha256,
    columns: columns.map((pair) => ({
      ...{ input: datasetId(pair.input), output: datasetId(pair.output), columns: pair.columns },
      as_of_ms: atMs,
    })),
    at_ms: atMs,
    ...aliasItems(inputs),
    completes: event.kind === 'job' || event.eventType === 'COMPLETE',
    state: event.eventType ?? null,
    principal: identified.principal.sub,
    principal_source: identified.source,
    ...(origin && { origin }),
    body_sha256: sha256,
    offset,
    length: body.length,
  }
}

/** The ids of other names of what an event reads, by which other events of its run may mean it. */
function aliasItems(inputs: readonly LineageDataset[]) {
  const named = inputs.flatMap((input) => input.aliases.map((alias) => [datasetId(alias), datasetId(input)]))
  return named.length === 0 ? {} : { aliases: Object.fromEntries(named.toReversed()) as object }
}

function parentItem({ runId, job, root }: LineageParent): object {
  return {
    run_id: runId,
    ...(job !== undefined && { job: { id: jobId(job), ...job } }),
    ...(root !== undefined && { root: parentItem(root) }),
  }
}

/** A dataset in the form that the functions of lineage read. Most have one name only. */
export function datasetItem(dataset: LineageDataset) {
  const { namespace, name, tableClaims, mappedClaims, aliases } = dataset
  const item = { id: datasetId(dataset), namespace, name }
  if (tableClaims.length === 0 && mappedClaims.length === 0 && aliases.length === 0) return item
  const names = {
    tables: tableClaims.map(({ prefix, levels }) => ({ prefix, table_id: tableIdOf(levels) })),
    mapped: mappedClaims.map(({ namespace: mapped, firstLevel, levels }) => ({
      ...{ namespace: mapped, first: firstLevel },
      table_id: tableIdOf(levels),
    })),
    aliases: aliases.map(({ isTableName, ...alias }) => ({
      ...{ is_table_name: isTableName },
      dataset: { id: datasetId(alias), ...alias },
    })),
  }
  return { ...item, names }
}

const tableIdOf = (levels: readonly string[]) =>
  nodeId(tableKey({ namespace: levels.slice(0, -1), name: levels.at(-1) ?? '' }))

/** An event in the inbox whose edges are not merged yet. */
export interface PendingEvent {
  readonly seq: string
  readonly body: Uint8Array
  readonly receivedAtMs: number
  readonly identified: ReceivedEvent['identified']
}

const inboxes = ['lineage_inbox', 'lineage_event'] as const

/** Pending events whose next attempt is due, oldest first. */
export async function duePendingEvents(
  store: Store,
  tenant: TenantId,
  limit: number,
): Promise<readonly PendingEvent[]> {
  const rows = await store.tenantQuery<{
    readonly event_seq: string
    readonly body: Uint8Array
    readonly received_at_ms: number
    readonly principal: string
    readonly principal_source: PrincipalSource
  }>(
    tenant,
    `select * from (${inboxes
      .map(
        (table) => `(select event_seq, body, principal, principal_source,
          round(extract(epoch from received_at) * 1000)::float8 as received_at_ms
        from ${table} where state = 'pending' and next_attempt_at <= now() order by next_attempt_at limit $1::int)`,
      )
      .join(' union all ')}) due order by event_seq limit $1::int`,
    [limit],
  )
  return rows.map((row) => ({
    seq: row.event_seq,
    body: row.body,
    receivedAtMs: row.received_at_ms,
    identified: { principal: { sub: row.principal, roles: [] }, source: row.principal_source },
  }))
}

/** Milliseconds before the second attempt at a pending event. The delay doubles with each further attempt. */
const retryMs = 60_000
const retryMsMax = 3_600_000

/** Records a failed attempt at a pending event and schedules the next. */
export async function postponePendingEvent(
  store: Store,
  tenant: TenantId,
  seq: string,
  error: string,
): Promise<void> {
  await updateEvent(
    store,
    tenant,
    seq,
    `attempts = attempts + 1, last_error = $2,
     next_attempt_at = now() + least($3::float8 * power(2, least(attempts, 30)), $4::float8) * interval '1 ms'`,
    [error, retryMs, retryMsMax],
  )
}

/** Closes a pending event that can never be merged. */
export async function refusePendingEvent(
  store: Store,
  tenant: TenantId,
  seq: string,
  reason: string,
): Promise<void> {
  await updateEvent(store, tenant, seq, `state = 'refused', refusal = $2::text::jsonb`, [
    storableJson({ reason }),
  ])
}

async function updateEvent(
  store: Store,
  tenant: TenantId,
  seq: string,
  assignments: string,
  params: readonly (string | number)[],
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    for (const table of inboxes)
      await tx.query(`update ${table} set ${assignments} where event_seq = $1::int8 and state = 'pending'`, [
        seq,
        ...params,
      ])
  })
}

/** How many of the tenant's events are stored but not merged. */
export async function countPendingEvents(store: Store, tenant: TenantId): Promise<number> {
  const [row] = await store.tenantQuery<{ n: string }>(
    tenant,
    `select ${inboxes.map((table) => `(select count(*) from ${table} where state = 'pending')`).join(' + ')} as n`,
  )
  return Number(row?.n)
}

/** An event in the inbox. */
export interface StoredEvent {
  readonly kind: LineageEventKind
  readonly eventType: string | undefined
  readonly eventTime: Date
  readonly receivedAt: Date
  readonly job: LineageName | undefined
  readonly principal: string
  readonly principalSource: PrincipalSource
  /** Undefined for an event of an earlier version. */
  readonly origin: ChangeOrigin | undefined
  readonly state: 'pending' | 'merged' | 'refused'
  /** Why the event was refused. */
  readonly refusal: EventRefusal | undefined
  /** Hex. */
  readonly bodySha256: string
  readonly body: Uint8Array
}

interface StoredRow {
  readonly event_seq: string
  readonly kind: LineageEventKind
  readonly event_type: string | null
  readonly event_time_ms: number
  readonly received_at: Date
  readonly job_namespace: string | null
  readonly job_name: string | null
  readonly principal: string
  readonly principal_source: PrincipalSource
  readonly origin: ChangeOrigin | null
  readonly state: StoredEvent['state']
  readonly refusal: StoredEvent['refusal'] | null
  readonly sha: string
  readonly body: Uint8Array
}

/** A low limit, because each item may be as large as a request body. */
const runPageMax = 20

/**
 * The events of one run, in the order in which they were received.
 * @param runId in lower case
 * @param readableOnly leaves out events of jobs that are not seen
 * @throws Fault `bad_request` for a bad page token or a limit above 20
 */
export async function listRunEvents(
  store: Store,
  tenant: TenantId,
  {
    producer,
    runId,
    readableOnly = false,
    after = '0',
    limit = runPageMax,
  }: { producer: string; runId: string; readableOnly?: boolean } & PageRequest,
): Promise<Page<StoredEvent>> {
  if (!/^\d{1,18}$/.test(after)) throw new Fault('bad_request', 'The page token is not valid.')
  if (!Number.isInteger(limit) || limit < 1 || limit > runPageMax)
    throw new Fault('bad_request', `A page holds 1 to ${runPageMax} items.`)
  // Times are read as numbers, because a producer may send any year and years before 100 are misread from text.
  const columns = `event_seq, kind, event_type, round(extract(epoch from event_time) * 1000)::float8 as event_time_ms,
    received_at, job_namespace, job_name, principal, principal_source, origin, state, refusal, encode(body_sha256, 'hex') as sha, body`
  const rows = await store.tenantQuery<StoredRow>(
    tenant,
    `select * from (${inboxes
      .map(
        (table) => `select ${columns} from ${table}
         where producer = $1 and run_id = $2::uuid and kind = 'run' and event_seq > $3::int8
           ${readableOnly ? `and ${isSeenJobNamed(`${table}.job_namespace`, `${table}.job_name`)}` : ''}`,
      )
      .join(' union all ')}) run order by event_seq limit $4::int`,
    [producer, runId, after, limit + 1],
    { readOnly: true },
  )
  const page = toPage(rows, limit, (row) => row.event_seq)
  return { ...page, items: page.items.map(toStoredEvent) }
}

function toStoredEvent(row: StoredRow): StoredEvent {
  return {
    kind: row.kind,
    eventType: row.event_type ?? undefined,
    eventTime: new Date(row.event_time_ms),
    receivedAt: row.received_at,
    job: row.job_name === null ? undefined : { namespace: row.job_namespace ?? '', name: row.job_name },
    principal: row.principal,
    principalSource: row.principal_source,
    origin: row.origin ?? undefined,
    state: row.state,
    refusal: row.refusal ?? undefined,
    bodySha256: row.sha,
    body: row.body,
  }
}
