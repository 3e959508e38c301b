/** Lists detection runs, shows one with its attempts, and queues rescans (docs/reference/detection.md 3.2). */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { canonicalLocation, type HitSource, type RunState, type ScanReport } from '../../core/detection.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson } from '../database/names.ts'
import {
  afterPosition,
  isUuid,
  type Page,
  type PageRequest,
  pageLimit,
  positionText,
  toPage,
} from '../database/page.ts'
import { isReadable } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { tableOf } from './runs.ts'

export interface DetectionRun {
  readonly id: string
  readonly metadataLocation: string
  readonly source: HitSource
  readonly table: TableRef | undefined
  readonly state: RunState
  readonly attempt: number
  /** Why the run failed; '' otherwise. */
  readonly reason: string
  readonly report: Partial<ScanReport>
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
}

export interface DetectionAttempt {
  readonly attempt: number
  readonly cause: 'trigger' | 'retry' | 'rescan'
  readonly requestedBy: string | undefined
  readonly startedAt: Date
  readonly finishedAt: Date | undefined
  readonly outcome: 'done' | 'partial' | 'failed' | 'lost' | undefined
  readonly reason: string
  readonly report: Partial<ScanReport>
}

interface RunRow {
  readonly run_id: string
  readonly snapshot_metadata_location: string
  readonly source: HitSource
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly state: RunState
  readonly attempt: number
  readonly reason: string
  readonly report: Partial<ScanReport>
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly position: string
}

const runColumns = `run_id, snapshot_metadata_location, source, namespace, table_name, state, attempt, reason, report,
  created_at, finished_at, ${positionText('created_at', 'run_id')} as position`

function toRun(row: RunRow): DetectionRun {
  return {
    id: row.run_id,
    metadataLocation: row.snapshot_metadata_location,
    source: row.source,
    table: tableOf(row),
    state: row.state,
    attempt: row.attempt,
    reason: row.reason,
    report: row.report,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  }
}

export interface RunFilter extends PageRequest {
  readonly table?: TableRef | undefined
  readonly state?: RunState | undefined
  /** Leaves out runs of tables that may not be read. Default: false. */
  readonly readableOnly?: boolean
}

/**
 * The tenant's runs, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listRuns(
  store: Store,
  tenant: TenantId,
  filter: RunFilter = {},
): Promise<Page<DetectionRun>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, limit + 1],
    ['table_id = ?::text', filter.table && nodeId(tableKey(filter.table))],
    // Written out, because the index of what is not done serves no parameter of a kept plan.
    [`state ${filter.state === 'done' ? '=' : `<> 'done' and state =`} ?::text`, filter.state],
    ['(created_at, run_id) < (?::timestamptz, ?::uuid)', ...afterPosition(filter)],
  )
  const rows = await store.tenantQuery<RunRow>(
    tenant,
    `select ${runColumns} from svc.detection_run
     where tenant_id = $1${text}${filter.readableOnly === true ? readable : ''}
     order by created_at desc, run_id desc limit $2::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.position)
  return { ...page, items: page.items.map(toRun) }
}

const readable = ` and ${isReadable('table_id')}`

/**
 * A run with its attempts, or undefined.
 * @param readableOnly whether only a run of a table that may be read is found
 */
export async function findRun(
  store: Store,
  tenant: TenantId,
  runId: string,
  readableOnly = false,
): Promise<(DetectionRun & { readonly attempts: readonly DetectionAttempt[] }) | undefined> {
  if (!isUuid(runId)) return undefined
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const [run] = await tx.query<RunRow>(
        `select ${runColumns} from svc.detection_run where tenant_id = $1 and run_id = $2${readableOnly ? readable : ''}`,
        [tenant, runId],
      )
      if (run === undefined) return undefined
      const attempts = await tx.query<{
        readonly attempt: number
        readonly cause: DetectionAttempt['cause']
        readonly requested_by: string | null
        readonly started_at: Date
        readonly finished_at: Date | null
        readonly outcome: DetectionAttempt['outcome'] | null
        readonly reason: string
        readonly report: Partial<ScanReport>
      }>(
        `select attempt, cause, requested_by, started_at, finished_at, outcome, reason, report
         from svc.detection_attempt where tenant_id = $1 and run_id = $2 order by attempt desc limit 100`,
        [tenant, runId],
      )
      return {
        ...toRun(run),
        attempts: attempts.map((row) => ({
          attempt: row.attempt,
          cause: row.cause,
          requestedBy: row.requested_by ?? undefined,
          startedAt: row.started_at,
          finishedAt: row.finished_at ?? undefined,
          outcome: row.outcome ?? undefined,
          reason: row.reason,
          report: row.report,
        })),
      }
    },
    { readOnly: true },
  )
}

