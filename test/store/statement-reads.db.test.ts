/**
 * What each statement reads that a route or a job runs, over a store with 100,000 rows in every large relation. The
 * statements are collected while the routes and jobs run. The server plans them without their parameters' values, as
 * it does for a statement that it has kept.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import postgres from 'postgres'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { addReadLineage } from '../../src/store/query/read-lineage.ts'
import { recordUsage } from '../../src/store/query/usage.ts'
import { recordStagedCheck } from '../../src/store/vended/staged-checks.ts'
import { recordSuccesses } from '../server/recorded-answers.ts'
import { recordedRequests } from '../server/recorded-requests.ts'
import { seedChecks } from '../support/check-rows.ts'
import { seedContractVersion } from '../support/contract-versions.ts'
import { seedDetection } from '../support/detection-rows.ts'
import { eventually } from '../support/eventually.ts'
import {
  call,
  type IdentityService,
  openSession,
  session,
  startIdentityService,
} from '../support/identity.ts'
import { enlargeStore, type LargeStore } from '../support/large-store.ts'
import { licenseForAll } from '../support/license.ts'
import { lineageEvent, sendLineage } from '../support/lineage.ts'
import { excessOf, type MeasuredStore, measureStatements } from '../support/measured-store.ts'
import { seedSemantics } from '../support/semantics.ts'
import { commit } from '../support/service.ts'
import type { TestStore } from '../support/store.ts'
import { seedTerritory } from '../support/territory.ts'
import { seedTransform } from '../support/transform-rows.ts'
import { usageRecord } from '../support/usage.ts'
import { leaveVended } from '../support/vended.ts'
import { seedWebhook } from '../support/webhooks.ts'

setDefaultTimeout(900_000)

const rowsCount = 100_000

const root = new URL('../../', import.meta.url).pathname
/** Of every part that has jobs. */
const jobNames = [...new Glob('src/*/{feature,check-jobs}.ts').scanSync(root)].flatMap((path) =>
  [...readFileSync(`${root}${path}`, 'utf8').matchAll(/^ +name: '([\w-]+)',$/gm)].map(
    ([, name = '']) => name,
  ),
)

let service: IdentityService
let measured: MeasuredStore
let large: LargeStore
let superuser: postgres.Sql

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** Values with which a list is asked for: those of an enumeration, else one that little has. */
function valuesOf({ name, schema }: Parameter): readonly string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map(String)
  if (schema.format === 'date-time') return ['2020-01-01T00:00:00Z']
  if (schema.format === 'uuid') return [crypto.randomUUID()]
  if (schema.type === 'boolean') return ['true', 'false']
  if (schema.type === 'number') return ['0.99']
  return name in known ? [known[name] ?? ''] : ['rare']
}

const known: Readonly<Record<string, string>> = {
  namespace: 'sales',
  table: 'rare',
  catalog: 'main',
  limit: '100',
}

/** Every GET of the OpenAPI document: bare, and with each of its parameters. */
async function listRequests(): Promise<readonly string[]> {
  const document = (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as {
    readonly paths: Readonly<
      Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>
    >
  }
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    // The administrator's twins of the tenant's routes run the same statements.
    if (get === undefined || !/^\/(api|admin)/.test(path) || path === '/api/v1/events') return []
    // An export returns all that there is.
    if (path.endsWith('/decisions/export')) return []
    const parameters = get.parameters ?? []
    const inPath = Object.fromEntries(
      parameters.filter((one) => one.in === 'path').map((one) => [one.name, valuesOf(one)[0] ?? '']),
    )
    const tenant = service.owner.tenant
    const base = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'tenant' ? tenant : (inPath[name] ?? 'rare'),
    )
    const inQuery = parameters.filter(
      (one) => one.in === 'query' && !['page_token', 'limit'].includes(one.name),
    )
    const required = inQuery.some(({ name }) => name === 'namespace') ? 'namespace=sales&' : ''
    return [
      base,
      ...inQuery.flatMap((one) =>
        valuesOf(one).map(
          (value) =>
            `${base}?${one.name === 'table' ? required : ''}${one.name}=${encodeURIComponent(value)}`,
        ),
      ),
    ]
  })
}

/** Jobs whose reads are measured elsewhere. */
const jobsElsewhere: Readonly<Record<string, string>> = {
  // The copies have no edges of their own commits, so it would find drift in each of them.
  reconcile: 'test/store/jobs/job-reads.walks.ts, and the row `reconcile` of `bench growth`',
}

async function runJobs(): Promise<void> {
  for (const name of jobNames) {
    if (name in jobsElsewhere) continue
    measured.enter(`the job ${name}`)
    await service.app.jobs.run(name)
  }
}

