/** The capability `detection` in every state of a license: its resources are refused, its checks continue. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { TenantId } from '../../src/core/tenant.ts'
import { notLicensedType } from '../../src/license/licensed.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { findRun, listRuns } from '../../src/store/detection/run-list.ts'
import { parseAgtype } from '../../src/store/graph/graph.ts'
import { type DetectionService, startDetectionService, webhookSecret } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { licenseFor } from '../support/license.ts'

setDefaultTimeout(300_000)

const day = 86_400_000
const rows = Array.from({ length: 12 }, (_, id) => ({ id, email: `p${id}@example.com`, ssn: '', note: '' }))

interface Ids {
  readonly run: string
  readonly finding: string
}

/** Every resource with what it answers where it is licensed, to a steward. */
const resources = ({ run }: Ids) =>
  [
    ['GET', 'runs', undefined, 200],
    ['GET', `runs/${run}`, undefined, 200],
    ['POST', 'rescans', { table: { namespace: ['sales'], name: 'people' } }, 202],
  ] as const

/** What became of each resource: its path, status, and the refusal if there is one. */
async function callAll(d: DetectionService, ids: Ids) {
  const calls = []
  for (const [method, path, body, licensed] of resources(ids)) {
    const response = await d.call(method, path, { body, secret: d.stewardSecret })
    const { error } = (await response.json()) as { error?: { message: string; type: string } }
    calls.push({ path, licensed, status: response.status, error })
  }
  await d.service.app.detection.detector.idle()
  return calls
}

/** Who gets an alert may look at its findings and reject a false one, whatever the license. */
async function expectRejectable(d: DetectionService, { run, finding }: Ids): Promise<void> {
  const listed = await d.call('GET', `findings?run=${run}`, { secret: d.stewardSecret })
  expect(listed.status).toBe(200)
  const body = { decision: 'reject', reason: 'synthetic' }
  const rejected = await d.call('POST', `findings/${finding}/decisions`, { body, secret: d.stewardSecret })
  expect(rejected.status).toBe(200)
  const found = await listFindings(d.service.store, tenantOf(d), { runId: run, class: 'email' })
  expect(found.items).toMatchObject([{ status: 'rejected' }])
}

async function expectOpen(d: DetectionService, ids: Ids): Promise<void> {
  for (const { path, status, licensed } of await callAll(d, ids))
    expect([path, status]).toEqual([path, licensed])
}

async function expectRefused(d: DetectionService, ids: Ids, message: string): Promise<void> {
  for (const { path, status, error } of await callAll(d, ids))
    expect({ path, status, error }).toMatchObject({
      path,
      status: 403,
      error: { message, type: notLicensedType },
    })
}

const tenantOf = (d: DetectionService): TenantId => d.service.owner.tenant

/** Commits through the gateway, has it scanned, and reads what was found past the REST resources. */
async function commitAndScan(d: DetectionService): Promise<Ids> {
  const { metadataLocation } = await d.commitPeople([{ rows }], 'gateway')
  await d.detect()
  const { store } = d.service
  const run = (await listRuns(store, tenantOf(d), {})).items.find(
    (one) => one.metadataLocation === metadataLocation,
  )
  expect(run).toMatchObject({ state: 'done', reason: '' })
  const { items } = await listFindings(store, tenantOf(d), { runId: run?.id, class: 'email' })
  expect(items).toMatchObject([{ column: 'email', class: 'email', confidence: 0.92 }])
  return { run: run?.id ?? '', finding: items[0]?.id ?? '' }
}

/** What the checks do, whatever the license: scan, tag, alert once, take signed callbacks and refuse the others. */
async function expectChecks(d: DetectionService): Promise<Ids> {
  const ids = await commitAndScan(d)
  const tagged = await d.service.store.tenantQuery<{ properties: string }>(
    tenantOf(d),
    'select properties from "TAGGED"',
  )
  expect(tagged.map(({ properties }) => parseAgtype(properties))).toContainEqual(
    expect.objectContaining({ path: 'email', status: 'open' }),
  )
  expect(await eventually(async () => d.alerts[0])).toContain('email: email, confidence 0.92')

  const { metadataLocation } = await d.newWriter(crypto.randomUUID()).append([{ rows }])
  const body = JSON.stringify({ tenant_id: tenantOf(d), metadata_location: metadataLocation })
  const callback = async (secret: string) => {
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    const url = new URL('/v1/webhooks/alpha', d.service.app.url)
    const headers = { 'x-alpha-signature': signature }
    return (await fetch(url, { method: 'POST', body, headers })).status
  }
  expect([await callback('wrong'), await callback(webhookSecret)]).toEqual([401, 200])
  await d.service.app.detection.detector.idle()
  expect((await listRuns(d.service.store, tenantOf(d), {})).items).toContainEqual(
    expect.objectContaining({ metadataLocation, source: 'catalog-webhook', state: 'done' }),
  )
  return ids
}

describe.each([
  ['without a license', {}, 'needs a license, and none is installed'],
  [
    'with a license that names others',
    { SVC_LICENSE: licenseFor('contracts', 'graphql') },
    'is not part of the installed license',
  ],
])('%s', (_, license, why) => {
  test('snapshots are scanned, tagged and told of, and the resources are refused without effect', async () => {
    await using d = await startDetectionService({ env: { SVC_LICENSE: '', ...license } })
    const ids = await expectChecks(d)
    await expectRefused(d, ids, `The capability \`detection\` ${why}.`)
    const { store } = d.service
    expect((await findRun(store, tenantOf(d), ids.run))?.attempts).toMatchObject([{ cause: 'trigger' }])
    expect((await listFindings(store, tenantOf(d), { runId: ids.run, class: 'email' })).items).toMatchObject([
      { status: 'open' },
    ])
    await expectRejectable(d, ids)
  })
})

test('a license that names it opens the resources until its grace is over; the checks outlive it', async () => {
  const clock = { ms: Date.now() }
  await using d = await startDetectionService({
    env: { SVC_LICENSE: licenseFor('detection') },
    clock: { now: () => clock.ms },
  })
  const { licensed } = d.service.app
  const first = await commitAndScan(d)
  await expectOpen(d, first)
  await expectRejectable(d, first)
  clock.ms += 31 * day
  expect(licensed.state()).toBe('grace')
  await expectOpen(d, await commitAndScan(d))
  clock.ms += 14 * day
  expect(licensed.state()).toBe('expired')
  const why = 'needs a license, and the installed one has expired'
  const ids = await commitAndScan(d)
  await expectRefused(d, ids, `The capability \`detection\` ${why}.`)
  const found = await listFindings(d.service.store, tenantOf(d), { runId: ids.run, class: 'email' })
  // What was decided while it was licensed stands.
  expect(found.items).toMatchObject([{ status: 'rejected' }])
})