/** Where the catalog has the table now. */
export interface CurrentMetadata {
  readonly metadataLocation: string
  readonly credentialId: string
}

/** Where a scan read its metadata file, and with which credential. */
export interface PlaceOfScan {
  readonly metadataLocation: string
  readonly credentialId: string | undefined
}

/** Where the table's newest run was, and by which credential; undefined where the table has none. */
export async function lastPlaceOf(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<PlaceOfScan | undefined> {
  const [run] = await store.tenantQuery<{ location: string; credential_id: string | null }>(
    tenant,
    `select snapshot_metadata_location as location, credential_id from svc.detection_run
     where tenant_id = $1 and table_id = $2 order by created_at desc, run_id desc limit 1`,
    [tenant, nodeId(tableKey(table))],
  )
  return run && { metadataLocation: run.location, credentialId: run.credential_id ?? undefined }
}

/**
 * Queues a scan of a table's current snapshot, as a further attempt under its run. A metadata file without a run gets
 * one.
 * @param actor the requester, whose subject is recorded with the attempt
 * @param current undefined where the catalog cannot be asked: then the newest known run is taken
 * @returns the run, or undefined where the table has none
 * @throws Fault `conflict` where a scan is already queued or running
 */
export function requestRescan(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  actor: Actor,
  current?: CurrentMetadata,
): Promise<DetectionRun | undefined> {
  const tableId = nodeId(tableKey(table))
  return store.tenantTransaction(tenant, async (tx) => {
    const location = current === undefined ? null : canonicalLocation(current.metadataLocation)
    const isNew =
      current !== undefined &&
      (
        await tx.query(
          `insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
           values ($1, $2, 'baseline-poller', $3, $4, $5::text::jsonb, $6)
           on conflict on constraint detection_run_snapshot do nothing returning 1`,
          [tenant, location, current.credentialId, tableId, storableJson(table.namespace), table.name],
        )
      ).length === 1
    const [run] = await tx.query<{ run_id: string; state: RunState }>(
      `select run_id, state from svc.detection_run
       where tenant_id = $1 and ${location === null ? 'table_id' : 'snapshot_metadata_location'} = $2
       order by created_at desc, run_id desc limit 1 for update`,
      [tenant, location ?? tableId],
    )
    if (run === undefined) return undefined
    if (!isNew && (run.state === 'queued' || run.state === 'running'))
      throw new Fault('conflict', 'A scan of the table is already queued or running.')
    const rows = await tx.query<RunRow>(
      `update svc.detection_run set state = 'queued', cause = 'rescan', requested_by = $3, tries = 0, due_at = clock_timestamp()
       where tenant_id = $1 and run_id = $2 returning ${runColumns}`,
      [tenant, run.run_id, actor.sub],
    )
    await recordAdministration(tx, actor, { action: 'rescan-table', subject: { table, run: run.run_id } })
    return rows.map(toRun)[0]
  })
}

interface QueueDepth {
  readonly queued: number
  readonly running: number
  /** Seconds that the oldest due run has waited. */
  readonly oldestSeconds: number
}

/** How many runs are queued and running, over all tenants. */
export async function queueDepth(store: Store): Promise<QueueDepth> {
  const [row] = await store.adminQuery<{ queued: number; running: number; oldest: number }>(
    `select count(*) filter (where state = 'queued')::int as queued, count(*) filter (where state = 'running')::int as running,
       coalesce(extract(epoch from clock_timestamp() - min(due_at) filter (where state = 'queued' and due_at <= clock_timestamp())), 0)::float8 as oldest
     from svc.detection_run where state in ('queued', 'running')`,
  )
  return { queued: row?.queued ?? 0, running: row?.running ?? 0, oldestSeconds: row?.oldest ?? 0 }
}