/** Statements that read much of a large relation, with the reason for which they may: parts of their texts. */
const allowed: Readonly<Record<string, string>> = {
  'and u.started_at < $3::timestamptz order by':
    'a time alone: planned with its values the list reads a page (list-reads.db.test.ts), and that plan is cheaper',
  'and created_at < $3::text::timestamptz order by':
    'a time alone: planned with its values the list reads a page (list-reads.db.test.ts), and that plan is cheaper',
  'l.columns @> $3::text::jsonb':
    'containment serves no index under row-level security, and the rows are one for each statement',
  "'session', '', 'service sessions', 'current'":
    'the live sessions of one tenant are counted with the age of their oldest secret, where an administrator asks for keys',
  'svc.remove_detection_runs(500': 'a page of 500 runs, each with what belongs to it',
  'count(sid) as keys': 'the keys of a tenant by kind, counted for a person who asks for them',
  'as newest, coalesce(min(audit_seq), 1) as floor': 'a replay goes through the history that it is asked for',
  'select distinct table_id from svc.territory': 'once a day, a sweep goes through all tables of a catalog',
  '.end_territory_sweep(': 'once a day, a sweep goes through all tables of a catalog',
  'as last, exists (select from lineage_cycle':
    'once an hour, the edges are counted in an index, to know of a change',
  '(bytes_read)::text as bytes_read, reason from svc.check_run where tenant_id = $1':
    'for who is no steward, runs over tables that may not be read are passed over until the page is full',
  'select distinct j -> \'namespace\' as namespace from "Table"':
    'after a change of the tables, the poller lists their namespaces',
  'governed as materialized (':
    'coverage looks at all tables of a tenant, for a person who asks and for the digest once a day',
  "from jsonb_array_elements(u.reads) r where r -> 'namespace' = $3::text::jsonb":
    'usage of a rare table is looked for in all records of the time (docs/usage.md): containment serves no index here',
  'and u.started_at >= $5::timestamptz - interval':
    'who read a table is summed over all records of the time, at most 366 days (docs/usage.md)',
  'begun as (':
    'which versions were in force at a time is found by the times of all versions and moves, for an auditor who asks',
}

// Skipped where no server is named: an embedded store keeps no statistics of its tables.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('over 100,000 rows', () => {
  beforeAll(async () => {
    measured = measureStatements()
    service = await startIdentityService({
      env: { SVC_LICENSE: licenseForAll() },
      wrapStore: measured.wrap,
    })
    const { store, owner } = service
    const { tenant } = owner
    const databaseUrl = (store as TestStore).databaseUrl ?? ''
    superuser = postgres(databaseUrl, { max: 1, onnotice: () => {} })
    // So that the copies, whose numbers are lower, are older than what is there.
    await superuser.unsafe(`do $$ declare s regclass; begin
      for s in select c.oid from pg_class c where c.relkind = 'S' and c.relnamespace::regnamespace::text ~ '^(svc$|t_)'
      loop perform setval(s, 1000000); end loop; end $$`)
    await recordSuccesses(service, recordedRequests)
    await seedDetection(store, tenant)
    await seedTerritory(store, tenant)
    await seedWebhook(store, tenant)
    await seedContractVersion(store, tenant)
    await seedChecks(store, tenant)
    await seedTransform(store, tenant)
    await seedSemantics(store, tenant)
    const { id: holder } = await openSession(service, tenant, ['read'])
    await leaveVended(store, tenant, holder)
    await recordStagedCheck(store, tenant, { sessionId: holder, files: 1, bytes: 1, complete: true })
    const lineage = { columns: [], outputs: [], conditions: [], truncated: false }
    await addReadLineage(store, tenant, [
      { principal: 'p', fingerprint: 'f', lineage, reads: 1, lastAt: new Date() },
    ])
    // Before there is much, so that the jobs are past the copies: the first run notes how far there is, the next goes there.
    await runJobs()
    await eventually(async () => {
      await runJobs()
      return (await superuser`select 1 from svc.usage_total where tenant_id = ${tenant}`).length > 0
    })
    large = await enlargeStore(databaseUrl, tenant, rowsCount)
    // As for a statement that the server has kept, and by one process, whose reads are counted here.
    await superuser.unsafe(`do $$ begin
      execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database());
      execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database());
    end $$; select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
    await eventually(() => store.healthy())
    await runJobs()
    measured.measure(large.relations)
  })
  afterAll(async () => {
    await superuser.end()
    await service[Symbol.asyncDispose]()
  })

  test('every large table is filled', () => {
    expect(large.empty).toEqual([])
  })

  test('no statement of a route or a job reads much more than it returns', async () => {
    const { owner, operator } = service
    const secret = await session(service, owner.tenant, sessionScopes, ['steward', 'administrator'])
    const answers = new Map<string, number>()
    const ask = async (method: string, path: string, body?: unknown) => {
      measured.enter(`${method} ${path}`)
      const as = path.startsWith('/admin') ? operator : secret
      const response = await call(service, method, path, { secret: as, body })
      await response.text()
      answers.set(`${method} ${path}`, response.status)
    }
    for (const path of await listRequests()) await ask('GET', path)
    for (const [method, path, body] of recordedRequests)
      await ask(
        method,
        path.replace('{tenant}', owner.tenant).replaceAll(/\{\w+\}/g, crypto.randomUUID()),
        body,
      )
    measured.enter('a commit')
    const parent = firstSnapshotId
    const next = { snapshotId: parent + 1n, parentId: parent, sequenceNumber: 2, timestampMs: Date.now() }
    const commits = [appendSnapshot(next), setProperties({ a: 'b' })]
    for (const body of commits) answers.set('commit', (await commit(service, body)).status)
    measured.enter('a lineage event')
    for (const runId of [crypto.randomUUID(), crypto.randomUUID()])
      await sendLineage(service, lineageEvent({ runId, inputs: ['a', 'x'], outputs: ['c', 'y'] }))
    measured.enter('a usage record')
    await recordUsage(measured.wrap(service.store), owner.tenant, usageRecord())
    await runJobs()

    const failed = [...answers].filter(([, status]) => status >= 500 && status !== 503)
    expect(failed).toEqual([])
    const over = [...measured.statements.values()].filter((one) => excessOf(one) > 0)
    const unnamed = over.filter(({ text }) => !Object.keys(allowed).some((part) => text.includes(part)))
    expect(unnamed).toEqual([])
    const stale = Object.keys(allowed).filter((part) => !over.some(({ text }) => text.includes(part)))
    expect(stale).toEqual([])
  })

  test('enough of the service ran', () => {
    expect(measured.statements.size).toBeGreaterThan(200)
  })
})
