/** POST /v1/lineage/batch over HTTP on a whole service. A foreign tenant is there. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { limits } from '../../src/limits.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { departures } from '../support/json-schema.ts'
import { datasetNode, getJson, graph, lake, lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const path = '/v1/lineage/batch'
const post = async (body: unknown, options: Parameters<typeof sendLineage>[2] = {}) => {
  const response = await sendLineage(service, body as object, { path, ...options })
  return { status: response.status, body: (await response.json()) as Answer }
}
interface Answer {
  readonly received: number
  readonly accepted: number
  readonly events: readonly { readonly status: number; readonly message?: string }[]
  readonly error?: { readonly message: string }
}
const countOf = async (table: string, tenant = service.owner.tenant) =>
  Number((await service.store.tenantQuery<{ n: string }>(tenant, `select count(*) as n from ${table}`))[0]?.n)

describe('a batch', () => {
  test('answers each event on its own, in their order, and merges those that it takes', async () => {
    const good = lineageEvent({ inputs: ['b1'], outputs: ['b2'] })
    const cycle = lineageEvent({ inputs: ['b2'], outputs: ['b1'] })
    const { eventType: _, ...untyped } = lineageEvent({ inputs: ['b3'], outputs: ['b4'] })
    const other = { ...lineageEvent({}), eventType: 'OTHER' }
    await sendLineage(service, good)
    const { status, body } = await post([
      good,
      cycle,
      untyped,
      other,
      7,
      lineageEvent({ inputs: ['b2'], outputs: ['b5'] }),
    ])
    expect(status).toBe(200)
    expect(body.events.map((one) => one.status)).toEqual([202, 422, 400, 400, 400, 202])
    expect([body.received, body.accepted]).toEqual([6, 2])
    expect(body.events[1]?.message).toContain('b1')
    expect(body.events[2]?.message).toContain('schemaURL')
    expect(body.events[3]?.message).toContain('set RUNNING')
    expect(body.events[4]?.message).toContain('must be a JSON object')
    expect([...(await graph(service, datasetNode('b2'))).edges]).toContain('LINEAGE_OF b2 → b5')
    expect(await countOf('lineage_inbox', foreign.tenant)).toBe(0)
    const { paths } = (await getJson(service, '/api/v1/openapi.json')).body as unknown as {
      paths: Record<
        string,
        { post: { responses: Record<string, { content: Record<string, { schema: object }> }> } }
      >
    }
    const schema = paths[path]?.post.responses['200']?.content['application/json']?.schema
    expect(schema && departures(body as never, schema)).toEqual([])
  })

  test('keeps an event as the bytes that were sent, so that it is the same one sent alone', async () => {
    const event = lineageEvent({ inputs: ['c1'], outputs: ['c2'], runId: crypto.randomUUID() })
    const raw = JSON.stringify(event).replace('{', '{ "note" : "\\u0041, ]" ,')
    const before = await countOf('lineage_inbox')
    for (const send of [
      () => post(` [ ${raw} , ${raw} ] `),
      () => sendLineage(service, raw),
      () => post(`[${raw}]`),
    ])
      expect((await send()).status).toBeLessThan(300)
    expect(await countOf('lineage_inbox')).toBe(before + 1)
    const rows = await service.store.tenantQuery<{ body: Uint8Array }>(
      service.owner.tenant,
      'select body from lineage_inbox where run_id = $1::uuid',
      [event.run.runId],
    )
    expect(rows.map(({ body }) => Buffer.from(body).toString())).toEqual([raw])
  })

  test('of the events of a run draws their sum', async () => {
    const runId = crypto.randomUUID()
    const body = [
      { ...lineageEvent({ runId, inputs: ['d1'], outputs: [] }), eventType: 'START' },
      { ...lineageEvent({ runId, inputs: [], outputs: ['d2'] }), eventType: 'COMPLETE' },
    ]
    expect((await post(body)).body.accepted).toBe(2)
    expect([...(await graph(service, datasetNode('d1'))).edges]).toContain('LINEAGE_OF d1 → d2')
  })

  test('may be empty, or gzip, or come by the other path', async () => {
    expect(await post([])).toEqual({ status: 200, body: { received: 0, accepted: 0, events: [] } })
    const body = gzipSync(JSON.stringify([lineageEvent({ inputs: ['e1'], outputs: ['e2'] })]))
    const headers = { 'content-encoding': 'gzip' }
    expect((await post(body, { headers, path: '/api/v1/lineage/batch' })).body.accepted).toBe(1)
  })

  test('is refused whole where it is no list, has too many events, or the caller may not send', async () => {
    for (const body of ['', '{}', '[1,]', `[${Array(limits.lineageBatchEventsMax + 1).fill('{}')}]`])
      expect([body.slice(0, 9), (await post(body)).status]).toEqual([body.slice(0, 9), 400])
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      ...{ name: 'reader', principal: { sub: 'rita', roles: [] }, scopes: ['read'] },
    })
    expect((await post([], { secret })).status).toBe(403)
    expect((await post([], { secret: 'svc_none' })).status).toBe(401)
  })

  test('refuses an event that is larger than one may be, and takes the others', async () => {
    const large = { ...lineageEvent({}), note: 'x'.repeat(limits.lineageBodyBytesMax) }
    const { body } = await post([large, lineageEvent({ inputs: ['f1'], outputs: ['f2'] })])
    expect(body.events.map(({ status }) => status)).toEqual([400, 202])
  })

  test('of a thousand events is taken whole', async () => {
    const event = lineageEvent({ inputs: [], outputs: [] })
    const events = Array.from({ length: limits.lineageBatchEventsMax }, () => event)
    expect((await post(events)).body).toMatchObject({ received: 1_000, accepted: 1_000 })
  }, 120_000)
})

describe('a dataset event', () => {
  test('with column lineage draws the datasets and columns that it names', async () => {
    const inputFields = [{ namespace: lake, name: 'k1', field: 'a' }]
    const columnLineage = { _producer: producer, fields: { b: { inputFields } } }
    const event = {
      ...{ eventTime: '2026-11-28T10:00:00Z', producer },
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent',
      dataset: { namespace: lake, name: 'k2', facets: { columnLineage } },
    }
    expect((await post([event])).body.events).toEqual([{ status: 202 }])
    const around = `/api/v1/lineage/graph?${new URLSearchParams({ node: datasetNode('k2') })}`
    expect((await getJson(service, around)).body.items).toMatchObject([
      { label: 'LINEAGE_OF', from: datasetNode('k1'), columns: [{ input: 'a', output: 'b' }] },
    ])
  })
})
