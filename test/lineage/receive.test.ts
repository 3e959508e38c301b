/** POST /v1/lineage and the lineage resources, over HTTP on a whole service. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Clock } from '../../src/base/clock.ts'
import { lineageOperations } from '../../src/lineage/operations.ts'
import { LineageReceiver } from '../../src/lineage/receiver.ts'
import { upsertNode } from '../../src/store/graph/graph.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { eventually } from '../support/eventually.ts'
import { failingStore } from '../support/failing-store.ts'
import { datasetNode, getJson, graph, lake, lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { serveOperations } from '../support/operations.ts'
import { addTenant, metric, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
/** Whether merges fail, as if the database had gone away in the middle. */
let mergesFail = false
/** Whether nothing can be stored either. */
let storingFails = false

beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => {
      const failing = failingStore(store, /receive_lineage/)
      return {
        ...store,
        // Storing without merging still works: its third parameter is false.
        tenantQuery: (tenant, text, params, options) =>
          (storingFails || (mergesFail && params?.[2] === true) ? failing : store).tenantQuery(
            tenant,
            text,
            params,
            options,
          ),
      }
    },
  })
  foreign = await addTenant(service.store, 'other', service.catalog.url)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const runPath = (runId: string, by = producer) => `/api/v1/lineage/runs/${encodeURIComponent(by)}/${runId}`
const message = async (response: Response) =>
  ((await response.json()) as { error: { message: string; code: number } }).error.message

