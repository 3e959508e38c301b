/** Detection end to end on a whole service: triggers, findings, decisions, rescans, alerts; with a foreign tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { TenantId } from '../../src/core/tenant.ts'
import { canonicalPrefix } from '../../src/storage/canonical-path.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { parseAgtype } from '../../src/store/graph/graph.ts'
import { reconcileTenant } from '../../src/store/jobs/reconcile.ts'
import { type DetectionService, startDetectionService, webhookSecret } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'

setDefaultTimeout(300_000)

/** Planted: nothing but the data files may ever hold them. */
const planted = { email: 'planted.person@canary-example.com', ssn: '536-22-8726' }
const rows = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, email: planted.email, ssn: planted.ssn, note: 'hello' }))

interface FindingView {
  readonly id: string
  readonly column: string
  readonly class: string
  readonly confidence: number
  readonly status: string
  readonly masked_sample?: string
}
interface RunView {
  readonly id: string
  readonly state: string
  readonly reason: string
  readonly source: string
  readonly metadata_location: string
  readonly table?: { readonly name: string }
  readonly attempts?: readonly {
    readonly cause: string
    readonly outcome: string
    readonly requested_by?: string
  }[]
}

let d: DetectionService
beforeAll(async () => {
  d = await startDetectionService()
}, 300_000)
afterAll(() => d[Symbol.asyncDispose]())

const json = async <T>(response: Response): Promise<T> => (await response.json()) as T
const findings = async (query = '') =>
  (await json<{ items: FindingView[] }>(await d.call('GET', `findings${query}`))).items
const runs = async (query = '?namespace=sales&table=people') =>
  (await json<{ items: RunView[] }>(await d.call('GET', `runs${query}`))).items

/** A graph label's nodes or edges. */
const graph = async (label: string, tenant: TenantId = d.service.owner.tenant) =>
  (await d.service.store.tenantQuery<{ properties: string }>(tenant, `select properties from "${label}"`))
    .map(({ properties }) => parseAgtype(properties) as Record<string, unknown>)
    // The tenant's sentinel.
    .filter(({ id }) => id !== '')

describe('a commit through the gateway', () => {
  test('is scanned once: Tag, Classification, edges, run and findings', async () => {
    const { metadataLocation } = await d.commitPeople([{ rows: rows(30) }], 'gateway')
    await d.detect()
    await d.detect()
    const run = (await runs()).find((one) => one.metadata_location === metadataLocation)
    expect(run).toMatchObject({
      state: 'done',
      reason: '',
      source: 'baseline-poller',
      table: { name: 'people' },
    })
    expect(await json<RunView>(await d.call('GET', `runs/${run?.id}`))).toMatchObject({
      attempts: [{ cause: 'trigger', outcome: 'done' }],
    })
    const found = (await findings(`?run=${run?.id}`)).map(({ column, class: one, confidence, status }) => [
      column,
      one,
      confidence,
      status,
    ])
    expect(found.sort()).toEqual([
      ['email', 'email', 0.92, 'open'],
      ['ssn', 'us_ssn', 0.92, 'open'],
    ])
    expect((await graph('Tag')).map(({ id }) => id).sort()).toEqual(['sensitive.email', 'sensitive.us_ssn'])
    expect((await graph('Classification')).map((node) => [node.column, node.status])).toEqual([
      ['email', 'open'],
      ['ssn', 'open'],
    ])
    for (const edge of ['TAGGED', 'CLASSIFIED_AS']) expect((await graph(edge)).length).toBe(2)
    expect((await graph('EVIDENCED_BY')).length).toBeGreaterThanOrEqual(2)
    expect((await graph('HAS_COLUMN')).length).toBe(4)
    expect((await reconcileTenant(d.service.store, d.service.owner.tenant)).breaches).toEqual([])
  })

  test('is posted to the chat, once, without a raw value', async () => {
    const alert = await eventually(async () => d.alerts[0])
    expect(alert).toContain('sales.people')
    expect(alert).toContain('email: email, confidence 0.92\n')
    expect(alert).toMatch(/<http:.*\/api\/v1\/detection\/findings\?run=[0-9a-f-]{36}\|/)
    await d.commitPeople([{ rows: rows(5) }], 'gateway')
    await d.detect()
    expect(d.alerts.length).toBe(1)
  })
})

describe('a commit past the gateway', () => {
  test('is found in the upstream table and scanned', async () => {
    const { metadataLocation } = await d.commitPeople([{ rows: rows(4) }], 'catalog')
    await d.detect()
    const run = (await runs()).find((one) => one.metadata_location === metadataLocation)
    expect(run).toMatchObject({ state: 'done', table: { name: 'people' } })
    expect((await findings(`?run=${run?.id}`)).length).toBe(2)
  })
})

