/** What stewards take back of lineage and restore, and after how long an edge is stale (docs/reference/lineage.md 4.8). */

import type { Actor } from '../../core/administration.ts'
import type { LineageName } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'
import { datasetId, jobId } from './events.ts'

/** What is taken back. */
export type RetiredSubject =
  | { readonly edge: { readonly from: LineageName; readonly to: LineageName } }
  | { readonly dataset: LineageName }
  | { readonly run: { readonly producer: string; readonly runId: string } }

interface Retirement {
  readonly id: string
  readonly subject: RetiredSubject
  readonly reason: string
  readonly by: string
  readonly at: Date
}

function idsOf(subject: RetiredSubject): object {
  if ('edge' in subject) return { source: datasetId(subject.edge.from), target: datasetId(subject.edge.to) }
  if ('dataset' in subject) return { dataset: datasetId(subject.dataset) }
  return { producer: subject.run.producer, run_id: subject.run.runId }
}

/**
 * Takes back an edge, a dataset with its edges, or a run, until it is restored.
 * @returns the id of the retirement; undefined where there is no such thing, or it was taken back before
 */
export async function retireLineage(
  store: Store,
  tenant: TenantId,
  { subject, reason }: { subject: RetiredSubject; reason: string },
  by: Actor,
): Promise<string | undefined> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const given = { ...idsOf(subject), subject, reason, by: by.sub }
      const [row] = await tx.query<{ id: string | null }>(
        'select svc.retire_lineage($1::text::jsonb) as id',
        [storableJson(given)],
      )
      if (row === undefined || row.id === null) return undefined
      await recordAdministration(tx, by, {
        ...{ action: 'retire-lineage', subject: { retirement: row.id, ...subject }, value: { reason } },
      })
      return row.id
    },
    { isolation: 'serializable' },
  )
}

/** Ends a retirement. @returns whether there was one */
export async function restoreLineage(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor,
): Promise<boolean> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const [row] = await tx.query<{ subject: object | null }>(
        'select svc.restore_lineage($1::uuid) as subject',
        [id],
      )
      if (row === undefined || row.subject === null) return false
      await recordAdministration(tx, by, {
        ...{ action: 'restore-lineage', subject: { retirement: id, ...row.subject } },
      })
      return true
    },
    { isolation: 'serializable' },
  )
}

/** What is taken back at present, by id. */
export async function listRetirements(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<Retirement>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Retirement>(
    tenant,
    `select retirement_id as id, subject, reason, retired_by as by, retired_at as at from lineage_retirement
     where retirement_id > $1 order by retirement_id limit $2::int`,
    [afterUuid(page), limit + 1],
    { readOnly: true },
  )
  return toPage(rows, limit, ({ id }) => id)
}

interface Staleness {
  /** Undefined: of all jobs without a number of their own. */
  readonly job: LineageName | undefined
  readonly days: number
}

/** Sets after how many days without a run that says it an edge is stale. @param days undefined: never */
export async function setStaleness(
  store: Store,
  tenant: TenantId,
  { job, days }: Pick<Staleness, 'job'> & { readonly days: number | undefined },
  by: Actor,
): Promise<void> {
  const id = job === undefined ? '' : jobId(job)
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query('delete from lineage_staleness where job_id = $1', [id])
    if (days !== undefined)
      await tx.query(
        'insert into lineage_staleness (job_id, namespace, name, days) values ($1, $2, $3, $4::int)',
        [
          id,
          job === undefined ? null : storableText(job.namespace),
          job === undefined ? null : storableText(job.name),
          days,
        ],
      )
    const value = days === undefined ? {} : { value: { days } }
    await recordAdministration(tx, by, {
      action: 'set-lineage-staleness',
      subject: { job: job ?? null },
      ...value,
    })
  })
}

/** The settings, in the order of their jobs. */
export async function listStaleness(store: Store, tenant: TenantId): Promise<readonly Staleness[]> {
  const rows = await store.tenantQuery<{ namespace: string | null; name: string | null; days: number }>(
    tenant,
    'select namespace, name, days from lineage_staleness order by job_id collate "C"',
    [],
    { readOnly: true },
  )
  return rows.map(({ namespace, name, days }) => ({
    job: namespace === null || name === null ? undefined : { namespace, name },
    days,
  }))
}
