/**
 * What a grant of access opens on each surface that computes from a model: it begins with the decision, and ends at its
 * time also in a session, on a connection and for a statement that were there before. A foreign tenant has the table too.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pinTable, unpinTable } from '../../src/store/contract/pins.ts'
import { lastEvent } from '../../src/store/event/events.ts'
import { actorOf } from '../support/actor.ts'
import { graphql, subscribe } from '../support/graphql.ts'
import { ask } from '../support/identity.ts'
import { connectMcp } from '../support/mcp.ts'
import { ask as askXmla, executeBody, rowsOf } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)

/** Less than what an idle session of XMLA lasts. */
const grantMs = 600_000
let nowMs = Date.now()
const stack = new AsyncDisposableStack()
let one: XmlaLake
/** A session of bob's for XMLA, which is there before the grant. */
let xmla = ''

beforeAll(async () => {
  one = await startXmlaLake({ clock: { now: () => nowMs } })
  stack.use(one.lake)
})
afterAll(() => stack.disposeAsync())

/** Grants bob all that hides something of the orders, for ten minutes from now on. */
async function granted(): Promise<void> {
  const wanted = { namespace: ['sales'], table: 'orders', purpose: 'refund', seconds: grantMs / 1_000 }
  const asked = await ask(one.lake, 'POST', '/api/v1/access/requests', one.bob.secret, wanted)
  const { id, sha256 } = asked.body as unknown as { id: string; sha256: string }
  const path = ['/api/v1/access/requests', id, 'decisions'].join('/')
  const decided = await ask(one.lake, 'POST', path, one.steward, { approves: true, sha256 })
  expect([asked.status, decided.status]).toEqual([201, 200])
}

const asked = { metrics: ['revenue', 'buyers'], dimensions: [{ name: 'region' }] }
/** Cells and first axis of a dataset, or the rows of another answer: which dimensions a cube has is not a grant's matter. */
const statement = (text: string) => async (who: 'ann' | 'bob' | 'stranger') => {
  const answer = await askXmla(one[who], executeBody(text), who === 'bob' ? xmla : '')
  if (answer.kind === 'dataset') return [[...answer.dataset.cells], answer.dataset.axes[0]]
  return answer.kind === 'rowset' ? answer.rows : answer
}
const from = '[sales.orders] WHERE ([Measures].[revenue])'

const surfaces: Readonly<Record<string, (who: 'ann' | 'bob' | 'stranger') => Promise<unknown>>> = {
  async metrics(who) {
    const wanted = { catalog: one.lake.catalog, ...asked }
    const { status, body } = await ask(one.lake, 'POST', '/api/v1/metrics/query', one[who].secret, wanted)
    return status === 200 ? (body as unknown as { rows: unknown }).rows : 'nothing'
  },
  async graphql(who) {
    const query = `query V($catalog: String!) { metricValues(catalog: $catalog, metrics: ["revenue", "buyers"],
      dimensions: [{name: "region"}], first: 10) { rows } }`
    const { data } = await graphql(one.lake, one[who].secret, query, { catalog: one.lake.catalog })
    return data?.metricValues?.rows ?? 'nothing'
  },
  async mcp(who) {
    await using agent = await connectMcp('2026', one.lake.app.url, one[who].secret)
    const { isError, structured = {} } = await agent.call('query_metric', asked)
    return isError ? 'nothing' : (structured.result as { rows: unknown }).rows
  },
  mdx: statement('SELECT {[Measures].[revenue], [Measures].[buyers]} ON COLUMNS FROM [sales.orders]'),
  dax: statement('EVALUATE ROW("r", [revenue], "b", [buyers])'),
  members: statement(`SELECT [orders].[region].[region].Members ON COLUMNS FROM ${from}`),
  async drillthrough(who) {
    const text = `DRILLTHROUGH MAXROWS 10000 SELECT FROM ${from}`
    return (await rowsOf(askXmla(one[who], executeBody(text), who === 'bob' ? xmla : ''))).length
  },
}

describe.each(Object.keys(surfaces))('over %s', (name) => {
  test('more is seen by a grant, and as little as before from its end on', async () => {
    const surface = surfaces[name] as (typeof surfaces)[string]
    const { sessionId = '' } = await askXmla(one.bob, executeBody(''), '<BeginSession mustUnderstand="1"/>')
    xmla = `<Session SessionId="${sessionId}"/>`
    const before = await surface('bob')
    expect(before).not.toBe('nothing')
    expect(await surface('ann')).not.toEqual(before)
    await granted()
    const meanwhile = await surface('bob')
    expect(meanwhile).not.toEqual(before)
    expect(meanwhile).toEqual(await surface('ann'))
    nowMs += grantMs - 1
    expect(await surface('bob')).toEqual(meanwhile)
    nowMs += 1
    expect(await surface('bob')).toEqual(before)
  })
})

test('a principal of another tenant sees nothing of it while the grant holds', async () => {
  await granted()
  for (const name of ['metrics', 'graphql', 'mcp']) expect(await surfaces[name]?.('stranger')).toBe('nothing')
  nowMs += grantMs
})

test('a subscription says no more by a grant, and goes on after its end', async () => {
  const { store, tenant } = one.lake
  const after = String(await lastEvent(store, tenant))
  const query = `subscription P($after: String) { pinEvents(after: $after) { kind table { name description
    columns(first: 50) { edges { node { name type mask { action } } } } } } }`
  await using stream = await subscribe(one.lake, one.bob.secret, query, { after })
  const at = { table: { namespace: ['sales'], name: 'orders' }, actor: actorOf('stella'), atMs: 0 }
  const told: unknown[] = []
  const tell = async () => {
    await pinTable(store, tenant, at, { snapshotId: 1n, schemaId: 0n, catalog: one.lake.catalog })
    const { data, errors } = await stream.next()
    expect(errors).toBeUndefined()
    told.push(data)
    await unpinTable(store, tenant, at)
    await stream.next()
  }
  await tell()
  await granted()
  await tell()
  nowMs += grantMs
  await tell()
  expect(told[1]).toEqual(told[0])
  expect(told[2]).toEqual(told[0])
})