describe('a decision', () => {
  const oneFinding = async (column: string): Promise<FindingView> => {
    const finding = (await findings('?namespace=sales&table=people')).find((one) => one.column === column)
    if (finding === undefined) throw new Error('no finding')
    return finding
  }

  test('to confirm takes the admin scope', async () => {
    const { id } = await oneFinding('email')
    const answer = await d.call('POST', `findings/${id}/decisions`, { body: { decision: 'confirm' } })
    expect([answer.status, await json(answer)]).toEqual([
      200,
      expect.objectContaining({ status: 'confirmed' }),
    ])
  })

  test.each(['reject', 'exempt'])(
    'to %s is refused without the steward role and without a reason',
    async (decision) => {
      const { id } = await oneFinding('ssn')
      const body = { decision, reason: 'test data' }
      const plain = { body, secret: d.service.owner.secret }
      expect((await d.call('POST', `findings/${id}/decisions`, plain)).status).toBe(403)
      const silent = { body: { decision }, secret: d.stewardSecret }
      expect((await d.call('POST', `findings/${id}/decisions`, silent)).status).toBe(400)
      expect(await graph('Attestation')).toEqual([])
    },
  )

  test('to reject attests, takes the tag away and survives rescans and later snapshots', async () => {
    const { id } = await oneFinding('ssn')
    const body = { decision: 'reject', reason: 'synthetic numbers' }
    const answer = await d.call('POST', `findings/${id}/decisions`, { body, secret: d.stewardSecret })
    expect([answer.status, await json(answer)]).toEqual([
      200,
      expect.objectContaining({ status: 'rejected' }),
    ])
    expect(await graph('Attestation')).toEqual([
      expect.objectContaining({ decision: 'reject', reason: 'synthetic numbers', attested_by: 'sam' }),
    ])
    expect((await graph('ATTESTS')).length).toBe(1)
    const tags = async () => (await graph('TAGGED')).map((edge) => [edge.path, edge.status])
    expect(await tags()).toEqual([['email', 'confirmed']])

    await d.commitPeople([{ rows: rows(6) }], 'gateway')
    await d.detect()
    expect(
      (await d.call('POST', 'rescans', { body: { table: { namespace: ['sales'], name: 'people' } } })).status,
    ).toBe(202)
    await d.service.app.detection.detector.idle()
    expect(await tags()).toEqual([['email', 'confirmed']])
    const [latest] = await runs()
    expect(await json<RunView>(await d.call('GET', `runs/${latest?.id}`))).toMatchObject({
      attempts: [
        { cause: 'rescan', outcome: 'done', requested_by: 'sam' },
        { cause: 'trigger', outcome: 'done' },
      ],
    })
    expect((await findings(`?run=${latest?.id}&status=rejected`)).map(({ column }) => column)).toEqual([
      'ssn',
    ])
    expect(d.alerts.length).toBe(1)
  })
})

describe('a catalog that was removed and registered again', () => {
  test('is what its tables are scanned by again', async () => {
    const { store, owner } = d.service
    const { config, endpoint } = (await findCatalogCredential(store, owner.tenant, 'main')) ?? {}
    if (config === undefined || endpoint === undefined) throw new Error('there is no catalog main')
    await removeCatalogCredential(store, owner.tenant, 'main')
    await putCatalogCredential(store, owner.tenant, { nickname: 'main', kind: 'alpha', endpoint, config })
    const body = { table: { namespace: ['sales'], name: 'people' } }
    const answer = await json<RunView>(await d.call('POST', 'rescans', { body }))
    await d.service.app.detection.detector.idle()
    expect(await json<RunView>(await d.call('GET', `runs/${answer.id}`))).toMatchObject({
      state: 'done',
      reason: '',
    })
  })
})

