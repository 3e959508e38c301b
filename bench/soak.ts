/**
 * Compares what the store does for a commit and for a query on an installation with many tenants and a long history, and
 * on an empty one of one tenant, by turns; and on one with as many tenants and no history, which tells the two apart. No HTTP, no upstream and no engine, because those do not know how much the store holds.
 */

import postgres from 'postgres'
import { appliedPolicy } from '../src/core/commit.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { openIntent } from '../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../src/store/commit/verdicts.ts'
import { readGovernance } from '../src/store/governance/governance.ts'
import { loadWriteGovernance, putPolicy } from '../src/store/policy/policies.ts'
import { listUsage, recordUsage } from '../src/store/query/usage.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { committedTable } from '../src/wire/iceberg/table-metadata.ts'
import { usageRecord } from '../test/support/usage.ts'
import { type OpenBenchStore, openBenchStore } from './bench-store.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { sampleIntent } from './sample-intent.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { Appends, sampleMetadata, tableSizes } from './sample-table.ts'
import { percentile, type Random, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const namespace = ['bench']
const ratioMax = 1.2
const warmRounds = 300
/** Rows of one statement that loads. */
const chunkRows = 100_000

const sizes = {
  tenants: { default: 200, smoke: 3, about: 'tenants (default 200)' },
  tables: { default: 50, smoke: 2, about: 'tables of each tenant (default 50)' },
  'audit-rows': { default: 1_000_000, smoke: 50, about: 'rows of the audit log in all (default 1,000,000)' },
  'usage-rows': { default: 5_000_000, smoke: 50, about: 'usage records in all (default 5,000,000)' },
  rounds: { default: 2_000, smoke: 3, about: 'turns that are measured (default 2,000)' },
} as const
type Sizes = Readonly<Record<keyof typeof sizes, number>>

export const soak: BenchEntry = {
  name: 'soak',
  about:
    'commits and queries of the store with many tenants and a long history, by turns with an empty store',
  options: {
    ...storeOptions,
    ...Object.fromEntries(
      Object.entries(sizes).map(([name, { about }]) => [
        name,
        { type: 'string' as const, value: 'N', about },
      ]),
    ),
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const stores = chosenStores(run).filter(({ kind }) => kind === 'postgres')
  const [store] = stores
  if (store === undefined) {
    if (run.smoke) return
    throw new BenchUsageError('soak needs PostgreSQL: --database-url or SVC_TEST_DATABASE_URL.')
  }
  const size = Object.fromEntries(
    Object.entries(sizes).map(([name, each]) => [
      name,
      run.flags.number(name, 1, 1_000_000_000) ?? (run.smoke ? each.smoke : each.default),
    ]),
  ) as Sizes
  const random = seededRandom(run.seed)
  await using empty = await openBenchStore(store)
  await using wide = await openBenchStore(store)
  await using full = await openBenchStore(store)
  const bare = await installation(empty, { ...size, tenants: 1 }, random)
  const young = await installation(wide, size, random)
  const grown = await installation(full, size, random)
  run.smoke || run.note('  soak: loading')
  await load(full, grown.tenants, size)
  run.smoke || run.note('  soak: measuring')
  const all = [bare, young, grown]
  // Opens connections and plans, which a store that has been in use has.
  const warm = Math.min(size.rounds, warmRounds)
  await interleavedTimes(
    all.flatMap(({ commit, query }) => [commit, query]),
    warm,
    random,
  )
  for (const of of ['commit', 'query'] as const) {
    const times = await interleavedTimes(
      all.map((one) => one[of]),
      size.rounds,
      random,
    )
    const [emptyMs = 0, youngMs = 0, ms = 0] = times.map((each) => percentile(each, 0.95))
    yield {
      bench: 'soak',
      case: {
        ...{ of, tenants: size.tenants, tables: size.tables },
        ...{ audit_rows: size['audit-rows'], usage_rows: size['usage-rows'] },
      },
      figures: {
        empty_p95_ms: rounded(emptyMs),
        no_history_p95_ms: rounded(youngMs),
        p95_ms: rounded(ms),
        ratio: rounded(ms / emptyMs),
        history_ratio: rounded(ms / youngMs),
      },
      verdict: ms / emptyMs <= ratioMax ? `within ${ratioMax}` : `above ${ratioMax}`,
    }
  }
}

interface Installation {
  readonly tenants: readonly TenantId[]
  /** What the store does for a commit of one of the tenants to one of its tables. */
  readonly commit: () => Promise<void>
  /** What it does for a query: what governs the table, the record, and a page of the principal's records. */
  readonly query: () => Promise<void>
}

async function installation({ store }: OpenBenchStore, size: Sizes, random: Random): Promise<Installation> {
  const tenants: TenantId[] = []
  const refs = Array.from({ length: size.tables }, (_, index) => ({ namespace, name: `t${index}` }))
  for (let index = 0; index < size.tenants; index++) {
    const { id } = await createTenant(store, { name: `tenant ${index}` })
    for (const ref of refs)
      for (const policy of enforcedPolicies(1, 0)) await putPolicy(store, id, ref, policy)
    tenants.push(id)
  }
  const one = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const appends = new Appends(tableSizes.small)
  const metadata = sampleMetadata(appends, Date.now())
  let version = 0
  return {
    tenants,
    async commit() {
      await commitOnce(store, one(tenants), one(refs), appends, (metadataLocation) =>
        committedTable({ metadataLocation, metadata }),
      )
      version++
    },
    async query() {
      const [tenant, ref] = [one(tenants), one(refs)]
      await readGovernance((text, params) => store.tenantQuery(tenant, text, params), ref)
      await recordUsage(store, tenant, usageRecord({ principal: `person${version % 50}` }))
      await listUsage(store, tenant, { principal: `person${version % 50}` }, { limit: 20 })
    },
  }
}

let written = 0

async function commitOnce(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  appends: Appends,
  committedAt: (place: string) => ReturnType<typeof committedTable>,
): Promise<void> {
  const place = (number: number) => `s3://bench/${table.name}/metadata/${tenant}-${number}.metadata.json`
  const policies = (await loadWriteGovernance(store, tenant, table)).policies.map(appliedPolicy)
  const intent = sampleIntent(table, appends, place(written))
  await openIntent(store, tenant, intent)
  const committed = committedAt(place(++written))
  await recordVerdict(store, tenant, {
    intent,
    decision: 'APPROVED',
    reason: '',
    policies,
    outcomes: [],
    committed,
  })
}

/** Writes history by statements of the database: copies of one commit and one query, spread over tenants and tables. */
async function load(
  { store, databaseUrl = '' }: OpenBenchStore,
  tenants: readonly TenantId[],
  size: Sizes,
): Promise<void> {
  const [first] = tenants
  if (first === undefined) return
  const metadata = sampleMetadata(new Appends(tableSizes.small), Date.now())
  const table = { namespace, name: 't0' }
  await commitOnce(store, first, table, new Appends(tableSizes.small), (metadataLocation) =>
    committedTable({ metadataLocation, metadata }),
  )
  await recordUsage(store, first, usageRecord())
  const ids = `(array[${tenants.map((id) => `'${id}'`).join(', ')}]::uuid[])[1 + i % ${tenants.length}]`
  const spread = `t.table_name || '-' || (i / ${tenants.length}) % ${size.tables}`
  const loads = [
    [
      ...['svc.audit_log', 'audit_seq', size['audit-rows']],
      {
        tenant_id: ids,
        commit_id: 'gen_random_uuid()',
        table_id: spread,
        metadata_location: `'s3://loaded/' || i`,
      },
    ],
    [
      ...['svc.query_usage', 'usage_seq', size['usage-rows']],
      { tenant_id: ids, query_id: 'gen_random_uuid()', principal_sub: `'person' || i % 50` },
    ],
  ] as unknown as readonly (readonly [string, string, number, Readonly<Record<string, string>>])[]
  await Promise.all(
    loads.map(async ([name, numbered, count, set]) => {
      const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
      try {
        // So that nothing but the rows is written.
        await sql.unsafe('set session_replication_role = replica; set synchronous_commit = off')
        const columns = await sql<{ name: string }[]>`select attname as name from pg_attribute
          where attrelid = ${name}::regclass and attnum > 0 and not attisdropped and attname <> ${numbered}`
        const values = columns.map((column) => set[column.name] ?? `t."${column.name}"`).join(', ')
        const names = columns.map((column) => `"${column.name}"`).join(', ')
        for (let from = 1; from <= count; from += chunkRows)
          await sql.unsafe(`insert into ${name} (${names}) select ${values} from (select * from ${name} limit 1) t,
            generate_series(${from}, ${Math.min(from + chunkRows - 1, count)}) i`)
        await sql.unsafe(`analyze ${name}`)
      } finally {
        await sql.end()
      }
    }),
  )
}

function conclude(results: readonly BenchResult[]) {
  const above = results.filter(({ verdict }) => verdict?.startsWith('above'))
  return {
    line:
      above.length === 0
        ? `Soak: the 95th percentiles are within ${ratioMax} times of an empty installation.`
        : `Soak: ${above.map((one) => `${one.case.of} is ${one.figures.ratio} times`).join(', ')} of an empty installation.`,
    failed: above.length > 0,
  }
}