describe('the receiver', () => {
  test('answers 202 without a body, and the edges of every pair are there', async () => {
    const response = await sendLineage(service, lineageEvent({ inputs: ['p1', 'p2'], outputs: ['p3', 'p4'] }))
    expect(response.status).toBe(202)
    expect(await response.text()).toBe('')
    const { edges } = await graph(service, datasetNode('p1'))
    expect([...edges].sort()).toEqual([
      'CONSUMED_BY p1 → job/airflow/daily',
      'LINEAGE_OF p1 → p3',
      'LINEAGE_OF p1 → p4',
      'PRODUCED_BY p3 → job/airflow/daily',
      'PRODUCED_BY p4 → job/airflow/daily',
    ])
  })

  test('keeps through which session and with which client an event was sent', async () => {
    const runId = crypto.randomUUID()
    const principal = { sub: 'airflow', roles: [] }
    const made = { name: 'sender', principal, scopes: ['lineage', 'read'] } as const
    const { id, secret } = await createServiceSession(service.store, service.owner.tenant, made)
    const headers = { 'user-agent': 'openlineage-python/1.54.0' }
    expect((await sendLineage(service, lineageEvent({ runId }), { secret, headers })).status).toBe(202)
    expect((await getJson(service, runPath(runId))).body.items).toEqual([
      expect.objectContaining({
        session: { id, name: 'airflow' },
        client: 'openlineage-python/1.54.0',
      }),
    ])
  })

  test('takes POST only, before it looks at who asks', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await sendLineage(service, '{}', { method, secret: 'none' })
      expect({ method, status: response.status, allow: response.headers.get('allow') }).toEqual({
        method,
        status: 405,
        allow: 'POST',
      })
    }
  })

  test('takes events where OpenLineage clients post by default, for the same tenant and under the same rules', async () => {
    const path = '/api/v1/lineage'
    const runId = crypto.randomUUID()
    const event = lineageEvent({ runId, inputs: ['default1'], outputs: ['default2'] })
    expect((await sendLineage(service, event, { path })).status).toBe(202)
    expect((await graph(service, datasetNode('default1'))).edges).toContain('LINEAGE_OF default1 → default2')
    expect((await graph(service, datasetNode('default1'), {}, foreign.secret)).status).toBe(404)
    expect((await sendLineage(service, event)).status).toBe(202)
    expect((await getJson(service, runPath(runId))).body.items).toHaveLength(1)
    expect((await sendLineage(service, '{', { path })).status).toBe(400)
    expect((await sendLineage(service, event, { path, secret: '' })).status).toBe(401)
    const wrong = await sendLineage(service, '{}', { path, method: 'PUT', secret: 'none' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('asks for a session before it reads the body, and for the scope lineage', async () => {
    const huge = new Uint8Array(2 * 1024 * 1024)
    expect((await sendLineage(service, huge, { secret: '' })).status).toBe(401)
    expect((await sendLineage(service, huge, { secret: 'svc_unknown' })).status).toBe(401)
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'reader',
      principal: { sub: 'reader', roles: [] },
      scopes: ['read', 'commit'],
    })
    expect((await sendLineage(service, lineageEvent({}), { secret })).status).toBe(403)
  })

  test('a bearer without a subject is 401', async () => {
    const bearer = `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"sub":""}')}.`
    const response = await sendLineage(service, lineageEvent({}), { headers: { authorization: bearer } })
    expect(response.status).toBe(401)
  })

  test('takes the secret of a service session as a bearer token too, which opens nothing else', async () => {
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'openlineage',
      principal: { sub: 'openlineage', roles: [] },
      scopes: ['lineage', 'read'],
    })
    const event = lineageEvent({ inputs: ['bearer1'], outputs: ['bearer2'] })
    const as = (token: string) => ({ secret: '', headers: { authorization: `Bearer ${token}` } })
    expect((await sendLineage(service, event, as(secret))).status).toBe(202)
    expect((await graph(service, datasetNode('bearer1'))).edges).toContain('LINEAGE_OF bearer1 → bearer2')
    expect((await graph(service, datasetNode('bearer1'), {}, foreign.secret)).status).toBe(404)
    expect((await sendLineage(service, event, as(`svc_${'A'.repeat(43)}`))).status).toBe(401)
    const { headers } = as(secret)
    const other = await fetch(new URL('/api/v1/lineage/refused', service.app.url), { headers })
    expect(other.status).toBe(401)
  })

  test('a handler without tenant context answers 500', async () => {
    const clock: Clock = { now: () => 0 }
    const log = createLogger({ level: 'silent', destination: { write: () => {} } })
    const receiver = new LineageReceiver({ store: service.store, metrics: service.metrics, log })
    const parts = { receiver, clock, store: service.store }
    const serve = serveOperations(lineageOperations, parts, {}, async () => undefined)
    const response = await serve(new Request('http://svc.example/v1/lineage', { method: 'POST', body: '{}' }))
    expect(response.status).toBe(500)
  })

  test('takes 1 MiB and refuses one byte more with 400, with and without a length', async () => {
    const fill = (bytes: number) => {
      const event = lineageEvent({ more: { pad: '' } })
      const rest = bytes - JSON.stringify(event).length
      return JSON.stringify({ ...event, pad: 'x'.repeat(rest) })
    }
    const cap = 1024 * 1024
    expect((await sendLineage(service, fill(cap))).status).toBe(202)
    const over = await sendLineage(service, fill(cap + 1))
    expect(over.status).toBe(400)
    expect(await message(over)).toContain('larger than 1048576 bytes')
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(fill(cap + 1)))
        controller.close()
      },
    })
    const chunked = await fetch(new URL('/v1/lineage', service.app.url), {
      method: 'POST',
      headers: { 'x-svc-session': service.owner.secret },
      body: stream,
    })
    expect(chunked.status).toBe(400)
  })

  test('refuses what is no lineage event with 400 and an ErrorModel that says what is wrong', async () => {
    const cases = { '{': 'Invalid JSON', '{"producer":"p"}': 'eventType is required' }
    for (const [body, expected] of Object.entries(cases)) {
      const response = await sendLineage(service, body)
      expect(response.status).toBe(400)
      expect(await message(response)).toContain(expected)
    }
    const lower = await sendLineage(service, { ...lineageEvent({}), eventType: 'complete' })
    expect([lower.status, await message(lower)]).toEqual([400, expect.stringContaining('send COMPLETE')])
    for (const encoding of ['deflate', 'br', 'zstd', 'gzip, gzip']) {
      const encoded = await sendLineage(service, '{}', { headers: { 'content-encoding': encoding } })
      expect([encoded.status, await message(encoded)]).toEqual([
        400,
        expect.stringContaining('Content-Encoding'),
      ])
    }
  })

  const gzip = { headers: { 'content-encoding': 'gzip' } }

  test('stores a gzip body as its inflated bytes, so that the same event uncompressed is a repetition', async () => {
    const runId = crypto.randomUUID()
    const raw = ` ${JSON.stringify(lineageEvent({ runId, inputs: ['gz1'], outputs: ['gz2'] }))}\n`
    expect((await sendLineage(service, Bun.gzipSync(raw), gzip)).status).toBe(202)
    expect((await sendLineage(service, raw)).status).toBe(202)
    const { items } = (await getJson(service, runPath(runId))).body
    expect(items).toMatchObject([
      { body: raw, body_sha256: new Bun.CryptoHasher('sha256').update(raw).digest('hex') },
    ])
    expect((await getJson(service, runPath(runId), foreign.secret)).status).toBe(404)
  })

  test('bounds a gzip body by its inflated size', async () => {
    const cap = 1024 * 1024
    const event = JSON.stringify(lineageEvent({}))
    const whole = await sendLineage(service, Bun.gzipSync(event.padEnd(cap)), gzip)
    expect(whole.status).toBe(202)
    // The last is a megabyte that inflates to a gigabyte, in many members.
    const member = Bun.gzipSync(new Uint8Array(64 * cap))
    const bomb = new Uint8Array(Buffer.concat(Array.from({ length: 15 }, () => member)))
    expect(bomb.length).toBeLessThan(cap)
    for (const body of [Bun.gzipSync(event.padEnd(cap + 1)), bomb]) {
      const over = await sendLineage(service, body, gzip)
      expect([over.status, await message(over)]).toEqual([400, expect.stringContaining('1048576 bytes')])
    }
  })

  test('refuses a gzip body that is cut short, damaged, empty or not gzip with 400', async () => {
    const good = Bun.gzipSync(JSON.stringify(lineageEvent({})))
    const damaged = good.with(good.length - 8, (good.at(-8) ?? 0) ^ 1)
    for (const body of [good.slice(0, -3), damaged, new Uint8Array(0), '{}']) {
      const response = await sendLineage(service, body, gzip)
      expect([response.status, await message(response)]).toEqual([400, 'The body is not valid gzip.'])
    }
  })
})

