/** Lists the jobs, runs and datasets of lineage events, with the states of runs (docs/reference/lineage.md 6.4). */

import { Fault } from '../../base/fault.ts'
import type { LineageEventType, LineageName, LineageParent } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import { rowAt, rowNumber } from '../graph/node-numbers.ts'
import type { Store } from '../store.ts'
import { isSeenDataset, isSeenJob, isSeenJobNamed } from './seen.ts'

export interface ListedRun {
  readonly seq: string
  readonly producer: string
  readonly runId: string
  readonly job: LineageName | undefined
  readonly parent: LineageParent | undefined
  /** The event type that ended it, the last one where there are several; else the latest. */
  readonly state: LineageEventType
  readonly startedAt: Date
  /** Undefined while it has no event that ends it. */
  readonly endedAt: Date | undefined
}

interface RunRow {
  readonly event_seq: string
  readonly producer: string
  readonly run_id: string
  readonly job_namespace: string | null
  readonly job_name: string | null
  readonly parent_run_id: string | null
  readonly parent_namespace: string | null
  readonly parent_name: string | null
  readonly root_run_id: string | null
  readonly root_namespace: string | null
  readonly root_name: string | null
  readonly state: LineageEventType
  readonly started_ms: number
  readonly state_ms: number
}

/** Whether what is not seen by everybody is left out. Default: false. */
interface Seen {
  readonly readableOnly?: boolean
}

export interface RunFilter extends Seen {
  readonly job?: LineageName
  /** In lower case. */
  readonly parentRunId?: string
  /** In lower case. */
  readonly rootRunId?: string
}

// Times are read as numbers, because years before 100 are misread from text.
const ms = (time: string) => `round(extract(epoch from ${time}) * 1000)::float8`

/** The events of a run `i`: the first, and those beside it. */
const eventsOf = (columns: string) => `(
  select ${columns.replaceAll('%.', 'i.')} union all
  select ${columns.replaceAll('%.', 'l.')} from lineage_event l
  where l.producer = i.producer and l.run_id = i.run_id and l.kind = 'run') e`

/** What is said of a run `i`. */
const runColumns = `i.event_seq, i.producer, i.run_id, i.job_namespace, i.job_name,
  parent.parent_run_id, parent.parent_namespace, parent.parent_name,
  parent.root_run_id, parent.root_namespace, parent.root_name, state.event_type as state,
  ${ms('state.event_time')} as state_ms, ${ms('started.event_time')} as started_ms`
const runFrom = `cross join lateral (
    select e.event_type, e.event_time from ${eventsOf('%.event_type, %.event_time, %.event_seq')}
    order by e.event_type in ('COMPLETE', 'ABORT', 'FAIL') desc, e.event_time desc, e.event_seq desc limit 1) state
  cross join lateral (select min(e.event_time) as event_time from ${eventsOf('%.event_time')}) started
  left join lateral (
    select e.* from ${eventsOf('%.parent_run_id, %.parent_namespace, %.parent_name, %.root_run_id, %.root_namespace, %.root_name, %.event_seq')}
    where e.parent_run_id is not null order by e.event_seq limit 1) parent on true`

/** The runs, the latest received first. @throws Fault `bad_request` for a bad page token or limit */
export async function listRuns(
  store: Store,
  tenant: TenantId,
  { job, parentRunId, rootRunId, readableOnly = false, ...page }: RunFilter & PageRequest,
): Promise<Page<ListedRun>> {
  const limit = pageLimit(page)
  const after = afterCount(page)
  const params: string[] = []
  const param = (value: string) => `$${params.push(value) + 1}`
  const conditions = [
    ...(after === undefined ? [] : [`i.event_seq < ${param(after)}::int8`]),
    ...(job === undefined
      ? []
      : [isOfJob(`${param(storableText(job.namespace))}::text`, `${param(storableText(job.name))}::text`)]),
    ...(parentRunId === undefined ? [] : [`i.parent_run_id = ${param(parentRunId)}::uuid`]),
    ...(rootRunId === undefined ? [] : [`i.root_run_id = ${param(rootRunId)}::uuid`]),
    ...(readableOnly ? [isSeenJobNamed('i.job_namespace', 'i.job_name')] : []),
  ]
  const rows = await store.tenantQuery<RunRow>(
    tenant,
    `select ${runColumns} from (
       select * from lineage_inbox i ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
       order by i.event_seq desc limit $1::int) i ${runFrom} order by i.event_seq desc`,
    [limit + 1, ...params],
    { readOnly: true },
  )
  return toPage(rows.map(toRun), limit, ({ seq }) => seq)
}

/** Of the first event `i` of a run. Each name is compared by itself, as the index needs it. */
const isOfJob = (namespace: string, name: string) =>
  `md5(i.job_name) = md5(${name}) and md5(i.job_namespace) = md5(${namespace})`

