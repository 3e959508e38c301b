/**
 * What happens in a tenant reaches its webhook and its stream: a commit, a pin, the life cycle of a contract, an alert of
 * detection, a breach, and attestations of metrics with their ends. Each is made to happen as it does in use.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import type { EventType } from '../../src/core/event.ts'
import { lastEvent } from '../../src/store/event/events.ts'
import { upsertNode } from '../../src/store/graph/graph.ts'
import { saveAttestation } from '../../src/store/semantics/attestations.ts'
import { actorOf } from '../support/actor.ts'
import { type DetectionService, startDetectionService } from '../support/detection.ts'
import { ask, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

interface Told {
  readonly type: EventType
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

let d: DetectionService
let steward: string
let second: string
let secret = ''
let snapshotId = 0n
const received: { readonly path: string; readonly told: Told }[] = []
const stack = new AsyncDisposableStack()
const people = { namespace: ['sales'], name: 'people' }
const contract = '/api/v1/contracts/tables/sales/people'

beforeAll(async () => {
  d = stack.use(await startDetectionService({ env: { SVC_LICENSE: licenseForAll() } }))
  const { service, foreign } = d
  const own = service.owner.tenant
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const body = await request.text()
      const headers = Object.fromEntries(request.headers)
      // Of the foreign tenant another secret signs, so what came here by mistake would not verify.
      const told = path === '/own' ? new Webhook(secret).verify(body, headers) : JSON.parse(body)
      received.push({ path, told: told as Told })
      return new Response()
    },
  })
  stack.defer(() => receiver.stop(true))
  steward = await session(service, own, ['read', 'admin'], ['steward'], 'stella')
  second = await session(service, own, ['read', 'admin'], ['steward'], 'sam')
  for (const [tenant, path] of [
    [own, 'own'],
    [foreign.tenant, 'theirs'],
  ] as const) {
    const administrator = await session(service, tenant, ['read', 'admin'], ['administrator'], 'adam')
    const body = { name: path, url: `${receiver.url.href}${path}`, types: ['*'] }
    const made = await ask(service, 'POST', '/api/v1/webhooks', administrator, body)
    expect(made.status).toBe(201)
    if (path === 'own') secret = String(made.body.secret)
  }
  ;({ snapshotId } = await d.commitPeople([{ rows: [] }], 'gateway'))
})
afterAll(() => stack.disposeAsync())

/** What the webhook of the tenant was told of a type since, once all is delivered. Nobody else was told anything. */
async function toldOf(type: EventType): Promise<readonly Told[]> {
  await d.service.app.webhooks.deliver()
  expect(received.filter(({ path }) => path !== '/own')).toEqual([])
  return received.map(({ told }) => told).filter((told) => told.type === type)
}

async function made(method: string, path: string, body: object, by = steward) {
  const { status, body: answer } = await ask(d.service, method, path, by, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer
}

test('a commit: that it was decided', async () => {
  expect(await toldOf('commit.decided')).toMatchObject([
    { data: { decision: 'APPROVED', namespace: ['sales'], table: 'people' } },
  ])
})

test('a pin, and its end', async () => {
  await made('PUT', contract, { id: 'people', version: 1 })
  await made('POST', `${contract}/pin`, { catalog: 'main', snapshot_id: String(snapshotId) })
  await made('POST', `${contract}/unpin`, {})
  expect(await toldOf('table.pinned')).toMatchObject([{ data: { snapshot_id: String(snapshotId) } }])
  expect(await toldOf('table.unpinned')).toHaveLength(1)
})

test('the life cycle of a contract: a version that is proposed', async () => {
  const document = {
    ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'draft', version: '1.0.0', status: 'draft' },
    schema: [{ name: 'people' }],
  }
  await made('POST', '/api/v1/contracts/documents/draft/versions', document)
  await made('POST', '/api/v1/contracts/documents/draft/versions/1/moves', { move: 'propose' })
  const [told] = await toldOf('contract.moved')
  expect(told).toMatchObject({ subject: 'draft' })
})

test('an alert of detection', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => ({
    ...{ id: index, email: `person${index}@example.com`, ssn: null, note: null },
  }))
  await d.commitPeople([{ rows }], 'gateway')
  await d.detect()
  const told = await toldOf('detection.alerted')
  expect(told).toHaveLength(1)
  expect(JSON.stringify(told)).not.toContain('person1@example.com')
})

test('a breach', async () => {
  const { store, app, owner } = d.service
  await store.tenantTransaction(owner.tenant, (tx) =>
    upsertNode(tx, owner.tenant, {
      ...{ label: 'Snapshot', id: 's3://lake/stray.json' },
      properties: { metadata_location: 's3://lake/stray.json', commit_id: crypto.randomUUID() },
    }),
  )
  await app.jobs.run('reconcile')
  expect((await toldOf('breach.found')).map(({ data }) => data.kind)).toContain('snapshot_without_audit')
})