describe('the inbox', () => {
  test('keeps the raw body byte for byte, unknown facets and spacing included', async () => {
    const runId = crypto.randomUUID()
    const event = lineageEvent({ runId, more: { odd: { facet: [1.0, 1e2, 'ü \u2028'] } } })
    const raw = `  ${JSON.stringify(event, null, 3)}\r\n\t`
    expect((await sendLineage(service, raw)).status).toBe(202)
    const { status, body } = await getJson(service, runPath(runId))
    expect(status).toBe(200)
    expect(body.items).toMatchObject([
      { body: raw, event_type: 'COMPLETE', state: 'merged', principal: service.owner.tenant },
    ])
    const [row] = await service.store.tenantQuery<{ body: Uint8Array }>(
      service.owner.tenant,
      'select body from lineage_inbox where run_id = $1::uuid',
      [runId],
    )
    expect(Buffer.compare(row?.body ?? new Uint8Array(), Buffer.from(raw))).toBe(0)
  })

  test('a repeated body is a silent no-op; a differing later event of the run stands beside the first', async () => {
    const runId = crypto.randomUUID()
    const start = { ...lineageEvent({ runId, inputs: ['q1'] }), eventType: 'START' }
    const complete = lineageEvent({ runId, inputs: ['q1'], outputs: ['q2'] })
    for (const event of [start, start, complete, start, complete])
      expect((await sendLineage(service, event)).status).toBe(202)
    const { body } = await getJson(service, runPath(runId))
    expect((body.items as { event_type: string }[]).map(({ event_type }) => event_type)).toEqual([
      'START',
      'COMPLETE',
    ])
    const count = (table: string) =>
      service.store
        .tenantQuery<{ n: string }>(
          service.owner.tenant,
          `select count(*) as n from ${table} where run_id = $1::uuid`,
          [runId],
        )
        .then(([row]) => Number(row?.n))
    expect([await count('lineage_inbox'), await count('lineage_event')]).toEqual([1, 1])
    expect((await graph(service, datasetNode('q1'))).edges).toContain('LINEAGE_OF q1 → q2')
  })

  test('an event keeps its time in whatever year that is: a clock that was never set says year 1', async () => {
    const runId = crypto.randomUUID()
    const times = [
      '0000-01-01T00:00:00.000Z',
      '0001-01-01T00:00:00.000Z',
      '0044-03-15T12:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
    ]
    for (const eventTime of times)
      expect((await sendLineage(service, { ...lineageEvent({ runId }), eventTime })).status).toBe(202)
    const { body } = await getJson(service, runPath(runId))
    expect((body.items as { event_time: string }[]).map(({ event_time }) => event_time)).toEqual(times)
  })

  test('runs of other producers, and of the same id elsewhere, are runs of their own', async () => {
    const runId = crypto.randomUUID()
    await sendLineage(service, lineageEvent({ runId }))
    await sendLineage(service, { ...lineageEvent({ runId }), producer: 'other' })
    expect((await getJson(service, runPath(runId, 'other'))).body.items).toHaveLength(1)
    expect((await getJson(service, runPath(runId), foreign.secret)).status).toBe(404)
  })

  test('pages through the events of a run, and takes the producer with or without encoding', async () => {
    const runId = crypto.randomUUID()
    for (let i = 0; i < 5; i++)
      await sendLineage(service, lineageEvent({ runId: runId.toUpperCase(), more: { i } }))
    const first = await getJson(service, `${runPath(runId)}?limit=3`)
    const rest = await getJson(service, `${runPath(runId)}?limit=3&page_token=${first.body.next_page_token}`)
    const bodies = [...(first.body.items as []), ...(rest.body.items as [])].map(
      ({ body }: { body: string }) => JSON.parse(body).i,
    )
    expect(bodies).toEqual([0, 1, 2, 3, 4])
    expect(rest.body.next_page_token).toBeUndefined()
    expect((await getJson(service, `/api/v1/lineage/runs/${producer}/${runId}`)).status).toBe(200)
    for (const bad of ['?limit=21', '?limit=0', '?limit=x', '?page_token=x'])
      expect((await getJson(service, runPath(runId) + bad)).status).toBe(400)
    expect((await getJson(service, runPath('not-a-uuid'))).status).toBe(400)
    expect((await getJson(service, '/api/v1/lineage/runs/%FF/x')).status).toBe(400)
  })

  test('job and dataset events are kept, once, and their datasets join the graph', async () => {
    const schema = (name: string) => `https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/${name}`
    const job = {
      producer,
      schemaURL: schema('JobEvent'),
      job: { namespace: 'dbt', name: 'model' },
      inputs: [{ namespace: lake, name: 's1' }],
      outputs: [{ namespace: lake, name: 's2' }],
    }
    const dataset = { producer, schemaURL: schema('DatasetEvent'), dataset: { namespace: lake, name: 's3' } }
    for (const event of [job, job, dataset, dataset])
      expect((await sendLineage(service, event)).status).toBe(202)
    const rows = await service.store.tenantQuery<{ kind: string }>(
      service.owner.tenant,
      `select kind from lineage_event where kind <> 'run' order by kind`,
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['dataset', 'job'])
    expect((await graph(service, datasetNode('s1'))).edges).toEqual([
      'LINEAGE_OF s1 → s2',
      'PRODUCED_BY s2 → job/dbt/model',
      'CONSUMED_BY s1 → job/dbt/model',
    ])
    expect(await graph(service, datasetNode('s3'))).toMatchObject({ status: 200, edges: [] })
  })
})

