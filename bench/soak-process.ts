/** Runs the whole service for the soak, in a process of its own: tenants that commit and read, and a history. */

import postgres from 'postgres'
import { createLogger } from '../src/telemetry/log.ts'
import { addReader, type LakeCatalog, startLake } from '../test/support/lake.ts'
import { ordersTable } from '../test/support/lake-tables.ts'
import { openBenchStore } from './bench-store.ts'
import { type Opened, obeyParent } from './child.ts'
import type { BenchStore } from './entry.ts'
import { prepareTenant } from './prepare-tenant.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { type MemoryProfile, memoryProfile } from './settled-memory.ts'
import type { UpstreamAddress } from './upstream.ts'

/** The orders of the parent. Each gets one result, in order. */
export type SoakOrder =
  | {
      readonly kind: 'open'
      readonly store: BenchStore
      /** Whether jobs run by time. */
      readonly jobs: boolean
      readonly upstream: UpstreamAddress
      /** The same catalog, as tables to read are written to it. */
      readonly catalog: LakeCatalog
    }
  /** Makes a tenant that has tables in its own namespace, which exists. One that reads has `orders` there. */
  | {
      readonly kind: 'tenant'
      readonly namespace: string
      readonly tables: readonly string[]
      readonly reads: boolean
    }
  /** Adds rows of the audit log and usage records, spread over the tenants: copies of one of each that is there. */
  | { readonly kind: 'history'; readonly auditRows: number; readonly usageRows: number }
  | { readonly kind: 'profile'; readonly settle: boolean }

export interface SoakResults {
  readonly open: { readonly url: string; readonly port: number; readonly database: string }
  /** Of the session that commits, or the password of the user `bob`, to whom the filter and the mask apply. */
  readonly tenant: { readonly secret: string }
  readonly history: true
  readonly profile: MemoryProfile
}

/** Rows of one statement that loads. */
const chunkRows = 100_000

async function open({
  store: kind,
  jobs,
  catalog,
  upstream,
}: SoakOrder & { kind: 'open' }): Promise<Opened<SoakOrder>> {
  const opened = await openBenchStore(kind)
  const { store, databaseUrl } = opened
  const lake = await startLake({
    ...{ store, catalog, tables: [ordersTable], jobsByTime: jobs },
    // Every line is formatted as in production, but not written.
    log: createLogger({ level: 'info', destination: { write: () => {} } }),
  })
  const tenants: string[] = []
  return {
    result: {
      url: lake.app.url.href,
      port: lake.app.pgwirePort,
      database: lake.catalog,
    } satisfies SoakResults['open'],
    async serve(order): Promise<SoakResults[keyof SoakResults]> {
      switch (order.kind) {
        case 'open':
          throw new Error('the service is open already')
        case 'tenant': {
          const { tenant, secret } = await prepareTenant(store, upstream, {
            ...order,
            policies: enforcedPolicies(1, 0),
          })
          tenants.push(tenant)
          if (!order.reads) return { secret }
          const { namespace } = order
          return { secret: await addReader(lake, tenant, catalog, { table: ordersTable, namespace }) }
        }
        case 'profile':
          return await memoryProfile(order.settle)
        case 'history':
          if (databaseUrl === undefined) throw new Error('a history needs a server')
          await addHistory(databaseUrl, tenants, order)
          return true
      }
    },
    async close() {
      await lake[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

async function addHistory(
  databaseUrl: string,
  tenants: readonly string[],
  { auditRows, usageRows }: SoakOrder & { kind: 'history' },
): Promise<void> {
  const tenant = `(array[${tenants.map((id) => `'${id}'`).join(', ')}]::uuid[])[1 + i % ${tenants.length}]`
  // In the month to which rows are added, because that is the largest that a request may meet.
  const time = `now() - (now() - date_trunc('month', now())) * (i % 1000 / 1000.0)`
  const loads = [
    {
      ...{ table: 'svc.audit_log', numbered: 'audit_seq', rows: auditRows, of: `action = 'update-table'` },
      set: {
        tenant_id: tenant,
        commit_id: 'gen_random_uuid()',
        table_id: `t.table_id || '-' || i % 50`,
        metadata_location: `'s3://loaded/' || i`,
        received_at: time,
        created_at: time,
      },
    },
    {
      ...{ table: 'svc.query_usage', numbered: 'usage_seq', rows: usageRows, of: 'true' },
      set: {
        tenant_id: tenant,
        query_id: 'gen_random_uuid()',
        principal_sub: `'person' || i % 50`,
        started_at: time,
      },
    },
  ]
  await Promise.all(
    loads.map(async ({ table, numbered, rows, of, set }) => {
      const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
      try {
        // So that nothing but the rows is written.
        await sql.unsafe('set session_replication_role = replica; set synchronous_commit = off').simple()
        const columns = await sql<{ name: string }[]>`select attname as name from pg_attribute
          where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attname <> ${numbered}`
        const values = columns.map(({ name }) => (set as Record<string, string>)[name] ?? `t."${name}"`)
        const names = columns.map(({ name }) => `"${name}"`).join(', ')
        for (let from = 1; from <= rows; from += chunkRows)
          await sql.unsafe(`insert into ${table} (${names}) select ${values.join(', ')}
            from (select * from ${table} where ${of} limit 1) t,
              generate_series(${from}, ${Math.min(from + chunkRows - 1, rows)}) i`)
        await sql.unsafe(`analyze ${table}`)
      } finally {
        await sql.end()
      }
    }),
  )
}

if (import.meta.main) obeyParent<SoakOrder>(open)
