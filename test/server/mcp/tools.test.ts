/** The tools of MCP over a real service, by real clients of both eras. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { mcpBounds } from '../../../src/server/mcp/bounds.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { ordersTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp, eras, type McpClient, type ToolResult } from '../../support/mcp.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

let lake: Lake
/** Sees every row and value; the other sees neither the e-mail addresses nor two of the regions. */
let ann: McpClient
let bob: McpClient
beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() } })
  ann = await connectMcp('2026', lake.app.url, lake.env.PGPASSWORD)
  bob = await connectMcp('2026', lake.app.url, lake.restricted.PGPASSWORD)
}, 300_000)
afterAll(async () => {
  await ann?.[Symbol.asyncDispose]()
  await bob?.[Symbol.asyncDispose]()
  await lake?.[Symbol.asyncDispose]()
})

describe.each(eras)('a client of %s', (era) => {
  test('gets from a question to rows in three calls', async () => {
    await using client = await connectMcp(era, lake.app.url, lake.restricted.PGPASSWORD)
    expect(client.revision).toBe(era === '2026' ? '2026-07-28' : '2025-11-25')
    const found = await client.call('find_datasets', { query: 'orders region' })
    expect(found.structured).toMatchObject({ datasets: [{ table: 'sales.orders', untrusted: true }] })
    const explained = await client.call('explain_contract', { table: 'sales.orders' })
    expect(explained.structured).toMatchObject({
      meaning: { description: { untrusted: true, text: 'Orders, one a row' } },
      applies_to_you: {
        masked: [{ column: 'email', action: 'mask-alphanum' }],
        filtered: [{ id: 'orders-rows', columns: ['region'] }],
      },
    })
    const rows = await client.call('query', {
      sql: 'select region, count(*) as orders from sales.orders group by region order by region',
    })
    expect(rows.structured).toMatchObject({
      result: {
        columns: [{ name: 'region' }, { name: 'orders', type: 'int8' }],
        rows: [
          ['east', '250'],
          ['west', '250'],
        ],
      },
      contracts: [{ id: 'orders', version: 1 }],
    })
    expect(JSON.parse(rows.text)).toEqual(rows.structured)
  })

  test('sees the same list of tools', async () => {
    await using client = await connectMcp(era, lake.app.url, lake.restricted.PGPASSWORD)
    expect((await client.tools()).map(({ name }) => name)).toEqual(
      (await bob.tools()).map(({ name }) => name),
    )
  })
})