describe('cycles', () => {
  test('an edge that closes one is 422 in words and not drawn; the others of the event and its job are', async () => {
    await sendLineage(service, lineageEvent({ inputs: ['c1'], outputs: ['c2'] }))
    await sendLineage(service, lineageEvent({ inputs: ['c2'], outputs: ['c3'] }))
    const runId = crypto.randomUUID()
    const closing = lineageEvent({ runId, inputs: ['c3', 'c8'], outputs: ['c9', 'c1'] })
    const response = await sendLineage(service, closing)
    expect(response.status).toBe(422)
    expect(await message(response)).toBe(
      'The LINEAGE_OF edge from c3 (s3://lake) to c1 (s3://lake) would close a cycle: ' +
        'c3 (s3://lake) → c1 (s3://lake) → c2 (s3://lake) → c3 (s3://lake). ' +
        "It was not drawn; the event's other edges were. " +
        'If an edge of the path is wrong, a steward takes it back by POST /api/v1/lineage/retirements.',
    )
    const { edges } = await graph(service, datasetNode('c8'), { direction: 'downstream', depth: '1' })
    expect(edges).toContain('LINEAGE_OF c8 → c1')
    expect(edges).toContain('LINEAGE_OF c8 → c9')
    expect(edges.filter((edge) => edge.startsWith('PRODUCED_BY'))).not.toEqual([])
    const refused = {
      from: { name: 'c3' },
      to: { name: 'c1' },
      cycle: [{ name: 'c1' }, { name: 'c2' }, { name: 'c3' }],
    }
    const kept = await getJson(service, runPath(runId))
    expect(kept.body.items).toMatchObject([{ state: 'refused', refusal: { count: 1, refused: [refused] } }])
    // Sent again, it is looked at again: a refusal is never answered as if it had been accepted.
    expect((await sendLineage(service, closing)).status).toBe(422)
    expect((await getJson(service, runPath(runId))).body.items).toHaveLength(1)
  })

  test('refused edges are listed with reason, run and time, page by page, those of another tenant never', async () => {
    const pair = async (name: string, secret?: string) => {
      const ids = [crypto.randomUUID(), crypto.randomUUID()]
      const [there, back] = [
        lineageEvent({ runId: ids[0] as string, inputs: [`${name}1`], outputs: [`${name}2`] }),
        lineageEvent({ runId: ids[1] as string, inputs: [`${name}2`], outputs: [`${name}1`] }),
      ]
      const as = secret === undefined ? {} : { secret }
      expect((await sendLineage(service, there, as)).status).toBe(202)
      expect((await sendLineage(service, back, as)).status).toBe(422)
      return ids[1] as string
    }
    const runs = [await pair('listed-a'), await pair('listed-b')]
    const theirs = await pair('listed-c', foreign.secret)
    const first = await getJson(service, '/api/v1/lineage/refused?limit=1')
    expect(first.body.items).toMatchObject([
      {
        run_id: runs[1],
        refusal: { count: 1, refused: [{ from: { name: 'listed-b2' }, to: { name: 'listed-b1' } }] },
      },
    ])
    const rest = await getJson(service, `/api/v1/lineage/refused?page_token=${first.body.next_page_token}`)
    const listed = (rest.body.items as { run_id: string }[]).map(({ run_id }) => run_id)
    expect(listed[0]).toBe(runs[0] as string)
    expect(listed).not.toContain(theirs)
  })

  test('a dataset that is written in place is no cycle: its other edges are drawn, and its job says so', async () => {
    const merge = lineageEvent({ inputs: ['self', 'x'], outputs: ['self'] })
    expect((await sendLineage(service, merge)).status).toBe(202)
    expect((await graph(service, datasetNode('x'), { direction: 'downstream', depth: '1' })).edges).toContain(
      'LINEAGE_OF x → self',
    )
    const [row] = await service.store.tenantQuery<{ n: string }>(
      service.owner.tenant,
      `select count(*) as n from "PRODUCED_BY" p join "Dataset" d on d.id = p.start_id
       where p.properties::text::jsonb ->> 'in_place' = 'true' and d.properties::text::jsonb ->> 'name' = 'self'`,
    )
    expect(Number(row?.n)).toBe(1)
    const only = lineageEvent({ inputs: ['alone'], outputs: ['alone'] })
    expect((await sendLineage(service, only)).status).toBe(202)
  })

  test('written in place hides no cycle that its event would close', async () => {
    await sendLineage(service, lineageEvent({ inputs: ['beside1'], outputs: ['beside2'] }))
    const both = lineageEvent({ inputs: ['beside2'], outputs: ['beside2', 'beside1'] })
    const response = await sendLineage(service, both)
    expect(response.status).toBe(422)
    expect(await message(response)).toStartWith(
      'The LINEAGE_OF edge from beside2 (s3://lake) to beside1 (s3://lake)',
    )
  })

  test('two datasets that are each input and output of one event get one edge, and the other is refused', async () => {
    const swap = lineageEvent({ inputs: ['swap1', 'swap2'], outputs: ['swap1', 'swap2'] })
    expect((await sendLineage(service, swap)).status).toBe(422)
    expect(
      (await graph(service, datasetNode('swap1'), { depth: '1' })).edges.filter((edge) =>
        edge.startsWith('LINEAGE_OF'),
      ),
    ).toEqual(['LINEAGE_OF swap2 → swap1'])
  })

  test('five hops back are seen, six are not', async () => {
    const chain = (name: string, hops: number) =>
      Promise.all(
        Array.from({ length: hops }, (_, i) =>
          sendLineage(service, lineageEvent({ inputs: [`${name}${i}`], outputs: [`${name}${i + 1}`] })),
        ),
      )
    await chain('five', 5)
    expect((await sendLineage(service, lineageEvent({ inputs: ['five5'], outputs: ['five0'] }))).status).toBe(
      422,
    )
    await chain('six', 6)
    expect((await sendLineage(service, lineageEvent({ inputs: ['six6'], outputs: ['six0'] }))).status).toBe(
      202,
    )
  })

  test("another tenant's edges close no cycle here", async () => {
    await sendLineage(service, lineageEvent({ inputs: ['t1'], outputs: ['t2'] }))
    const back = lineageEvent({ inputs: ['t2'], outputs: ['t1'] })
    expect((await sendLineage(service, back, { secret: foreign.secret })).status).toBe(202)
    expect((await graph(service, datasetNode('t1'))).edges).toContain('LINEAGE_OF t1 → t2')
    expect((await graph(service, datasetNode('t1'), {}, foreign.secret)).edges).toContain(
      'LINEAGE_OF t2 → t1',
    )
  })

  test('the sweep finds the longer ones, records and reports them once, and closes what is gone', async () => {
    await service.app.jobs.run('sweep-lineage')
    const found = () =>
      service.store.tenantQuery<{ datasets: { name: string }[]; resolved: boolean; detected_at: Date }>(
        service.owner.tenant,
        'select datasets, resolved_at is not null as resolved, detected_at from lineage_cycle',
      )
    const [cycle, ...others] = await found()
    expect(others).toEqual([])
    expect(cycle?.datasets.map(({ name }) => name).sort()).toEqual(
      ['six0', 'six1', 'six2', 'six3', 'six4', 'six5', 'six6'].sort(),
    )
    expect(await metric(service, 'svc_lineage_cycles')).toBe(1)
    expect(service.log().match(/the lineage graph holds a cycle/g)).toHaveLength(1)
    await service.app.jobs.run('sweep-lineage')
    expect(await found()).toHaveLength(1)
    expect(service.log().match(/the lineage graph holds a cycle/g)).toHaveLength(1)

    await service.store.tenantQuery(
      service.owner.tenant,
      `delete from "LINEAGE_OF" e using "Dataset" d where d.id = e.start_id
       and d.properties::text::jsonb ->> 'name' = 'six6'`,
    )
    await service.app.jobs.run('sweep-lineage')
    expect(await found()).toMatchObject([{ resolved: true }])
    expect(await metric(service, 'svc_lineage_cycles')).toBe(0)
  })
})

