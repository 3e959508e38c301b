/**
 * As store-faults.walks.ts, on the surfaces beside REST: the client surface of Iceberg, token requests, the PostgreSQL
 * wire with each way to log in, XMLA, GraphQL and MCP. An answer during a fault is the usual one, or it says that the
 * service cannot tell now.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tools } from '../../src/server/mcp/tools.ts'
import { rowsetNames } from '../../src/server/xmla/discover/rowsets.ts'
import { listServiceSessions } from '../../src/store/session/sessions.ts'
import { type FaultyStore, faultyStore, type StoreFailure, storeFailures } from '../support/faulty-store.ts'
import { graphql } from '../support/graphql.ts'
import { connectMcp } from '../support/mcp.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore } from '../support/store.ts'
import { frames, spoken, WireClient } from '../support/wire-client.ts'
import { ask as askXmla, discoverBody, executeBody } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'
import { type Schema, valueFor } from './canaries/requests.ts'
import { documents } from './canaries/surfaces.ts'

setDefaultTimeout(600_000)

const stack = new AsyncDisposableStack()
let faulty: FaultyStore
let xmla: XmlaLake
let steward: string
beforeAll(async () => {
  faulty = faultyStore()
  const store = stack.use(await openTestStore())
  xmla = await startXmlaLake({ store: faulty.wrap(store) })
  stack.use(xmla.lake)
  steward = xmla.steward
  await makeTenant(store, { name: 'beside' })
})
afterAll(() => stack.disposeAsync())

const failures = Object.keys(storeFailures) as StoreFailure[]
/** How each surface says that the service cannot tell now. */
const cannotTell =
  /^503 |\b503\b|58030|58000|UNAVAILABLE|not available|Retry|Try again|does not fit|could not be recorded/i
const says =
  /\b(?:401|403|404|28P01|28000|42501|42P01|3D000)\b|UNAUTHENTICATED|FORBIDDEN|NOT_FOUND|unknown|no such/i

let failed = 0
/** What is wrong with the answers to one question while each of its calls of the store fails. */
async function wrongOf(name: string, send: () => Promise<string>): Promise<readonly string[]> {
  const usual = [await send(), await send()]
  const isStable = usual[0] === usual[1]
  const wrong: string[] = []
  for (let at = 0; at < 60; at++) {
    let hasFailed = false
    for (const stays of [true, false]) {
      const failure = failures[(at + Number(stays)) % failures.length] as StoreFailure
      faulty.fail({ at, failure, stays })
      const answer = await send()
      if (!faulty.heal()) continue
      hasFailed = true
      failed += 1
      if (usual.includes(answer)) continue
      const isRefusal = says.test(answer) && !says.test(usual[0] ?? '')
      if (isRefusal || (isStable && !cannotTell.test(answer)))
        wrong.push(`${name}: ${failure} at ${at}${stays ? ' and later' : ''}: ${answer.slice(0, 300)}`)
    }
    if (!hasFailed) break
  }
  return wrong
}

async function wrongOfAll(asked: Readonly<Record<string, () => Promise<string>>>) {
  const wrong: string[] = []
  failed = 0
  for (const [name, send] of Object.entries(asked)) wrong.push(...(await wrongOf(name, send)))
  return wrong
}

async function http(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}) {
  const headers = { 'x-svc-session': xmla.lake.env.PGPASSWORD, ...init.headers }
  const response = await fetch(new URL(path, xmla.lake.app.url), { ...init, headers })
  return `${response.status} ${await response.text()}`
}

/** All that the server says to a login and a statement. */
async function overWire(
  startup: Readonly<Record<string, string>>,
  password: string | undefined,
  text: string,
) {
  const { env, app } = xmla.lake
  const client = await WireClient.connect({ port: app.pgwirePort ?? 0 })
  client.send(frames.startup({ database: env.PGDATABASE, ...startup }))
  const said = await client.until('R')
  if (password !== undefined && said.at(-1)?.type === 'R') {
    client.send(frames.password(password))
    said.push(...(await client.until('Z')))
    if (said.at(-1)?.type === 'Z') {
      client.send(frames.query(text))
      said.push(...(await client.until('Z')))
    }
  }
  client.close()
  return said
    .filter(({ type }) => 'RDECZ'.includes(type))
    .map(spoken)
    .join('\n')
}

