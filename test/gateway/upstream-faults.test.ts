/**
 * Each fault of an upstream with each operation of the client surface: what the client is told is what a direct look at
 * the catalog finds, or is unknown; and once recovery has run, the audit holds what was made, once, and nothing else.
 */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  replaceSchema,
  schemaOf,
  setProperties,
} from '../../demo/commits.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { limits } from '../../src/limits.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { passOn } from '../support/recording-proxy.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(300_000)

/** Answers a change. `pass` sends it to the catalog, as often as it is called. */
type Answer = (pass: () => Promise<Response>) => Promise<Response>

let service: TestService
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
let upstreamHeaders: Readonly<Record<string, string>>
let fault: Answer | undefined
let otherTable: () => Promise<Response>
let names = 0

beforeAll(async () => {
  service = await startTestService({ intentTimes: { leaseMs: limits.intentLeaseMs, upstreamMs: 0 } })
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      const { pathname } = new URL(request.url)
      const isChange = ['POST', 'DELETE'].includes(request.method) && !pathname.endsWith('/tokens')
      return isChange && fault !== undefined ? await fault(pass) : await pass()
    },
  })
  tenant = await addTenant(service.store, 'behind-faults', proxy.url.href.replace(/\/$/, ''))
  await addTenant(service.store, 'foreign', proxy.url.href.replace(/\/$/, ''))
  const token = await fetch(`${service.catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: 'grant_type=client_credentials&client_id=gateway&client_secret=s3cret',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const { access_token } = (await token.json()) as { access_token: string }
  upstreamHeaders = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  await direct(
    'POST',
    '/namespaces/sales/tables',
    createTable('other_one', [{ id: 1, name: 'x', type: 'int' }]),
  )
  otherTable = () => direct('GET', '/namespaces/sales/tables/other_one')
})
afterEach(async () => {
  fault = undefined
  service.catalog.faults.reset()
  await service.store.tenantQuery(tenant.tenant, 'delete from svc.commit_intent where tenant_id = $1', [
    tenant.tenant,
  ])
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})

/** Past the gateway. */
async function direct(method: string, path: string, body?: string): Promise<Response> {
  const init = { method, headers: upstreamHeaders, ...(body !== undefined && { body }) }
  return await fetch(`${service.catalog.url}/v1/dev${path}`, init)
}

const onSurface = (method: string, path: string, body?: unknown) =>
  send(service, method, path, body, { tenant })
const ref = (name: string, namespace = 'sales') => ({ namespace: [namespace], name })

const model = (status: number, type = 'SomeException') =>
  new Response(JSON.stringify({ error: { message: 'asked for', type, code: status } }), { status })
const empty = (status: number) => new Response(null, { status, headers: { location: 'http://127.0.0.1:9/' } })
const html = (status: number) =>
  new Response('<html><body>Sign in</body></html>', { status, headers: { 'content-type': 'text/html' } })
/** Ends in the middle of its body. */
const cut = () =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('{"metadata-loc'))
        controller.error(new Error('cut'))
      },
    }),
  )

/** Once the catalog has made it. */
const made =
  (answer: Answer): Answer =>
  async (pass) => {
    await pass()
    return await answer(pass)
  }

const refusing = [400, 401, 403, 405, 406, 410, 412, 413, 416, 418, 422, 429, 451, 501]
const open = [300, 301, 302, 304, 307, 308, 408, 500, 502, 503, 504, 520]

const faults: readonly (readonly [string, Answer])[] = [
  ...refusing.map((status): [string, Answer] => [`${status}, not made`, async () => model(status)]),
  ...open.map((status): [string, Answer] => [`${status}, not made`, async () => empty(status)]),
  ...[...open, 499].map((status): [string, Answer] => [`${status}, made`, made(async () => empty(status))]),
  ['404 of something before the catalog, not made', async () => html(404)],
  ['409, not made', async () => model(409, 'CommitFailedException')],
  ['409 that does not know, made', made(async () => model(409, 'CommitStateUnknownException'))],
  ['a page, not made', async () => html(200)],
  ['a page, made', made(async () => html(200))],
  ['a refusing page, not made', async () => html(403)],
  ['a cut answer, made', made(async () => cut())],
  ['a cut answer, not made', async () => cut()],
  ['202, not made', async () => new Response(null, { status: 202 })],
  ['202, made', made(async () => new Response(null, { status: 202 }))],
  ['sent twice', made((pass) => pass())],
  ['sent three times', made(made((pass) => pass()))],
  ['sent twice, the second throttled', made(async () => model(429))],
]
/** Leaves two files of a commit that requires nothing: who made the second cannot be told, and its intent stays. */
const madeTwice: readonly [string, Answer] = ['sent twice, the second cut', made(made(async () => cut()))]
/** Answers that only a table can give. */
const tableFaults: readonly (readonly [string, Answer])[] = [
  ['the answer of another table, not made', () => otherTable()],
  ['the answer of another table, made', made(() => otherTable())],
]

interface Operation {
  /** Sends it, after what it needs is there. */
  readonly send: (name: string) => Promise<Response>
  readonly prepare?: (name: string) => Promise<unknown>
  /** Whether it was made, by a direct look. */
  readonly made: (name: string) => Promise<boolean>
  readonly subject?: (name: string) => { readonly namespace: readonly string[]; readonly name: string }
  /** Whether it can be made twice, because it requires nothing. */
  readonly repeatable?: true
}

const table = (name: string) => direct('POST', '/namespaces/sales/tables', createTable(name))
const tableAt = (name: string) => direct('GET', `/namespaces/sales/tables/${name}`)
const isThere = async (path: string) => (await direct('GET', path)).status === 200
interface Loaded {
  readonly metadata: {
    readonly properties?: Record<string, string>
    readonly 'current-schema-id': number
    readonly snapshots?: readonly unknown[]
    readonly 'current-version-id'?: number
  }
}
const metadataOf = async (answer: Promise<Response>) => ((await (await answer).json()) as Loaded).metadata
const view = (name: string, version = 1, at = 1) => ({
  name,
  schema: schemaOf(orderFields),
  'view-version': {
    'version-id': version,
    'timestamp-ms': at,
    'schema-id': 0,
    summary: {},
    representations: [],
  },
  properties: {},
})
const namespaceOf = (name: string) => ref('', name)

const commits: Readonly<Record<string, Operation>> = {
  'an append': {
    prepare: table,
    send: (name) =>
      onSurface(
        'POST',
        `/namespaces/sales/tables/${name}`,
        appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: 1_800_000_000_000 }),
      ),
    made: async (name) => ((await metadataOf(tableAt(name))).snapshots ?? []).length > 0,
  },
  'a change of the schema': {
    prepare: table,
    send: (name) =>
      onSurface(
        'POST',
        `/namespaces/sales/tables/${name}`,
        replaceSchema([...orderFields, { id: 5, name: 'note', type: 'string' }]),
      ),
    made: async (name) => (await metadataOf(tableAt(name)))['current-schema-id'] !== 0,
  },
  'a change of properties': {
    repeatable: true,
    prepare: table,
    send: (name) => onSurface('POST', `/namespaces/sales/tables/${name}`, setProperties({ owner: name })),
    made: async (name) => (await metadataOf(tableAt(name))).properties?.owner === name,
  },
  'the creation of a table': {
    send: (name) => onSurface('POST', '/namespaces/sales/tables', createTable(name)),
    made: (name) => isThere(`/namespaces/sales/tables/${name}`),
  },
}

const others: Readonly<Record<string, Operation>> = {
  'a transaction': {
    repeatable: true,
    prepare: table,
    send: (name) =>
      onSurface('POST', '/transactions/commit', {
        'table-changes': [{ identifier: ref(name), ...JSON.parse(setProperties({ owner: name })) }],
      }),
    made: async (name) => (await metadataOf(tableAt(name))).properties?.owner === name,
  },
  'the drop of a table': {
    prepare: table,
    send: (name) => onSurface('DELETE', `/namespaces/sales/tables/${name}`),
    made: async (name) => !(await isThere(`/namespaces/sales/tables/${name}`)),
  },
  'the rename of a table': {
    prepare: table,
    send: (name) =>
      onSurface('POST', '/tables/rename', { source: ref(name), destination: ref(`${name}_to`) }),
    made: (name) => isThere(`/namespaces/sales/tables/${name}_to`),
  },
  'the creation of a namespace': {
    send: (name) => onSurface('POST', '/namespaces', { namespace: [name], properties: {} }),
    made: (name) => isThere(`/namespaces/${name}`),
    subject: namespaceOf,
  },
  'properties of a namespace': {
    prepare: (name) => direct('POST', '/namespaces', JSON.stringify({ namespace: [name], properties: {} })),
    send: (name) =>
      onSurface('POST', `/namespaces/${name}/properties`, { updates: { owner: name }, removals: [] }),
    made: async (name) => {
      const found = (await (await direct('GET', `/namespaces/${name}`)).json()) as Loaded['metadata']
      return found.properties?.owner === name
    },
    subject: namespaceOf,
  },
  'the drop of a namespace': {
    prepare: (name) => direct('POST', '/namespaces', JSON.stringify({ namespace: [name], properties: {} })),
    send: (name) => onSurface('DELETE', `/namespaces/${name}`),
    made: async (name) => !(await isThere(`/namespaces/${name}`)),
    subject: namespaceOf,
  },
  'the creation of a view': {
    send: (name) => onSurface('POST', '/namespaces/sales/views', view(name)),
    made: (name) => isThere(`/namespaces/sales/views/${name}`),
  },
  'the drop of a view': {
    prepare: (name) => direct('POST', '/namespaces/sales/views', JSON.stringify(view(name))),
    send: (name) => onSurface('DELETE', `/namespaces/sales/views/${name}`),
    made: async (name) => !(await isThere(`/namespaces/sales/views/${name}`)),
  },
}

const faultsOf = ({ repeatable }: Operation) => (repeatable ? faults : [...faults, madeTwice])

async function judge(operation: Operation, answer: Answer): Promise<void> {
  const name = `faulty_${++names}`
  await operation.prepare?.(name)
  fault = answer
  const response = await operation.send(name)
  fault = undefined
  const { error } = response.ok
    ? { error: undefined }
    : ((await response.json()) as { error: { type: string } })
  const isUnknown = error?.type === 'CommitStateUnknownException'
  const isMade = await operation.made(name)
  const told = `${response.status} ${error?.type ?? ''}`
  if (!isUnknown) expect({ told, isMade }).toEqual({ told, isMade: response.ok })
  if (isUnknown) expect(response.status).toBe(502)
  await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
  expect(await recoverIntents(service.app.gateway)).toMatchObject({ undecidable: 0 })
  const { items } = await listDecisions(service.store, tenant.tenant, {
    table: operation.subject?.(name) ?? ref(name),
    limit: 10,
  })
  const approved = items.filter(({ decision }) => decision === 'APPROVED').length
  expect({ told, approved }).toEqual({ told, approved: isMade ? 1 : 0 })
  expect((await countIntents(service.store)).open).toBe(0)
}

describe.each(Object.entries(commits))('%s', (_name, operation) => {
  test.each([...faultsOf(operation), ...tableFaults])(
    'answered with %s is told as it is, or as unknown',
    async (_fault, answer) => {
      await judge(operation, answer)
    },
  )
})

describe.each(Object.entries(others))('%s', (_name, operation) => {
  test.each(faultsOf(operation))(
    'answered with %s is told as it is, or as unknown',
    async (_fault, answer) => {
      await judge(operation, answer)
    },
  )
})

describe('on the client surface, a refusal of a commit keeps its status', () => {
  test.each(refusing.filter((status) => status !== 401))('%i', async (status) => {
    const name = `faulty_${++names}`
    await table(name)
    fault = async () =>
      new Response(JSON.stringify({ error: { message: 'no room', type: 'SomeException', code: status } }), {
        status,
        headers: { 'retry-after': '7' },
      })
    const answer = await onSurface('POST', `/namespaces/sales/tables/${name}`, setProperties({ a: '1' }))
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(await answer.json()).toEqual({
      error: {
        message: `The upstream catalog answered ${status} (no room).`,
        type: 'SomeException',
        code: status,
      },
    })
    expect((await countIntents(service.store)).open).toBe(0)
  })
})