describe('the graph', () => {
  beforeAll(async () => {
    for (const [from, to] of [
      ['g1', 'g2'],
      ['g2', 'g3'],
      ['g3', 'g4'],
      ['g4', 'g5'],
      ['g0', 'g2'],
      ['g2', 'gx'],
    ])
      await sendLineage(
        service,
        lineageEvent({ inputs: [from as string], outputs: [to as string], job: 'g' }),
      )
  })
  const lineageOf = (edges: readonly string[]) => edges.filter((edge) => edge.startsWith('LINEAGE_OF'))

  test('is bounded by depth, three hops where none is given, nearest first', async () => {
    const edges = async (query: Record<string, string>) =>
      lineageOf((await graph(service, datasetNode('g1'), { direction: 'downstream', ...query })).edges)
    expect(await edges({ depth: '1' })).toEqual(['LINEAGE_OF g1 → g2'])
    expect(await edges({})).toEqual([
      'LINEAGE_OF g1 → g2',
      'LINEAGE_OF g2 → g3',
      'LINEAGE_OF g2 → gx',
      'LINEAGE_OF g3 → g4',
    ])
    expect(await edges({ depth: '5' })).toContain('LINEAGE_OF g4 → g5')
  })

  test('goes up, down or both ways, and never sideways to a sibling', async () => {
    const edges = async (direction: string) =>
      lineageOf((await graph(service, datasetNode('g3'), { direction, depth: '5' })).edges).sort()
    const up = ['LINEAGE_OF g0 → g2', 'LINEAGE_OF g1 → g2', 'LINEAGE_OF g2 → g3']
    const down = ['LINEAGE_OF g3 → g4', 'LINEAGE_OF g4 → g5']
    expect(await edges('upstream')).toEqual(up)
    expect(await edges('downstream')).toEqual(down)
    expect(await edges('both')).toEqual([...up, ...down])
  })

  test('begins at a job with what it produced', async () => {
    const { edges } = await graph(service, 'job/airflow/g', { direction: 'upstream', depth: '1' })
    expect(edges).toContain('PRODUCED_BY gx → job/airflow/g')
    expect(edges).toContain('LINEAGE_OF g4 → g5')
  })

  test('comes in pages that together are the whole', async () => {
    const whole = await graph(service, datasetNode('g1'), { depth: '5' })
    const collected: string[] = []
    let after: string | undefined
    do {
      const page = await graph(service, datasetNode('g1'), {
        depth: '5',
        limit: '2',
        ...(after !== undefined && { page_token: after }),
      })
      expect(page.edges.length).toBeLessThanOrEqual(2)
      collected.push(...page.edges)
      after = page.next
    } while (after !== undefined)
    expect(collected).toEqual([...whole.edges])
  })

  test('refuses what it cannot answer', async () => {
    const node = datasetNode('g1')
    for (const query of [
      { depth: '6' },
      { depth: '0' },
      { depth: '1.5' },
      { direction: 'left' },
      { limit: '1001' },
      { page_token: 'x' },
    ])
      expect({ query, status: (await graph(service, node, query)).status }).toEqual({ query, status: 400 })
    for (const bad of ['', 'dataset/a', 'thing/a/b', 'column/a/b', 'dataset/%FF/b', 'dataset/%00/b'])
      expect({ bad, status: (await graph(service, bad)).status }).toEqual({ bad, status: 400 })
    expect((await graph(service, datasetNode('nowhere'))).status).toBe(404)
    expect((await graph(service, node, {}, foreign.secret)).status).toBe(404)
    const anonymous = await fetch(new URL(`/api/v1/lineage/graph?node=${node}`, service.app.url))
    expect(anonymous.status).toBe(401)
    for (const path of ['/api/v1/lineage/graph', '/api/v1/lineage/runs/a/b']) {
      const response = await fetch(new URL(path, service.app.url), { method: 'POST' })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    }
  })
})