describe('what a principal may not see', () => {
  const emails = { sql: 'select email from sales.orders order by id limit 1' }

  test('is masked and filtered as on the PostgreSQL wire', async () => {
    const [open, masked] = [await ann.call('query', emails), await bob.call('query', emails)]
    expect(open.structured).toMatchObject({ result: { rows: [['user1@example.com']] } })
    expect(masked.structured).toMatchObject({
      result: { untrusted: true },
      protections: {
        items: [
          { kind: 'row_filter', table: 'sales.orders' },
          { kind: 'column_mask', column: 'email', action: 'mask-alphanum' },
        ],
      },
    })
    expect(masked.text).not.toContain('user1@')
    const sql = new Bun.SQL({
      ...{ hostname: '127.0.0.1', port: lake.app.pgwirePort, database: lake.catalog, tls: false, max: 1 },
      ...{ username: lake.restricted.PGUSER, password: lake.restricted.PGPASSWORD, adapter: 'postgres' },
    })
    const [row] = await sql`select email from sales.orders order by id limit 1`
    await sql.close()
    expect(rowsOf(masked)).toEqual([[row.email]])
  })

  test('counts for nothing in an aggregate', async () => {
    const counted = { sql: 'select count(*) from sales.orders' }
    expect((await ann.call('query', counted)).structured).toMatchObject({ result: { rows: [['1000']] } })
    expect((await bob.call('query', counted)).structured).toMatchObject({ result: { rows: [['500']] } })
  })

  test('is a filter’s text, which a steward alone reads', async () => {
    const stella = await session('stella', ['steward'])
    const applies = async (client: McpClient) =>
      (await client.call('explain_contract', { table: 'sales.orders', sections: ['applies_to_you'] })).text
    expect(await applies(bob)).not.toContain('IN (')
    expect(await applies(stella)).toContain('IN (')
    expect(await applies(ann)).toContain('"filtered":[]')
    await stella[Symbol.asyncDispose]()
  })

  test('answers like what there is not: a table without a contract, of another tenant, and none', async () => {
    const { store } = lake
    await commitColumns(store, lake.tenant, { namespace: ['sales'], name: 'hidden_canary' }, { id: 'long' })
    const foreign = (await makeTenant(store, { name: 'foreign' })).id
    await commitColumns(store, foreign, { namespace: ['sales'], name: 'foreign_canary' }, { id: 'long' })
    const stella = await session('stella', ['steward'])
    for (const client of [bob, ann, stella]) {
      // One principal has four calls at a time.
      const answers = async (name: string) => [
        await client.call('explain_contract', { table: `sales.${name}` }),
        await client.call('describe_columns', { table: `sales.${name}` }),
        await client.call('lineage', { of: `sales.${name}` }),
        await client.call('lineage_path', { from: `sales.${name}`, to: 'sales.orders' }),
        await client.call('find_datasets', { query: name }),
      ]
      const none = await answers('nothing_canary')
      for (const name of ['hidden_canary', 'foreign_canary']) expect(await answers(name)).toEqual(none)
    }
    await stella[Symbol.asyncDispose]()
  })

  test('is the decision and the query of another principal', async () => {
    const run = await ann.call('query', { sql: 'select 1' })
    const own = { query_id: String(run.structured?.query_id) }
    expect((await ann.call('why_denied', own)).structured).toMatchObject({ query: { outcome: 'completed' } })
    const foreign = await bob.call('why_denied', own)
    expect(foreign).toEqual(await bob.call('why_denied', { query_id: crypto.randomUUID() }))
    expect(foreign.isError).toBe(true)
  })
})

