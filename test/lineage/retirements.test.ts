/** A steward takes back an edge, a dataset or a run with a reason, and restores it; edges that nobody says are stale. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { datasetNode, getJson, graph, lake, lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
let secret: string
let stranger: string
let reader: string
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  const session = async (tenant: TestTenant['tenant'], roles: readonly string[]) => {
    const principal = { sub: 'olga', roles: [...roles] }
    const made = { name: 'x', principal, scopes: ['read', 'admin'] } as const
    return (await createServiceSession(service.store, tenant, made)).secret
  }
  secret = await session(service.owner.tenant, ['steward'])
  stranger = await session(foreign.tenant, ['steward'])
  reader = await session(service.owner.tenant, ['analyst'])
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const named = (name: string) => ({ namespace: lake, name })
async function call(method: string, path: string, body?: object, as = secret) {
  const response = await fetch(new URL(`/api/v1/lineage/${path}`, service.app.url), {
    method,
    headers: { 'x-svc-session': as, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}
const retire = async (subject: object, as = secret) =>
  await call('POST', 'retirements', { ...subject, reason: 'It was wrong.' }, as)
const status = async (event: object, as?: string) =>
  (await sendLineage(service, event, as === undefined ? {} : { secret: as })).status
const lineageOf = async (name: string, as?: string) =>
  (await graph(service, datasetNode(name), {}, as)).edges
    .filter((edge) => edge.startsWith('LINEAGE_OF'))
    .sort()
const event = (job: string, reads: readonly string[], writes: readonly string[], more: object = {}) =>
  lineageEvent({ job, inputs: reads, outputs: writes, more: { ...more } })

describe('an edge', () => {
  test('that is taken back refuses its opposite no longer, and is drawn by no event until it is restored', async () => {
    const edge = { edge: { from: named('g'), to: named('h') } }
    expect(await status(event('wrong', ['g'], ['h']))).toBe(202)
    expect(await status(event('wrong', ['g'], ['h']), foreign.secret)).toBe(202)
    const refused = await sendLineage(service, event('right', ['h'], ['g']))
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain('POST /api/v1/lineage/retirements')

    expect((await retire(edge, reader)).status).toBe(403)
    const { status: made, body } = await retire(edge)
    expect(made).toBe(200)
    expect((await retire(edge)).status).toBe(404)
    expect(await lineageOf('g', stranger)).toEqual(['LINEAGE_OF g → h'])
    expect(await lineageOf('g')).toEqual([])
    expect(await status(event('wrong', ['g'], ['h', 'other']))).toBe(202)
    expect(await lineageOf('g')).toEqual(['LINEAGE_OF g → other'])
    expect(await status(event('right', ['h'], ['g2']))).toBe(202)

    const listed = await call('GET', 'retirements')
    expect(listed.body.items).toMatchObject([{ id: body.id, ...edge, reason: 'It was wrong.', by: 'olga' }])
    expect((await call('GET', 'retirements', undefined, stranger)).body.items).toEqual([])
    expect((await call('DELETE', `retirements/${body.id}`, undefined, stranger)).status).toBe(404)
    expect((await call('DELETE', `retirements/${body.id}`)).status).toBe(204)
    expect(await lineageOf('g')).toEqual(['LINEAGE_OF g → h', 'LINEAGE_OF g → other', 'LINEAGE_OF h → g2'])
  })

  test('is not restored where it would close a cycle by then', async () => {
    await status(event('c1', ['x1'], ['x2']))
    const { body } = await retire({ edge: { from: named('x1'), to: named('x2') } })
    expect(await status(event('c2', ['x2'], ['x1']))).toBe(202)
    expect((await call('DELETE', `retirements/${body.id}`)).status).toBe(204)
    expect(await lineageOf('x1')).toEqual(['LINEAGE_OF x2 → x1'])
  })
})

test('a dataset that is taken back has no edges, and has them again once it is restored', async () => {
  await status(event('d1', ['d-in'], ['d-mid']))
  await status(event('d2', ['d-mid'], ['d-out']))
  const { body } = await retire({ dataset: named('d-mid') })
  await status(event('d3', ['d-mid'], ['d-late']))
  expect((await graph(service, datasetNode('d-mid'))).edges).toEqual([])
  expect(await lineageOf('d-in')).toEqual([])
  await call('DELETE', `retirements/${body.id}`)
  expect(await lineageOf('d-mid')).toEqual([
    'LINEAGE_OF d-in → d-mid',
    'LINEAGE_OF d-mid → d-late',
    'LINEAGE_OF d-mid → d-out',
  ])
})

test('a run that is taken back has neither drawn nor ended an edge, also by an event that comes later', async () => {
  const first = event('r', ['r-in'], ['r-out'], { eventTime: '2026-03-01T10:00:00Z' })
  const second = event('r', ['r-wrong'], ['r-out'], { eventTime: '2026-03-01T11:00:00Z' })
  for (const one of [first, second]) expect(await status(one)).toBe(202)
  expect(await lineageOf('r-out')).toEqual(['LINEAGE_OF r-wrong → r-out'])
  const { body } = await retire({ run: { producer, run_id: second.run.runId } })
  expect(await lineageOf('r-out')).toEqual(['LINEAGE_OF r-in → r-out'])
  expect((await graph(service, datasetNode('r-wrong'))).edges).toEqual([])
  expect(await status({ ...second, eventType: 'FAIL' })).toBe(202)
  expect(await lineageOf('r-out')).toEqual(['LINEAGE_OF r-in → r-out'])
  await call('DELETE', `retirements/${body.id}`)
  expect(await lineageOf('r-out')).toEqual(['LINEAGE_OF r-wrong → r-out'])
})

test('who took what back is in the administration log', async () => {
  const rows = await service.store.tenantQuery(
    service.owner.tenant,
    `select subject, value, actor_sub from svc.administration_log
     where action = 'retire-lineage' order by administration_seq limit 1`,
  )
  expect(rows).toMatchObject([
    {
      subject: { edge: { from: named('g'), to: named('h') } },
      ...{ value: { reason: 'It was wrong.' }, actor_sub: 'olga' },
    },
  ])
})

test('what lineage has not, or two things at once, are not taken back', async () => {
  expect((await retire({ edge: { from: named('nothing'), to: named('h') } })).status).toBe(404)
  expect((await retire({ run: { producer, run_id: crypto.randomUUID() } })).status).toBe(404)
  expect((await retire({})).status).toBe(400)
  expect((await retire({ dataset: named('g'), run: { producer, run_id: crypto.randomUUID() } })).status).toBe(
    400,
  )
})

test('an edge that no run says for longer than is set, for its job or for all, is stale', async () => {
  await status(event('old', ['s-in'], ['s-out']))
  const isStale = async () => {
    const path = `/api/v1/lineage/graph?node=${encodeURIComponent(datasetNode('s-in'))}`
    const { body } = await getJson(service, path)
    return (body.items as { label: string; stale?: boolean }[]).find(({ label }) => label === 'LINEAGE_OF')
      ?.stale
  }
  expect(await isStale()).toBeUndefined()
  expect((await call('PUT', 'staleness', { days: 1 }, reader)).status).toBe(403)
  expect((await call('PUT', 'staleness', { days: 1 })).status).toBe(204)
  expect(await isStale()).toBe(true)
  await call('PUT', 'staleness', { job: { namespace: 'airflow', name: 'old' }, days: 36_500 })
  expect(await isStale()).toBeUndefined()
  expect((await call('GET', 'staleness')).body.items).toMatchObject([{ days: 1 }, { days: 36_500 }])
  expect((await call('GET', 'staleness', undefined, stranger)).body.items).toEqual([])
  await call('PUT', 'staleness', { job: { namespace: 'airflow', name: 'old' } })
  expect(await isStale()).toBe(true)
})