describe('columns', () => {
  const field = (name: string, column: string) => ({ namespace: lake, name, field: column })
  const withColumns = (name: string, fields: Record<string, object[]>, dataset: object[] = []) => ({
    namespace: lake,
    name,
    facets: {
      columnLineage: {
        fields: Object.fromEntries(
          Object.entries(fields).map(([key, inputFields]) => [key, { inputFields }]),
        ),
        dataset,
      },
    },
  })
  const column = (name: string, of: string) => `column/${encodeURIComponent(lake)}/${name}/${of}`

  test('are followed up and down, by column', async () => {
    await sendLineage(
      service,
      lineageEvent({
        inputs: ['k1'],
        outputs: [
          withColumns('k2', { total: [field('k1', 'price'), field('k1', 'count')], id: [field('k1', 'id')] }),
        ],
      }),
    )
    await sendLineage(
      service,
      lineageEvent({
        inputs: ['k2'],
        outputs: [withColumns('k3', { sum: [field('k2', 'total')] }, [field('k2', 'id')])],
      }),
    )
    const up = await graph(service, column('k3', 'sum'), { direction: 'upstream' })
    expect(up.nodes.filter((node) => node.startsWith('column/')).sort()).toEqual(
      [
        column('k1', 'count'),
        column('k1', 'id'),
        column('k1', 'price'),
        column('k2', 'id'),
        column('k2', 'total'),
        column('k3', 'sum'),
      ].sort(),
    )
    const down = await graph(service, column('k1', 'id'), { direction: 'downstream' })
    expect(down.edges).toEqual([
      `LINEAGE_OF ${column('k1', 'id')} → ${column('k2', 'id')}`,
      `LINEAGE_OF ${column('k2', 'id')} → k3`,
    ])
    const { body } = await getJson(
      service,
      `/api/v1/lineage/graph?node=${encodeURIComponent(datasetNode('k1'))}&depth=1`,
    )
    expect(body.items).toMatchObject([
      { column_count: 3, columns: [{ input: 'price', output: 'total' }, {}, {}] },
      {},
      {},
    ])
  })

  test('that a producer names more than once come in pages that together are the whole', async () => {
    const told = ['DIRECT', 'INDIRECT'].map((type) => ({ ...field('r1', 'a'), transformations: [{ type }] }))
    const whole = [{ ...field('r1', 'a'), transformations: [] }]
    await sendLineage(
      service,
      lineageEvent({ inputs: ['r1'], outputs: [withColumns('r2', { b: told, '': whole }, whole)] }),
    )
    const path = `/api/v1/lineage/graph?node=${encodeURIComponent(column('r1', 'a'))}`
    const all = (await getJson(service, path)).body.items as object[]
    expect(all).toHaveLength(4)
    const paged: object[] = []
    let next: unknown
    do {
      const after: string = next === undefined ? '' : `&page_token=${next}`
      const { body } = await getJson(service, `${path}&limit=1${after}`)
      paged.push(...(body.items as object[]))
      next = body.next_page_token
    } while (next !== undefined)
    expect(paged).toEqual(all)
  })

  test("are those of the latest event, by the events' own time", async () => {
    const at = (eventTime: string, column_: string) =>
      sendLineage(service, {
        ...lineageEvent({ inputs: ['l1'], outputs: [withColumns('l2', { b: [field('l1', column_)] })] }),
        eventTime,
      })
    const inputs = async () => {
      const { body } = await getJson(
        service,
        `/api/v1/lineage/graph?node=${encodeURIComponent(datasetNode('l1'))}`,
      )
      return (body.items as { columns: { input: string }[] }[])[0]?.columns.map(({ input }) => input)
    }
    await at('2026-03-02T00:00:00Z', 'second')
    await at('2026-03-03T00:00:00Z', 'third')
    await at('2026-03-01T00:00:00Z', 'first')
    expect(await inputs()).toEqual(['third'])
  })
})

