/** Who sees which findings and runs of detection, and what of them; with a foreign tenant that has the same tables. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { type ColumnFinding, finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { actorOf } from '../support/actor.ts'
import { emptyReport } from '../support/detection-rows.ts'
import { licenseFor } from '../support/license.ts'
import { type SeenTables, seenTables, startSeenTables } from '../support/seen-tables.ts'

setDefaultTimeout(300_000)

const root = '/api/v1/detection'
const sample = '****-1234'
let s: SeenTables

/** Two findings of each table, about `id` and `email`. */
async function scan(tenant: TenantId, name: keyof typeof seenTables): Promise<void> {
  const { store } = s.service
  const table = seenTables[name]
  const metadataLocation = `s3://lake/${tenant}/${name}/v1.metadata.json`
  await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation, table }])
  const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
  if (claim === undefined) throw new Error('nothing was queued')
  const findings = (['id', 'email'] as const).map(
    (column, index): ColumnFinding => ({
      finding: {
        ...{ column, class: 'credit_card', shape: 'value', confidence: 0.65 },
        ...{ matched: 17, sampled: 23, maskedSample: sample },
      },
      ...{ fieldId: BigInt(index + 1), columnName: column },
    }),
  )
  const report = { ...emptyReport, filesAdded: 1, filesScanned: 1, bytesRead: 987, valuesSampled: 4242 }
  await finishRun(store, claim, { findings, report, reason: '', alert: false })
}

beforeAll(async () => {
  s = await startSeenTables({ env: { SVC_LICENSE: licenseFor('detection') } })
  for (const { tenant } of [s.service.owner, s.foreign])
    for (const name of Object.keys(seenTables)) await scan(tenant, name as keyof typeof seenTables)
})
afterAll(() => s[Symbol.asyncDispose]())

const tableOf = ({ table }: Record<string, unknown>) => (table as { name: string }).name
const tablesIn = async (as: Parameters<SeenTables['listed']>[0], path: string) =>
  [...new Set((await s.listed(as, path)).map(tableOf))].sort()
const everything = ['bare', 'filtered', 'masked', 'open']
const readable = ['filtered', 'masked', 'open']

describe.each(['findings', 'runs'])('%s', (list) => {
  test('are listed of tables that the caller may read, to stewards and administrators of all tables', async () => {
    expect(await tablesIn('reader', `${root}/${list}`)).toEqual(readable)
    expect(await tablesIn('officer', `${root}/${list}`)).toEqual(readable)
    expect(await tablesIn('steward', `${root}/${list}`)).toEqual(everything)
    expect(await tablesIn('administrator', `${root}/${list}`)).toEqual(everything)
    expect(await s.listed('reader', `${root}/${list}?namespace=sales&table=bare`)).toEqual([])
  })

  test('come in full pages although some are left out', async () => {
    const first = await s.call('reader', 'GET', `${root}/${list}?limit=2`)
    expect(first.json.items).toHaveLength(2)
    const rest = await s.listed('reader', `${root}/${list}?page_token=${first.json.next_page_token}`)
    expect(rest).toHaveLength(list === 'runs' ? 1 : 4)
  })

  test('are those of the caller’s tenant alone', async () => {
    const own = new Set((await s.listed('steward', `${root}/${list}`)).map(({ id }) => id))
    const others = await s.listed('foreign', `${root}/${list}`)
    expect(others.filter(({ id }) => own.has(id))).toEqual([])
    expect(others.length).toBe(own.size)
  })
})

test('counts of findings are seen where no filter and no mask on the column applies to the caller', async () => {
  const counted = async (as: 'reader' | 'officer' | 'steward' | 'administrator') =>
    (await s.listed(as, `${root}/findings`))
      .filter(({ matched, sampled }) => matched === 17 && sampled === 23)
      .map((one) => `${tableOf(one)}.${one.column}`)
      .sort()
  const some = ['masked.id', 'open.email', 'open.id']
  expect(await counted('reader')).toEqual(some)
  expect(await counted('administrator')).toEqual(some)
  const all = readable.flatMap((name) => [`${name}.email`, `${name}.id`])
  expect(await counted('officer')).toEqual(all)
  expect(await counted('steward')).toEqual(['bare.email', 'bare.id', ...all])
})