describe('a rescan', () => {
  test('takes the current metadata file, also one that no trigger has reported', async () => {
    await d.detect()
    const { metadataLocation } = await d.commitPeople([{ rows: rows(6) }], 'catalog')
    expect((await runs()).some((one) => one.metadata_location === metadataLocation)).toBe(false)
    const body = { table: { namespace: ['sales'], name: 'people' } }
    const answer = await json<RunView>(await d.call('POST', 'rescans', { body }))
    expect(answer.metadata_location).toBe(metadataLocation)
    await d.service.app.detection.detector.idle()
    expect(await json<RunView>(await d.call('GET', `runs/${answer.id}`))).toMatchObject({
      state: 'done',
      report: { files_scanned: 1, coverage: 1 },
    })
  })

  test('is not answered with an older snapshot where the catalog does not say which is current', async () => {
    const { catalog } = d.service
    const { store, owner } = d.service
    const body = { table: { namespace: ['sales'], name: 'people' } }
    const { config } = (await findCatalogCredential(store, owner.tenant, 'main')) ?? {}
    if (config === undefined) throw new Error('there is no catalog main')
    await putCatalogCredential(store, owner.tenant, {
      nickname: 'main',
      kind: 'alpha',
      endpoint: catalog.url,
      config: { ...config, warehouse: 'gone' },
    })
    expect((await d.call('POST', 'rescans', { body })).status).toBe(503)
    await putCatalogCredential(store, owner.tenant, {
      nickname: 'main',
      kind: 'alpha',
      endpoint: catalog.url,
      config,
    })
    expect((await d.call('POST', 'rescans', { body })).status).toBe(202)
    await d.service.app.detection.detector.idle()
  })
})

describe('a storage event', () => {
  test('names the table in whose territory the file lies, once its catalog confirms that', async () => {
    const { store, owner } = d.service
    await d.detect()
    const { metadataLocation } = await d.commitPeople([{ rows: rows(3) }], 'catalog')
    const folder = canonicalPrefix(metadataLocation.replace(/[^/]*$/, ''))
    if (!folder.isClear) throw new Error(folder.reason)
    const credential = await findCatalogCredential(store, owner.tenant, 'main')
    if (credential === undefined) throw new Error('there is no catalog main')
    const claim = (tenant: TenantId, name: string, prefix: string) =>
      store.tenantQuery(
        tenant,
        `insert into svc.territory (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name)
         values ($1, $2, 'granted', 'c', $3, $4, '["sales"]', $5)`,
        [tenant, prefix, credential.id, `sales.${name}`, name],
      )
    await claim(d.foreign.tenant, 'theirs', folder.path)
    await claim(owner.tenant, 'wider', folder.path.replace(/[^/]+\/$/, ''))
    await claim(owner.tenant, 'people', folder.path)
    await d.service.app.detection.queue.push(owner.tenant, [
      { tenant: owner.tenant, source: 'storage-event', metadataLocation },
    ])
    await d.service.app.detection.detector.idle()
    expect((await runs('')).find((one) => one.metadata_location === metadataLocation)).toMatchObject({
      source: 'storage-event',
      table: { namespace: ['sales'], name: 'people' },
    })
  })
})