describe('governed tables', () => {
  const stored = (namespace: string, name: string) => ({ namespace, name })
  const table = (name: string) => ({
    label: 'Table' as const,
    id: `sales\u001f${name}`,
    properties: { namespace: ['sales'], name },
  })

  test('a dataset that names one is linked to it, in the catalog of this tenant only', async () => {
    const { store, owner } = service
    await store.tenantTransaction(owner.tenant, (tx) => upsertNode(tx, owner.tenant, table('linked')))
    const uri = `${service.app.url}v1/iceberg/main`
    await sendLineage(
      service,
      lineageEvent({
        inputs: ['raw'],
        outputs: [stored(uri, 'sales.linked'), stored('http://svc/v1/iceberg/unknown', 'sales.linked')],
      }),
    )
    const { edges, status } = await graph(service, 'table/sales/linked')
    expect(status).toBe(200)
    expect(edges.filter((edge) => edge.startsWith('STORED_AS'))).toEqual([
      `STORED_AS dataset/${encodeURIComponent(uri)}/sales.linked → table/sales/linked`,
    ])
    expect(edges.some((edge) => edge.startsWith('LINEAGE_OF raw → dataset/'))).toBe(true)
    expect((await graph(service, 'table/sales/linked', {}, foreign.secret)).status).toBe(404)
  })

  test('a table that comes after its dataset is linked by the sweep', async () => {
    const { store, owner } = service
    await sendLineage(service, lineageEvent({ outputs: [stored('main', 'sales.late')] }))
    expect(
      (await graph(service, 'table/sales/late')).edges.some((edge) => edge.startsWith('STORED_AS')),
    ).toBe(false)
    await store.tenantTransaction(owner.tenant, (tx) => upsertNode(tx, owner.tenant, table('late')))
    await service.app.jobs.run('sweep-lineage')
    expect((await graph(service, 'table/sales/late')).edges).toContain(
      'STORED_AS dataset/main/sales.late → table/sales/late',
    )
  })
})