describe('an answer', () => {
  test('of rows ends at max_rows and max_bytes, and says that there are more', async () => {
    const few = await ann.call('query', { sql: 'select id from sales.orders', max_rows: 3 })
    expect(few.structured).toMatchObject({ row_count: 3, truncated: true, hint: expect.any(String) })
    const small = await ann.call('query', {
      sql: 'select * from sales.orders',
      max_rows: 1_000,
      max_bytes: 4_096,
    })
    expect(small.structured).toMatchObject({ truncated: true })
    expect(JSON.stringify(rowsOf(small)).length).toBeLessThan(4_096 + 100)
    const whole = await ann.call('query', { sql: 'select id from sales.orders where id <= 3' })
    expect(whole.structured).toMatchObject({ row_count: 3, truncated: false })
  })

  test('of rows has exact values of every type', async () => {
    const { structured } = await ann.call('query', {
      sql: `select 9223372036854775807::bigint, 1.10::numeric, 1.5::float8, true, null::text,
        date '2024-02-29', timestamptz '2024-01-01 00:00:00+00', array[1, 2], $1::text`,
      parameters: ['given'],
    })
    expect(rowsOf({ structured })).toEqual([
      [
        '9223372036854775807',
        '1.10',
        1.5,
        true,
        null,
        '2024-02-29',
        '2024-01-01 00:00:00+00',
        [1, 2],
        'given',
      ],
    ])
  })

  test.each([
    ['select nothing from sales.orders', '42703'],
    ['select * from sales.none', '42P01'],
    ['delete from sales.orders', '0A000'],
    ['select 1; select 2', '0A000'],
    ['selec 1', '42601'],
    ['select 1 / 0', '22012'],
  ])('to %p is an error with its SQLSTATE and what to do', async (sql, code) => {
    const { isError, text, structured } = await bob.call('query', { sql })
    expect({ isError, structured }).toEqual({ isError: true, structured: undefined })
    expect(JSON.parse(text)).toMatchObject({ error: { code, message: expect.any(String) } })
    const checked = await bob.call('check_query', { sql })
    if (code !== '22012') expect(JSON.parse(checked.text)).toMatchObject({ error: { code } })
  })

  test('of check_query names what a run would read, and no rows', async () => {
    const sql = 'select email, count(*) from sales.orders group by email'
    expect((await bob.call('check_query', { sql })).structured).toMatchObject({
      columns: { items: [{ name: 'email', type: 'text' }, { type: 'int8' }] },
      reads: [{ table: 'sales.orders', contract: { id: 'orders' }, columns: ['email'] }],
      protections: { items: [{ kind: 'row_filter' }, { kind: 'column_mask', column: 'email' }] },
    })
  })

  test('of a query leaves one usage record, of the surface mcp', async () => {
    const { structured } = await ann.call('query', { sql: 'select id from sales.orders limit 1' })
    const response = await fetch(new URL('/api/v1/usage?limit=1', lake.app.url), {
      headers: { 'x-svc-session': lake.env.PGPASSWORD },
    })
    const { items } = (await response.json()) as { items: readonly object[] }
    const about = { surface: 'mcp', tool: 'query', client: 'covenant-tests', outcome: 'completed' }
    expect(items).toMatchObject([{ query_id: structured?.query_id, ...about }])
  })

  test('of check_query says what the caller’s own runs took, and bytes where nothing is hidden', async () => {
    const sql = (most: number) => `select max(id) from sales.orders where id < ${most}`
    const estimate = async (client: McpClient) =>
      (await client.call('check_query', { sql: sql(9) })).structured
    for (const client of [ann, bob]) {
      expect(await estimate(client)).not.toHaveProperty('estimate')
      expect(await estimate(client)).toHaveProperty('hint')
      for (const most of [100, 200, 300]) await client.call('query', { sql: sql(most) })
      expect(await estimate(client)).toMatchObject({ estimate: { runs: 3, rows: 1 } })
    }
    expect((await estimate(ann))?.estimate).toHaveProperty('bytes_scanned')
    expect((await estimate(bob))?.estimate).not.toHaveProperty('bytes_scanned')
  })

  test('of rows is refused once the day’s bytes are scanned, for this principal and tenant alone', async () => {
    const eve = await session('eve', [])
    const foreign = (await makeTenant(lake.store, { name: 'other day' })).id
    const record = (tenant: typeof lake.tenant, hoursAgo: number, bytesScanned: number, surface = 'mcp') =>
      recordUsage(
        lake.store,
        tenant,
        usageRecord({
          ...{ principal: 'service:eve', surface, bytesScanned },
          startedAtMs: Date.now() - hoursAgo * 3_600_000,
        }),
      )
    const whole = mcpBounds.scannedBytesADay
    await record(foreign, 1, whole)
    await record(lake.tenant, 1, whole, 'pgwire')
    await record(lake.tenant, 25, whole)
    await record(lake.tenant, 1, whole - 1_000_000)
    expect((await eve.call('query', { sql: 'select 1' })).isError).toBe(false)
    await record(lake.tenant, 2, 1_000_000)
    const refused = await eve.call('query', { sql: 'select 1' })
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: '53400', hint: expect.any(String) } })
    expect((await eve.call('check_query', { sql: 'select 1' })).isError).toBe(false)
    expect((await ann.call('query', { sql: 'select 1' })).isError).toBe(false)
    await eve[Symbol.asyncDispose]()
  })

  test('leaves a client’s name in usage records without what nobody sees, 64 characters at most', async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${lake.env.PGPASSWORD}`,
      'user-agent': `agent ${'x'.repeat(100)}`,
    }
    const params = { name: 'query', arguments: { sql: 'select 1' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    await (await fetch(new URL('/mcp', lake.app.url), { method: 'POST', headers, body })).text()
    const [item] = (
      (await (
        await fetch(new URL('/api/v1/usage?limit=1', lake.app.url), {
          headers: { 'x-svc-session': lake.env.PGPASSWORD },
        })
      ).json()) as { items: readonly { client: string }[] }
    ).items
    expect(item?.client).toBe(`agent ${'x'.repeat(57)}…`)
  })

  test('by default has less than 10,000 tokens, and the list of tools less than 4,000', async () => {
    const answers = await Promise.all([
      ann.call('find_datasets'),
      ann.call('explain_contract', { table: 'sales.orders' }),
      ann.call('describe_columns', { table: 'sales.orders' }),
      ann.call('query', { sql: 'select * from sales.orders' }),
    ])
    for (const [tool, args] of [
      ['check_query', { sql: 'select * from sales.orders' }],
      ['graph_query', { cypher: 'MATCH p = (t:Table)-[:HAS_COLUMN]->(c:Column) RETURN p, t, c' }],
      ['list_metrics', {}],
    ] as const)
      answers.push(await ann.call(tool, args))
    for (const { text, isError } of answers) {
      expect(isError).toBe(false)
      expect(tokensOf(text)).toBeLessThan(10_000)
    }
    expect(tokensOf(JSON.stringify(await ann.tools()))).toBeLessThan(4_000)
  })
})

describe('a cursor', () => {
  const first = { table: 'sales.orders', limit: 5 }
  const cursorOf = async (client: McpClient) =>
    String((await client.call('describe_columns', first)).structured?.next_cursor)

  test('goes on where the last answer ended', async () => {
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { structured = {} } = await bob.call('describe_columns', { ...first, ...(cursor && { cursor }) })
      const { items } = structured.columns as { items: readonly { name: string }[] }
      names.push(...items.map(({ name }) => name))
      cursor = structured.next_cursor as string | undefined
    } while (cursor !== undefined)
    expect(names).toEqual(ordersTable.columns.map(([name]) => name))
  })

  test('is refused for another principal, tool, argument, or once it was changed', async () => {
    const cursor = await cursorOf(bob)
    const refused = async (client: McpClient, tool: string, args: object) =>
      (await client.call(tool, { ...args, cursor } as Record<string, unknown>)).text
    const answers = [
      await refused(ann, 'describe_columns', first),
      await refused(bob, 'find_datasets', {}),
      await refused(bob, 'describe_columns', { ...first, match: 'e' }),
      (await bob.call('describe_columns', { ...first, cursor: `AAAAAAAA${cursor.slice(8)}` })).text,
    ]
    for (const answer of answers) expect(answer).toContain('not valid any more')
  })

  test('is refused after a policy has changed', async () => {
    const cursor = await cursorOf(bob)
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
    const table = { namespace: ['sales'], name: 'orders' }
    await putMask(
      on,
      { table, column: 'note' },
      { id: 'note', action: 'mask-alphanum', exemptRoles: ['officer'] },
    )
    expect((await bob.call('describe_columns', { ...first, cursor })).text).toContain('not valid any more')
  })
})

function rowsOf({ structured }: Pick<ToolResult, 'structured'>): unknown {
  return (structured as { readonly result: { readonly rows: unknown } }).result.rows
}

async function session(sub: string, roles: readonly string[]): Promise<McpClient> {
  const principal = { sub: `service:${sub}`, roles }
  const { secret } = await createServiceSession(lake.store, lake.tenant, {
    name: sub,
    principal,
    scopes: ['read'],
  })
  return await connectMcp('2026', lake.app.url, secret)
}

/** About as many tokens: the tokenizers of today's models take three and a half bytes of such JSON a token, or more. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3.5)
}