describe('a failed call of the store is not told as an absence', () => {
  test('on the client surface of Iceberg and where tokens are given', async () => {
    const { catalog, env } = xmla.lake
    const root = `/v1/iceberg/${catalog}/v1`
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const credentials = `grant_type=client_credentials&client_id=x&client_secret=${env.PGPASSWORD}`
    const [{ id } = { id: '' }] = (await listServiceSessions(xmla.lake.store, xmla.lake.tenant)).items.filter(
      ({ principal }) => principal.sub === 'ann',
    )
    const token = await http(`${root}/oauth/tokens`, {
      method: 'POST',
      headers: form,
      body: `grant_type=client_credentials&client_id=${id}&client_secret=${env.PGPASSWORD}`,
    })
    const bearer = JSON.parse(token.slice(4)).access_token as string
    const asked = Object.fromEntries(
      [
        'config',
        'namespaces',
        'namespaces/sales',
        'namespaces/sales/tables',
        'namespaces/sales/tables/orders',
        'namespaces/sales/tables/none',
        'namespaces/sales/views',
      ].flatMap((path) => [
        [`GET ${path}`, () => http(`${root}/${path}`)],
        [
          `GET ${path} by token`,
          () =>
            http(`${root}/${path}`, { headers: { 'x-svc-session': '', authorization: `Bearer ${bearer}` } }),
        ],
      ]),
    )
    const wrong = await wrongOfAll({
      ...asked,
      'POST a commit that changes nothing': () =>
        http(`${root}/namespaces/sales/tables/orders`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"requirements":[],"updates":[]}',
        }),
      'POST a commit on the literal path': () =>
        http(`/v1/iceberg/${catalog}/namespaces/sales/tables/orders`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"requirements":[],"updates":[]}',
        }),
      'POST oauth/tokens': async () =>
        (
          await http(`${root}/oauth/tokens`, {
            method: 'POST',
            headers: form,
            body: credentials.replace('client_id=x', `client_id=${id}`),
          })
        ).replace(/"access_token":"[^"]*"/, ''),
    })
    expect(wrong).toEqual([])
    expect(failed).toBeGreaterThan(20)
  })

  test('over the PostgreSQL wire', async () => {
    const { env, store, tenant } = xmla.lake
    const [{ id } = { id: '' }] = (await listServiceSessions(store, tenant)).items.filter(
      ({ principal }) => principal.sub === 'ann',
    )
    const user = { user: env.PGUSER }
    const text = 'select id from sales.orders order by id limit 2'
    const wrong = await wrongOfAll({
      'by secret': () => overWire(user, env.PGPASSWORD, text),
      'the catalog': () =>
        overWire(user, env.PGPASSWORD, 'select relname from pg_class where relname = $$orders$$'),
      'a table that is not there': () => overWire(user, env.PGPASSWORD, 'select 1 from sales.none'),
      'by SCRAM, up to its first message': () =>
        overWire({ ...user, options: `-csvc.session=${id}` }, undefined, ''),
    })
    expect(wrong).toEqual([])
    expect(failed).toBeGreaterThan(10)
  })

  test('over XMLA', async () => {
    const options = { ...xmla.ann }
    const mdx = `SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]`
    const send = (body: string) => async () =>
      JSON.stringify(await askXmla(options, body).catch((thrown: unknown) => String(thrown)))
    const wrong = await wrongOfAll({
      ...Object.fromEntries(rowsetNames.map((name) => [name, send(discoverBody(name))])),
      mdx: send(executeBody(mdx)),
    })
    expect(wrong).toEqual([])
    expect(failed).toBeGreaterThan(20)
  })

  const pool = { namespace: ['sales'], table: 'orders', name: 'orders', metric: 'revenue', column: 'id' }

  test('over GraphQL', async () => {
    const all = documents(pool)
    const asked = all.map(({ name, text }, index) => [
      `${name} ${index}`,
      async () => {
        const { status, text: answer } = await graphql(xmla.lake, steward, text)
        return `${status} ${answer}`
      },
    ])
    expect(await wrongOfAll(Object.fromEntries(asked))).toEqual([])
    expect(failed).toBeGreaterThan(20)
  })

  test('over MCP', async () => {
    await using client = await connectMcp('2026', xmla.lake.app.url, steward)
    const given = { ...pool, table: 'sales.orders', sql: 'select id from sales.orders', query: 'orders' }
    const asked = tools
      .filter(({ writes }) => !writes)
      .map(({ name, input }) => {
        const args = valueFor('', input as Schema, given, true) as Record<string, unknown>
        return [
          name,
          () =>
            client.call(name, args).then(
              ({ text }) => text,
              (thrown: unknown) => String(thrown),
            ),
        ]
      })
    expect(await wrongOfAll(Object.fromEntries(asked))).toEqual([])
    expect(failed).toBeGreaterThan(20)
  })
})