test('samples of findings are seen by stewards alone, and by nobody where the tenant says so', async () => {
  const { store, owner, app: _ } = s.service
  for (const as of ['reader', 'officer', 'administrator'] as const)
    expect((await s.call(as, 'GET', `${root}/findings`)).text).not.toContain(sample)
  const seen = async () => (await s.listed('steward', `${root}/findings`)).map((one) => one.masked_sample)
  expect(await seen()).toEqual(Array.from({ length: 8 }, () => sample))
  const admin = { secret: await s.session('admin-steward', ['steward'], ['read', 'admin']) }
  const settings = '/api/v1/contracts/settings'
  const nobody = { finding_samples: 'nobody' }
  expect((await s.call(admin, 'PUT', settings, nobody)).status).toBe(204)
  expect((await s.call(admin, 'GET', settings)).json).toMatchObject(nobody)
  expect(new Set(await seen())).toEqual(new Set([undefined]))
  // What is not given stays.
  expect((await s.call(admin, 'PUT', settings, { uncontracted: 'to_writers' })).status).toBe(204)
  expect((await s.call(admin, 'GET', settings)).json).toMatchObject(nobody)
  expect((await s.call(admin, 'PUT', settings, { ...nobody, finding_samples: 'all' })).status).toBe(400)
  expect((await s.call('foreign', 'GET', settings)).json.finding_samples).toBe('stewards')
  expect((await s.call('foreign', 'GET', `${root}/findings`)).text).toContain(sample)
  const stewards = { findingSamples: 'stewards' } as const
  await putReadSettings(store, owner.tenant, actorOf('stella'), stewards)
})

test('a run shows what it read to those from whom nothing of the table is hidden', async () => {
  const shown = async (as: Parameters<SeenTables['listed']>[0]) =>
    Object.fromEntries(
      (await s.listed(as, `${root}/runs`)).map((run) => {
        const report = run.report as Record<string, unknown>
        return [tableOf(run), [report.values_sampled, report.bytes_read, run.metadata_location !== undefined]]
      }),
    )
  const whole = [4242, 987, true]
  const none = [undefined, undefined, false]
  const operation = [undefined, 987, true]
  expect(await shown('reader')).toEqual({ open: whole, filtered: none, masked: none })
  expect(await shown('officer')).toEqual({ open: whole, filtered: whole, masked: whole })
  expect(await shown('steward')).toEqual({ open: whole, filtered: whole, masked: whole, bare: whole })
  const administrator = { open: whole, filtered: operation, masked: operation, bare: operation }
  expect(await shown('administrator')).toEqual(administrator)
  for (const run of await s.listed('steward', `${root}/runs`)) {
    const { status, json } = await s.call('reader', 'GET', `${root}/runs/${run.id}`)
    const name = tableOf(run)
    expect([name, status]).toEqual([name, name === 'bare' ? 404 : 200])
    if (name === 'open' || status !== 200) continue
    expect([json.metadata_location, json.report, json.reason]).toEqual([undefined, {}, ''])
    expect((json.attempts as { report: object }[]).map(({ report }) => report)).toEqual([{}])
  }
})

describe('an auditor', () => {
  const auditor = async () => ({ secret: await s.session('records', ['auditor'], ['read', 'admin']) })

  const read = async (path: string) => {
    const { json } = await s.call(await auditor(), 'GET', path)
    return json.items as readonly Record<string, unknown>[]
  }

  test('reads the findings of all tables of the tenant, without samples and counts', async () => {
    const items = await read(`${root}/findings`)
    const seen = items.map((one) => `${tableOf(one)}.${one.column} ${one.class} ${one.status}`).sort()
    const all = everything.flatMap((name) => ['email', 'id'].map((column) => `${name}.${column}`))
    expect(seen).toEqual(all.map((one) => `${one} credit_card open`))
    const hidden = items.flatMap((one) => [one.matched, one.sampled, one.masked_sample])
    expect(new Set(hidden)).toEqual(new Set([undefined]))
    const foreign = new Set((await s.listed('foreign', `${root}/findings`)).map(({ id }) => id))
    expect(items.filter(({ id }) => foreign.has(id))).toEqual([])
  })

  test('reads the runs over all tables, and nothing of what they read', async () => {
    const runs = await read(`${root}/runs`)
    expect(runs.map(tableOf).sort()).toEqual(everything)
    for (const run of runs) {
      const { status, json } = await s.call(await auditor(), 'GET', `${root}/runs/${run.id}`)
      expect([status, json.metadata_location, json.report, json.reason]).toEqual([200, undefined, {}, ''])
    }
    for (const run of await s.listed('foreign', `${root}/runs`))
      expect((await s.call(await auditor(), 'GET', `${root}/runs/${run.id}`)).status).toBe(404)
  })
})

test('nobody decides about a finding, or rescans a table, that they may not see', async () => {
  const writer = { secret: await s.session('writer', [], ['read', 'admin']) }
  const findings = await s.listed('steward', `${root}/findings`)
  const of = (name: string) => findings.find((one) => tableOf(one) === name)?.id
  const confirm = { decision: 'confirm' }
  expect((await s.call(writer, 'POST', `${root}/findings/${of('bare')}/decisions`, confirm)).status).toBe(404)
  const decided = await s.call(writer, 'POST', `${root}/findings/${of('filtered')}/decisions`, confirm)
  expect([decided.status, decided.json.matched, decided.json.masked_sample]).toEqual([
    200,
    undefined,
    undefined,
  ])
  const rescan = (name: 'bare' | 'open') =>
    s.call(writer, 'POST', `${root}/rescans`, { table: seenTables[name] })
  expect((await rescan('bare')).status).toBe(404)
  expect((await rescan('open')).status).toBe(202)
})
