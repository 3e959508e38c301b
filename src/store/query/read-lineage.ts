/** Adds up the lineage of statements by who read what into which result, and lists it. It holds no statement. */

import { type ReadLineage, readLineageBounds } from '../../core/read-lineage.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

export interface ReadLineageEntry {
  readonly principal: string
  /** Of the statement without its literals. */
  readonly fingerprint: string
  readonly lineage: ReadLineage
  /** Statements that completed since the last time. */
  readonly reads: number
  readonly lastAt: Date
}

/** Adds entries of one tenant, and removes its oldest beyond the bound. */
export async function addReadLineage(
  store: Store,
  tenant: TenantId,
  entries: readonly ReadLineageEntry[],
): Promise<void> {
  const rows = new Map<string, Readonly<Record<string, unknown>> & { readonly reads: number }>()
  for (const { principal, fingerprint, lineage, reads, lastAt } of entries) {
    const key = new Bun.CryptoHasher('sha256')
      .update(JSON.stringify([principal, fingerprint, lineage]))
      .digest('hex')
    const before = rows.get(key)
    rows.set(key, {
      lineage_key: key,
      principal_sub: principal,
      fingerprint,
      ...lineage,
      reads: reads + (before?.reads ?? 0),
      last_read_at: lastAt,
    })
  }
  if (rows.size === 0) return
  await store.tenantTransaction(
    tenant,
    async (tx) => {
      // In the order of their keys, so that two processes do not wait for each other in turn.
      await tx.query(
        `insert into svc.read_lineage as l (tenant_id, lineage_key, principal_sub, fingerprint, columns, outputs,
           conditions, truncated, reads, first_read_at, last_read_at)
         select $1, r.lineage_key, r.principal_sub, r.fingerprint, r.columns, r.outputs, r.conditions, r.truncated,
           r.reads, r.last_read_at, r.last_read_at
         from jsonb_to_recordset($2::text::jsonb) r (lineage_key text, principal_sub text, fingerprint text,
           columns jsonb, outputs jsonb, conditions jsonb, truncated boolean, reads int8, last_read_at timestamptz)
         order by r.lineage_key
         on conflict (tenant_id, lineage_key) do update set reads = l.reads + excluded.reads,
           last_read_at = greatest(l.last_read_at, excluded.last_read_at)`,
        [tenant, storableJson([...rows.values()])],
      )
      await tx.query(
        `delete from svc.read_lineage where tenant_id = $1 and lineage_key in (
           select lineage_key from svc.read_lineage where tenant_id = $1
           order by last_read_at desc, lineage_key offset $2::int)`,
        [tenant, readLineageBounds.rowsMax],
      )
    },
    { mayBeLost: true },
  )
}

/** Rows that one statement removes. */
const forgottenMax = 1_000

/** Removes lineage that was last read longer ago than it is kept. @returns how many rows */
export async function forgetReadLineage(
  store: Store,
  tenant: TenantId,
  keptMs: number = readLineageBounds.keptMs,
): Promise<number> {
  let count = 0
  for (;;) {
    const rows = await store.tenantQuery<object>(
      tenant,
      `delete from svc.read_lineage where tenant_id = $1 and ctid = any (array(
         select ctid from svc.read_lineage where tenant_id = $1
           and last_read_at < now() - $2::float8 * interval '1 ms' order by last_read_at limit $3::int for update))
       returning 1`,
      [tenant, keptMs, forgottenMax],
    )
    count += rows.length
    if (rows.length < forgottenMax) return count
  }
}

interface ReadLineageFilter {
  /** Read from this table, and this column of it. */
  readonly table?: TableRef | undefined
  readonly column?: string | undefined
  /** Subject of who read. */
  readonly principal?: string | undefined
}

export interface ListedReadLineage {
  readonly principal: string
  readonly fingerprint: string
  readonly lineage: ReadLineage
  readonly reads: number
  readonly firstReadAt: Date
  readonly lastReadAt: Date
}

type Row = ReadLineage & {
  readonly lineage_seq: string
  readonly principal_sub: string
  readonly fingerprint: string
  readonly reads: string
  readonly first_read_at: Date
  readonly last_read_at: Date
}

/**
 * The tenant's lineage by reading, newest first: by when its columns were first read together.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listReadLineage(
  store: Store,
  tenant: TenantId,
  { table, column, principal, ...page }: ReadLineageFilter & PageRequest,
): Promise<Page<ListedReadLineage>> {
  const limit = pageLimit(page)
  const sub = principal === undefined ? undefined : storableText(principal)
  const wanted = table && {
    namespace: table.namespace,
    name: table.name,
    ...(column !== undefined && { column }),
  }
  const { text, params } = given(
    [tenant, limit + 1],
    ['l.columns @> ?::text::jsonb', wanted && storableJson([wanted])],
    ['(md5(l.principal_sub) = md5(?::text) and l.principal_sub = ?::text)', sub, sub],
    ['l.lineage_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select l.* from svc.read_lineage l where l.tenant_id = $1${text} order by l.lineage_seq desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.lineage_seq)
  return {
    ...found,
    items: found.items.map(({ columns, outputs, conditions, truncated, ...row }) => ({
      principal: row.principal_sub,
      fingerprint: row.fingerprint,
      lineage: { columns, outputs, conditions, truncated },
      reads: Number(row.reads),
      firstReadAt: row.first_read_at,
      lastReadAt: row.last_read_at,
    })),
  }
}