function toRun(row: RunRow): ListedRun {
  const hasEnded = row.state === 'COMPLETE' || row.state === 'ABORT' || row.state === 'FAIL'
  const { parent_run_id: runId, parent_namespace: namespace, parent_name: name } = row
  const root =
    row.root_run_id === null
      ? undefined
      : { runId: row.root_run_id, job: jobNamed(row.root_namespace, row.root_name) }
  return {
    seq: row.event_seq,
    producer: row.producer,
    runId: row.run_id,
    job: row.job_name === null ? undefined : { namespace: row.job_namespace ?? '', name: row.job_name },
    parent: runId === null ? undefined : { runId, job: jobNamed(namespace, name), ...(root && { root }) },
    state: row.state,
    startedAt: new Date(row.started_ms),
    endedAt: hasEnded ? new Date(row.state_ms) : undefined,
  }
}

function jobNamed(namespace: string | null, name: string | null): LineageName | undefined {
  return namespace === null || name === null ? undefined : { namespace, name }
}

interface ListedJob extends LineageName {
  readonly parents: readonly LineageName[]
  /** The run that was received last. */
  readonly lastRun: ListedRun | undefined
}

/** The jobs, in a fixed order. @throws Fault `bad_request` for a bad page token or limit */
export async function listJobs(
  store: Store,
  tenant: TenantId,
  { readableOnly = false, ...page }: PageRequest & Seen,
): Promise<Page<ListedJob>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<
    Partial<RunRow> & {
      readonly number: string
      readonly properties: string
      readonly parents: readonly LineageName[] | null
    }
  >(
    tenant,
    `select ${rowNumber('j.id')}::text as number, j.properties::text as properties, (
       select jsonb_agg(jsonb_build_object('namespace', parent -> 'namespace', 'name', parent -> 'name') order by e.id)
       from "PARENT_OF" e join "Job" p on p.id = e.start_id, lateral (select p.properties::text::jsonb as parent) parsed
       where e.end_id = j.id) as parents, run.*
     from (select id, properties, p ->> 'namespace' as namespace, p ->> 'name' as name
       from "Job" one, lateral (select properties::text::jsonb as p) parsed
       where id > ${rowAt('Job', '$1::int8')} ${readableOnly ? `and ${isSeenJob('one.id')}` : ''} order by id limit $2::int) j
     left join lateral (
       select ${runColumns} from (
         select i.* from lineage_inbox i where ${isOfJob('j.namespace', 'j.name')}
         order by i.event_seq desc limit 1) i ${runFrom}) run on true
     order by j.id`,
    [numberAfter(page), limit + 1],
    { readOnly: true },
  )
  const listed = toPage(rows, limit, ({ number }) => number)
  return {
    ...listed,
    items: listed.items.map((row) => ({
      ...nameIn(row.properties),
      parents: row.parents ?? [],
      lastRun: typeof row.event_seq === 'string' ? toRun(row as RunRow) : undefined,
    })),
  }
}

interface ListedDataset extends LineageName {
  /** As `lineage_name.table_key`. */
  readonly tableKey: string | undefined
  readonly jobs: readonly LineageName[]
}

/** The datasets, in a fixed order, with the jobs that write them. @throws Fault as {@link listJobs} */
export async function listDatasets(
  store: Store,
  tenant: TenantId,
  { readableOnly = false, ...page }: PageRequest & Seen,
): Promise<Page<ListedDataset>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<{
    readonly number: string
    readonly properties: string
    readonly table_key: string | null
    readonly jobs: readonly LineageName[] | null
  }>(
    tenant,
    `select ${rowNumber('d.id')}::text as number, d.properties::text as properties,
       (select n.table_key from lineage_name n where n.node = d.id) as table_key, (
         select jsonb_agg(jsonb_build_object('namespace', job -> 'namespace', 'name', job -> 'name') order by e.id)
         from (select id, end_id from "PRODUCED_BY" where start_id = d.id order by id limit ${jobsShown}) e
           join "Job" j on j.id = e.end_id, lateral (select j.properties::text::jsonb as job) parsed) as jobs
     from (select id, properties from "Dataset" one
       where id > ${rowAt('Dataset', '$1::int8')} ${readableOnly ? `and ${isSeenDataset('one')}` : ''} order by id limit $2::int) d order by d.id`,
    [numberAfter(page), limit + 1],
    { readOnly: true },
  )
  const listed = toPage(rows, limit, ({ number }) => number)
  return {
    ...listed,
    items: listed.items.map((row) => ({
      ...nameIn(row.properties),
      tableKey: row.table_key ?? undefined,
      jobs: row.jobs ?? [],
    })),
  }
}

/** Jobs that a listed dataset names. */
const jobsShown = 20

function numberAfter({ after = '0' }: PageRequest): string {
  if (!/^\d{1,14}$/.test(after)) throw new Fault('bad_request', 'The page token is not valid.')
  return after
}

function nameIn(properties: string): LineageName {
  const { namespace, name } = parseAgtype(properties) as LineageName & Record<string, unknown>
  return { namespace, name }
}