describe('events made by openlineage-python 1.54.0', () => {
  const fixture = (name: string) => Bun.file(new URL(`fixtures/${name}.json`, import.meta.url)).text()

  test('are taken and kept byte for byte, with their columns, and OTHER is refused', async () => {
    const statuses: Record<string, number> = {}
    for (const name of ['run-start', 'run-complete', 'run-fail', 'job', 'dataset', 'run-other'])
      statuses[name] = (await sendLineage(service, await fixture(name))).status
    expect(statuses).toEqual({
      'run-start': 202,
      'run-complete': 202,
      'run-fail': 202,
      job: 202,
      dataset: 202,
      'run-other': 400,
    })
    const runId = '01941c7e-5d00-7a3b-9c1d-2f6e8a4b0c11'
    const { body } = await getJson(service, runPath(runId))
    expect((body.items as { body: string }[]).map((event) => event.body)).toEqual([
      await fixture('run-start'),
      await fixture('run-complete'),
    ])
    const total = `column/${encodeURIComponent(lake)}/${encodeURIComponent('warehouse/sales/revenue')}/total`
    expect((await graph(service, total, { direction: 'upstream' })).nodes).toContain(
      `column/${encodeURIComponent('postgres://db:5432')}/shop.public.orders/price`,
    )
    // Its symlink names a table of the catalog `main`.
    expect((await graph(service, 'table/sales/revenue')).status).toBe(200)
  })
})

test('an event that cannot be stored is 503, says so, and nothing of it is there', async () => {
  const runId = crypto.randomUUID()
  const event = lineageEvent({ runId, inputs: ['v1'], outputs: ['v2'] })
  storingFails = true
  const response = await sendLineage(service, event)
  storingFails = false
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await message(response)).not.toContain('is stored')
  expect((await getJson(service, runPath(runId))).status).toBe(404)
  expect((await sendLineage(service, event)).status).toBe(202)
})

/** A server counts some seconds late what was written, and the job looks at what was counted. */
const retriedUntil = (isDone: () => Promise<boolean>) =>
  eventually(async () => {
    await service.app.jobs.run('retry-lineage')
    return await isDone()
  })

describe('when the merge fails', () => {
  test('the answer is 503, the event is stored, and the job merges it without the client', async () => {
    const runId = crypto.randomUUID()
    const event = lineageEvent({ runId, inputs: ['w1'], outputs: ['w2'] })
    mergesFail = true
    const response = await sendLineage(service, event)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await message(response)).toContain('is stored')
    expect((await getJson(service, runPath(runId))).body.items).toMatchObject([{ state: 'pending' }])

    await retriedUntil(async () => (await metric(service, 'svc_lineage_pending')) === 1)
    mergesFail = false
    // The failed attempt put off the next one.
    await service.app.jobs.run('retry-lineage')
    expect(await metric(service, 'svc_lineage_pending')).toBe(1)
    await service.store.tenantQuery(service.owner.tenant, 'update lineage_inbox set next_attempt_at = now()')
    await service.app.jobs.run('retry-lineage')
    expect(await metric(service, 'svc_lineage_pending')).toBe(0)
    expect((await getJson(service, runPath(runId))).body.items).toMatchObject([{ state: 'merged' }])
    expect((await graph(service, datasetNode('w1'))).edges).toContain('LINEAGE_OF w1 → w2')
  })

  test('a client that tries again has it merged then and there', async () => {
    const event = lineageEvent({ inputs: ['y1'], outputs: ['y2'] })
    mergesFail = true
    expect((await sendLineage(service, event)).status).toBe(503)
    mergesFail = false
    expect((await sendLineage(service, event)).status).toBe(202)
    expect((await graph(service, datasetNode('y1'))).edges).toContain('LINEAGE_OF y1 → y2')
  })

  test('a pending event whose edges have come to close a cycle is refused by the job', async () => {
    const runId = crypto.randomUUID()
    mergesFail = true
    expect(
      (await sendLineage(service, lineageEvent({ runId, inputs: ['z1'], outputs: ['z2'] }))).status,
    ).toBe(503)
    mergesFail = false
    await sendLineage(service, lineageEvent({ inputs: ['z2'], outputs: ['z1'] }))
    const states = async () => (await getJson(service, runPath(runId))).body.items
    await retriedUntil(async () => JSON.stringify(await states()).includes('"state":"refused"'))
    expect(await states()).toMatchObject([{ state: 'refused' }])
  })
})
