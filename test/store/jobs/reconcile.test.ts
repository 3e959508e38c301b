/** The hourly comparison of graph and audit log: what each run compares, and by when old history is compared. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { CommitIntent } from '../../../src/core/commit.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import type { Store } from '../../../src/store/store.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { eventually } from '../../support/eventually.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
})
afterAll(() => store[Symbol.asyncDispose]())

/** A tenant whose history was compared, and its commits. */
async function comparedTenant(commits: number): Promise<{ tenant: TenantId; intents: CommitIntent[] }> {
  const tenant = (await makeTenant(store, { name: 'compared' })).id
  const intents = await commit(tenant, commits)
  // A number is settled by a run after the one that found it, once every transaction from before has ended.
  await eventually(async () => {
    expect(await open(tenant)).toEqual([])
    const [row] = await store.tenantQuery<{ settled: boolean }>(
      tenant,
      'select bool_and(settles = compare_to) as settled from svc.reconciliation',
    )
    return row?.settled ?? false
  })
  return { tenant, intents }
}

async function commit(tenant: TenantId, count: number): Promise<CommitIntent[]> {
  const intents = Array.from({ length: count }, () => intentOf())
  for (const intent of intents) await recordVerdict(store, tenant, approvedOf(intent))
  return intents
}

async function open(tenant: TenantId, on: Store = store): Promise<string[]> {
  return (await reconcileTenant(on, tenant)).breaches.map(({ kind, subject }) => `${kind} ${subject}`)
}

const forge = (tenant: TenantId, { commitId }: CommitIntent, committer: string) =>
  store.tenantQuery(
    tenant,
    `update "INTENDED_WRITE" x set properties = properties || jsonb_build_object('committer', $2::text)::text::agtype
     where agtype_access_operator(variadic array[x.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype`,
    [commitId, committer],
  )

/** An edge of a commit that never was, under a number of its own choice. */
const plantEdge = (tenant: TenantId, id: string, number: string) =>
  store.tenantQuery(
    tenant,
    `insert into "INTENDED_WRITE" (id, start_id, end_id, properties)
     select _graphid((x.id::text::bigint >> 48)::int, ${number}), x.start_id, x.end_id,
       jsonb_build_object('id', $1::text, 'tenant_id', $2::text)::text::agtype
     from "INTENDED_WRITE" x limit 1`,
    [id, tenant],
  )

/** Lets days pass for the rounds of the tenant. */
const passDays = (tenant: TenantId, days: number) =>
  store.tenantQuery(
    tenant,
    `update svc.reconciliation set round_began = round_began - $1::int * interval '1 day',
       round_before = round_before - $1::int * interval '1 day'`,
    [days],
  )

/** Lets days pass with a few runs each: fewer than a job that runs hourly makes. */
async function runFor(tenant: TenantId, days: number): Promise<string[]> {
  let found: string[] = []
  for (let day = 0; day < days; day++) {
    await passDays(tenant, 1)
    for (let run = 0; run < 6; run++) found = await open(tenant)
  }
  return found
}

/** Pages that a run compares, the last and empty ones included. */
async function pagesOf(tenant: TenantId): Promise<number> {
  let pages = 0
  const counted: Store = {
    ...store,
    tenantQuery: (id, text, ...rest) => {
      if (text.includes('compare_page')) pages += 1
      return store.tenantQuery(id, text, ...rest)
    },
  }
  await reconcileTenant(counted, tenant)
  return pages
}

test('a run finds drift in what is new since the run before', async () => {
  const { tenant } = await comparedTenant(3)
  const [fresh] = await commit(tenant, 1)
  await forge(tenant, fresh as CommitIntent, 'other')
  await plantEdge(tenant, 'ghost', `nextval('"INTENDED_WRITE_id_seq"')`)
  expect(await open(tenant)).toEqual([
    `edge_differs INTENDED_WRITE ${fresh?.commitId}`,
    'edge_without_audit INTENDED_WRITE ghost',
  ])
})

test('a run compares nothing where nothing is new', async () => {
  const { tenant } = await comparedTenant(3)
  expect(await pagesOf(tenant)).toBe(0)
})

test('drift in old history is found within seven days, also under a number that no sequence gave', async () => {
  const { tenant, intents } = await comparedTenant(4)
  const foreign = await comparedTenant(1)
  await forge(tenant, intents[0] as CommitIntent, 'other')
  await plantEdge(tenant, 'ghost', '281474976710000')
  // A number out of all order makes no run go through the numbers below it.
  expect(await pagesOf(tenant)).toBeLessThan(10)
  const found = await runFor(tenant, 7)
  expect(found).toContain(`edge_differs INTENDED_WRITE ${intents[0]?.commitId}`)
  expect(found).toContain('edge_without_audit INTENDED_WRITE ghost')
  expect(await open(foreign.tenant)).toEqual([])
})

test('a breach in old history ends with the first run after it is gone', async () => {
  const { tenant, intents } = await comparedTenant(2)
  const [first] = intents as [CommitIntent]
  await forge(tenant, first, 'other')
  expect(await runFor(tenant, 7)).toEqual([`edge_differs INTENDED_WRITE ${first.commitId}`])
  await forge(tenant, first, 'writer')
  expect(await open(tenant)).toEqual([])
})

test('a run that was interrupted goes on where it ended', async () => {
  const tenant = (await makeTenant(store, { name: 'interrupted' })).id
  const intents = await commit(tenant, 2)
  await forge(tenant, intents[1] as CommitIntent, 'other')
  const ending = new AbortController()
  const cut: Store = {
    ...store,
    tenantQuery: async (id, text, ...rest) => {
      const rows = await store.tenantQuery(id, text, ...rest)
      if (text.includes('compare_page')) ending.abort(new Error('the process ends'))
      return rows as never
    },
  }
  const outcome = await reconcileTenant(cut, tenant, ending.signal).catch((error: Error) => error.message)
  expect(outcome).toBe('the process ends')
  expect(await open(tenant)).toEqual([`edge_differs INTENDED_WRITE ${intents[1]?.commitId}`])
})

test('the coverage falls where rounds stand still for a week, and is whole again after two rounds', async () => {
  const { tenant } = await comparedTenant(3)
  const coverage = async () => (await reconcileTenant(store, tenant)).coverage
  expect(await coverage()).toBe(1)
  await passDays(tenant, 8)
  await coverage()
  // A run says what it found; this one finds the new round at its first part.
  expect(await coverage()).toBeLessThan(1)
  await runFor(tenant, 13)
  expect(await coverage()).toBe(1)
})

// Skipped where no server is named: an embedded store has one session, so its transactions follow one another.
test.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)(
  'what a transaction wrote that ends after later ones is compared in the run after it ends',
  async () => {
    const { tenant } = await comparedTenant(2)
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late = store.tenantTransaction(tenant, async (tx) => {
      await tx.query('select pg_current_xact_id()')
      await tx.query(
        `insert into "INTENDED_WRITE" (start_id, end_id, properties)
         select x.start_id, x.end_id, jsonb_build_object('id', 'late', 'tenant_id', $1::text)::text::agtype
         from "INTENDED_WRITE" x limit 1`,
        [tenant],
      )
      begun.resolve()
      await end.promise
    })
    await begun.promise
    for (let run = 0; run < 3; run++) {
      await commit(tenant, 1)
      expect(await open(tenant)).toEqual([])
    }
    end.resolve()
    await late
    expect(await open(tenant)).toEqual(['edge_without_audit INTENDED_WRITE late'])
  },
)