describe('an attestation', () => {
  const metric = { table: people, expression: 'avg(id)' }
  const path = '/api/v1/metrics/average_id'
  const attestation = {
    ...{ tags: ['pay'], reason: 'Averages', evidence: 'Reviewed', min_group_size: 2 },
    valid_until: new Date(Date.now() + 86_400_000).toISOString(),
  }
  const ends = async () =>
    (await toldOf('metric.attestation_ended')).map(({ subject, data }) => [
      subject,
      data.attestation,
      data.cause,
    ])
  const declassified = async () => (await ask(d.service, 'GET', path, steward)).body.declassified
  const attested = async () => String((await made('POST', `${path}/attestations`, attestation, second)).id)
  const listed = async (id: string) => {
    const { items } = (await ask(d.service, 'GET', `${path}/attestations`, steward)).body as unknown as {
      readonly items: readonly { readonly id: string; readonly ended?: { readonly cause: string } }[]
    }
    return items.find((one) => one.id === id)?.ended?.cause
  }

  beforeAll(async () => {
    await made('PUT', `${contract}/columns/id/tags/pay`, {})
    await made('PUT', '/api/v1/semantics/tables/sales/people', {
      key: ['id'],
      dimensions: [{ name: 'note' }],
    })
    await made('PUT', path, metric)
  })

  test('and that a steward ended it', async () => {
    const id = await attested()
    expect(await toldOf('metric.attested')).toMatchObject([
      { subject: 'average_id', data: { attestation: id, version: 1, tags: ['pay'], by: 'sam' } },
    ])
    expect(await declassified()).toMatchObject([{ attestation: id }])
    await made('POST', `${path}/attestations/${id}/end`, { reason: 'No longer agreed' }, second)
    expect(await declassified()).toEqual([])
    expect(await ends()).toEqual([['average_id', id, 'ended']])
  })

  test('and that another definition voids it, at once and once', async () => {
    const id = await attested()
    await made('PUT', path, { ...metric, state: 'draft' })
    expect(await declassified()).toMatchObject([{ attestation: id }])
    await made('POST', `${path}/versions/2/move`, { to: 'retired' })
    expect(await listed(id)).toBeUndefined()
    await made('PUT', path, { ...metric, expression: 'sum(id)' })
    expect(await declassified()).toEqual([])
    expect(await listed(id)).toBe('replaced')
    await made('PUT', path, metric)
    expect((await ends()).slice(1)).toEqual([['average_id', id, 'replaced']])
  })

  test('and that the end of its version voids it', async () => {
    const id = await attested()
    const { version } = (await ask(d.service, 'GET', path, steward)).body
    await made('POST', `${path}/versions/${version}/move`, { to: 'retired' })
    expect((await ends()).at(-1)).toEqual(['average_id', id, 'replaced'])
    await made('PUT', path, metric)
  })

  test('and that its time is over: nothing reads by it before that is recorded', async () => {
    const { store, owner, app } = d.service
    const { version, sha256 } = (await ask(d.service, 'GET', path, steward)).body
    const { id } = await saveAttestation(
      { store, tenant: owner.tenant, actor: actorOf('sam') },
      {
        ...{
          metric: 'average_id',
          number: Number(version),
          sha256: String(sha256),
          tags: ['pay'],
          masks: [],
        },
        ...{ minGroupSize: 2, reason: 'Averages', evidence: 'Reviewed', until: new Date(Date.now() - 1) },
      },
      { namespace: ['sales'], name: 'orders' },
    )
    expect(await declassified()).toEqual([])
    const before = (await ends()).length
    await app.jobs.run('end-attestations')
    await app.jobs.run('end-attestations')
    expect((await ends()).slice(before)).toEqual([['average_id', id, 'expired']])
    expect(await listed(id)).toBe('expired')
    const ended = await ask(d.service, 'POST', `${path}/attestations/${id}/end`, second, { reason: 'x' })
    expect(ended.status).toBe(404)
  })
})

test('the stream has the same events in the same order', async () => {
  const { service } = d
  const last = await lastEvent(service.store, service.owner.tenant)
  const administrator = await session(service, service.owner.tenant, ['read'], ['administrator'], 'adam')
  const leaving = new AbortController()
  const response = await fetch(new URL('/api/v1/events', service.app.url), {
    headers: { 'x-svc-session': administrator, 'last-event-id': '0' },
    signal: leaving.signal,
  })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.includes(`id: ${last}\n`) && text.endsWith('\n\n')) break
  }
  leaving.abort()
  await toldOf('commit.decided')
  const streamed = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  const sent = received.map(({ told }) => told.type as string)
  expect(streamed.slice(-sent.length)).toEqual(sent)
})