describe('the REST resources', () => {
  test('refuse the anonymous, the wrong scope and what makes no sense', async () => {
    for (const [method, path] of [
      ['GET', 'runs'],
      ['GET', 'findings'],
      ['GET', `runs/${crypto.randomUUID()}`],
      ['POST', `findings/${crypto.randomUUID()}/decisions`],
      ['POST', 'rescans'],
    ] as const)
      expect([path, (await d.call(method, path, { secret: 'svc_none' })).status]).toEqual([path, 401])
    for (const query of ['?limit=0', '?limit=x', '?page_token=x', '?state=x', '?table=x'])
      expect([query, (await d.call('GET', `runs${query}`)).status]).toEqual([query, 400])
    for (const day of ['9999-99-99', '0000-01-01', '2026-02-30']) {
      const after = `${day}T00:00:00.000000Z.${crypto.randomUUID()}`
      expect([day, (await d.call('GET', `findings?page_token=${after}`)).status]).toEqual([day, 400])
    }
    expect((await d.call('GET', 'findings?confidence_min=2')).status).toBe(400)
    expect((await d.call('GET', 'runs/none')).status).toBe(404)
    expect((await d.call('POST', 'rescans', { body: '{' })).status).toBe(400)
    expect(
      (await d.call('POST', 'rescans', { body: { table: { namespace: ['sales'], name: 'none' } } })).status,
    ).toBe(404)
  })

  test('page through runs without loss or repetition', async () => {
    const all = await runs('')
    const paged: RunView[] = []
    let after = ''
    do {
      const page = await json<{ items: RunView[]; next_page_token?: string }>(
        await d.call('GET', `runs?limit=2${after === '' ? '' : `&page_token=${encodeURIComponent(after)}`}`),
      )
      paged.push(...page.items)
      after = page.next_page_token ?? ''
    } while (after !== '')
    expect(paged.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(all.length).toBeGreaterThan(4)
  })

  test('show a tenant nothing of another', async () => {
    const { secret } = d.foreign
    const [own] = await findings()
    const [run] = await runs()
    const foreignRuns = await json<{ items: RunView[] }>(await d.call('GET', 'runs', { secret }))
    expect(foreignRuns.items.filter(({ id }) => id === run?.id)).toEqual([])
    expect(await json(await d.call('GET', 'findings', { secret }))).toEqual({ items: [] })
    expect(await json(await d.call('GET', `findings?run=${run?.id}`, { secret }))).toEqual({ items: [] })
    expect((await d.call('GET', `runs/${run?.id}`, { secret })).status).toBe(404)
    const confirm = { body: { decision: 'confirm' }, secret }
    expect((await d.call('POST', `findings/${own?.id}/decisions`, confirm)).status).toBe(404)
    const rescan = { body: { table: { namespace: ['sales'], name: 'people' } }, secret }
    expect((await d.call('POST', 'rescans', rescan)).status).toBe(404)
    expect(await graph('Classification', d.foreign.tenant)).toEqual([])
  })
})

describe('the alpha webhook', () => {
  const post = (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
    secret: string | undefined = webhookSecret,
  ) =>
    fetch(new URL('/v1/webhooks/alpha', d.service.app.url), {
      method: 'POST',
      body,
      headers: {
        ...(secret === undefined
          ? {}
          : { 'x-alpha-signature': createHmac('sha256', secret).update(body).digest('hex') }),
        ...headers,
      },
    })
  const event = (fields: object = {}) =>
    JSON.stringify({
      tenant_id: d.service.owner.tenant,
      metadata_location: 'file:///none/v1.metadata.json',
      ...fields,
    })

  test('queues what a signed callback tells of, names its catalog and is scanned', async () => {
    const { metadataLocation } = await d.newWriter('loose').append([{ rows: rows(3) }])
    const answer = await post(
      event({ metadata_location: metadataLocation, namespace: 'sales', table_name: 'people' }),
    )
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    await d.service.app.detection.detector.idle()
    const run = (await runs('')).find((one) => one.metadata_location === metadataLocation)
    // The name is advisory: the catalog does not confirm it, so nothing rests on it.
    expect(run).toMatchObject({ source: 'catalog-webhook', state: 'done' })
    expect(run?.table).toBeUndefined()
    expect((await findings(`?run=${run?.id}`)).length).toBe(2)
  })

  test('takes the advisory name where the catalog confirms it', async () => {
    const { metadataLocation } = await d.commitPeople([{ rows: rows(3) }], 'catalog')
    await post(event({ metadata_location: metadataLocation, namespace: 'sales', table_name: 'people' }))
    await d.service.app.detection.detector.idle()
    expect((await runs()).find((one) => one.metadata_location === metadataLocation)).toMatchObject({
      source: 'catalog-webhook',
      table: { name: 'people' },
    })
  })

  test('a repeated callback is answered 200 and queues nothing', async () => {
    const before = (await runs('?limit=1000')).length
    for (let i = 0; i < 3; i++)
      expect((await post(event({ metadata_location: 'file:///none/2.metadata.json' }))).status).toBe(200)
    await d.service.app.detection.detector.idle()
    const after = await runs('?limit=1000')
    expect(after.length).toBe(before + 1)
    expect(
      after.find(({ metadata_location }) => metadata_location === 'file:///none/2.metadata.json'),
    ).toMatchObject({
      state: 'failed',
      reason: 'a location lies outside the storage_roots of the catalog credential',
    })
  })

  test('takes the tenant from the header alone too, and any of several secrets', async () => {
    const { store, owner, catalog } = d.service
    await putCatalogCredential(store, owner.tenant, {
      nickname: 'second',
      kind: 'alpha',
      endpoint: catalog.url,
      config: { endpoint: catalog.url, warehouse: 'dev', webhook_secret: 'second secret' },
    })
    const body = JSON.stringify({ metadata_location: 'file:///none/3.metadata.json' })
    expect((await post(body, { 'x-alpha-tenant': owner.tenant.toUpperCase() }, 'second secret')).status).toBe(
      200,
    )
    await d.service.app.detection.detector.idle()
    const run = (await runs('')).find(
      ({ metadata_location }) => metadata_location === 'file:///none/3.metadata.json',
    )
    expect(run?.reason).toContain('registers no storage_roots')
  })

  test('a callback by a secret that several catalogs share is read by the storage root', async () => {
    const { store, owner, catalog } = d.service
    await putCatalogCredential(store, owner.tenant, {
      nickname: 'aaa-sharing',
      kind: 'alpha',
      endpoint: catalog.url,
      config: { endpoint: catalog.url, warehouse: 'dev', webhook_secret: webhookSecret },
    })
    const { metadataLocation } = await d.newWriter('shared').append([{ rows: rows(3) }])
    expect((await post(event({ metadata_location: metadataLocation }))).status).toBe(200)
    await removeCatalogCredential(store, owner.tenant, 'aaa-sharing')
    await d.service.app.detection.detector.idle()
    const run = (await runs('')).find((one) => one.metadata_location === metadataLocation)
    expect([run?.state, run?.reason]).toEqual(['done', ''])
  })

  test("one catalog's callback about another's file does not keep that from being scanned", async () => {
    const { metadataLocation } = await d.commitPeople([{ rows: rows(3) }], 'catalog')
    const runOf = async () => (await runs('')).find((one) => one.metadata_location === metadataLocation)
    expect((await post(event({ metadata_location: metadataLocation }), {}, 'second secret')).status).toBe(200)
    await d.service.app.detection.detector.idle()
    expect((await runOf())?.state).toBe('failed')
    await d.detect()
    expect(await runOf()).toMatchObject({ state: 'done', reason: '', attempt: 2, table: { name: 'people' } })
  })

  test('refuses in the order of the reference', async () => {
    const status = async (response: Promise<Response>) => (await response).status
    const tenant = d.service.owner.tenant
    // 400: body over the cap, header missing, unparseable, no tenant, no UUID, no location, tenants differ.
    expect(await status(post(new Uint8Array(256 * 1024 + 1)))).toBe(400)
    expect(await status(post(event(), { 'x-alpha-signature': '' }))).toBe(400)
    expect(await status(post('{'))).toBe(400)
    expect(await status(post('[]'))).toBe(400)
    expect(await status(post('{"metadata_location":"x"}'))).toBe(400)
    expect(await status(post(event({ tenant_id: 'x' })))).toBe(400)
    expect(await status(post(event({ tenant_id: 5 })))).toBe(400)
    expect(await status(post(event({ metadata_location: '' })))).toBe(400)
    expect(await status(post(event({ metadata_location: 5 })))).toBe(400)
    expect(await status(post(event({ metadata_location: 'x'.repeat(2_049) })))).toBe(400)
    expect(await status(post(event(), { 'x-alpha-tenant': d.foreign.tenant }))).toBe(400)
    // 401: unknown tenants, no secret, a wrong one, a malformed signature, another tenant's.
    expect(await status(post(event({ tenant_id: crypto.randomUUID() })))).toBe(401)
    expect(await status(post(event({ tenant_id: '00000000-0000-1000-8000-000000000000' })))).toBe(401)
    expect(await status(post(event({ tenant_id: d.foreign.tenant })))).toBe(401)
    expect(await status(post(event(), {}, 'wrong'))).toBe(401)
    expect(await status(post(event(), { 'x-alpha-signature': 'zz' }))).toBe(401)
    expect(
      await status(post(event(), { 'x-alpha-tenant': tenant, 'x-alpha-signature': '0'.repeat(64) })),
    ).toBe(401)
    // Only POST is served.
    const got = await fetch(new URL('/v1/webhooks/alpha', d.service.app.url))
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('says which error in an ErrorModel body', async () => {
    expect(await json(await post(event(), {}, 'wrong'))).toMatchObject({
      error: { code: 401, type: 'NotAuthorizedException' },
    })
  })
})

describe('raw values', () => {
  test('are in no table, no graph, no log and no alert', async () => {
    const { store, owner } = d.service
    const tables = await store.tenantTransaction(owner.tenant, (tx) =>
      tx.query<{ place: string }>(
        `select format('%I.%I', n.nspname, c.relname) as place from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p') and (n.nspname = 'svc' or n.nspname ~ '^[gt]_') and has_table_privilege(c.oid, 'select')
           and has_schema_privilege(n.oid, 'usage') order by 1`,
      ),
    )
    expect(tables.length).toBeGreaterThan(50)
    let rowCount = 0
    for (const { place } of tables) {
      const contents = await store.tenantQuery<{ row: string }>(
        owner.tenant,
        `select t::text as row from ${place} t`,
      )
      rowCount += contents.length
      for (const { row } of contents)
        for (const value of Object.values(planted))
          expect([place, row.includes(value)]).toEqual([place, false])
    }
    expect(rowCount).toBeGreaterThan(100)
    for (const value of Object.values(planted)) {
      expect(d.service.log()).not.toContain(value)
      expect(d.alerts.join()).not.toContain(value)
    }
    expect((await findings()).some(({ masked_sample }) => masked_sample !== undefined)).toBe(true)
  })
})

test('readiness names the detection pool', async () => {
  const ready = await eventually(async () => {
    const response = await fetch(new URL('/readyz', d.service.app.url))
    return response.ok && (await json<object>(response))
  })
  expect(ready).toMatchObject({ detection: true })
})
