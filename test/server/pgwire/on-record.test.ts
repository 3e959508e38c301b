/** No row is sent without a usage record, even if the query or its process fails. */

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantId } from '../../../src/core/tenant.ts'
import { SqlError } from '../../../src/query/compile/base/sql-error.ts'
import { closeDeadQueries } from '../../../src/store/query/queries-under-way.ts'
import { listUsage } from '../../../src/store/query/usage.ts'
import { openStore } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { endless, numbers, startWire, type TestQuery, type WireService } from '../../support/pgwire.ts'
import { testSecretsKey } from '../../support/store.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const { query, parse, bind, execute, sync } = frames
const unrecorded = () => new SqlError('58030', 'The usage of the query could not be recorded.')
let wire: WireService
let client: WireClient
let asked: number
let record: () => Promise<void>

const told = (rows: TestQuery): TestQuery => ({
  ...rows,
  putOnRecord: () => {
    asked++
    return record()
  },
})
beforeAll(async () => {
  const unwritten: TestQuery = {
    ...numbers(3),
    async *batches(run) {
      yield* numbers(3).batches(run)
      throw unrecorded()
    },
  }
  /** One row that can be written, and one that cannot. */
  const unsayable: TestQuery = {
    columns: [{ name: 'd', type: 'date' }],
    async *batches() {
      yield { rowCount: 2, columns: [{ type: 'date', values: Int32Array.of(0, 2_147_483_600) }] }
    },
  }
  wire = await startWire({
    queries: {
      'select n from few': told(numbers(100)),
      'select n from many': told(numbers(100_000)),
      'select n from unwritten': told(unwritten),
      'select n from endless': told(endless()),
      'select d from unsayable': told(unsayable),
    },
  })
})
afterAll(() => wire[Symbol.asyncDispose]())
beforeEach(async () => {
  asked = 0
  record = async () => {}
  client = await wire.logIn()
})
afterEach(() => client.close())

describe('a query', () => {
  test('whose rows leave with its end needs no record before it', async () => {
    expect((await client.ask(query('select n from few'))).length).toBe(103)
    expect(asked).toBe(0)
  })

  test('whose rows leave before its end is put on record first', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    record = () => promise
    const served = [...wire.server.clients()].at(-1)
    const before = served?.outbox.sentBytes
    const answers = client.ask(query('select n from many'))
    await eventually(() => asked > 0)
    // The server had its time: another connection was served meanwhile.
    const other = await wire.logIn()
    await other.ask(query('show server_version'))
    other.close()
    expect([before, served?.outbox.sentBytes]).toEqual([expect.any(Number), before])
    resolve()
    expect((await answers).length).toBe(100_003)
  })

  test('that is suspended is put on record before its rows leave', async () => {
    const begun = [query('begin'), parse('select n from few'), bind({ portal: 'p' }), execute('p', 2)]
    record = () => Promise.reject(unrecorded())
    client.send(...begun, sync())
    expect((await client.until('Z')).map(spoken)).toEqual(['C BEGIN', 'Z T'])
    expect((await client.until('Z')).map(spoken)).toEqual([
      '1',
      '2',
      `E 58030 ${unrecorded().message}`,
      'Z E',
    ])
    await client.ask(query('rollback'))
    record = async () => {}
    client.send(...begun, execute('p', 2), sync())
    await client.until('Z')
    const answers = (await client.until('Z')).map(spoken)
    expect(answers).toEqual(['1', '2', 'D 1', 'D 2', 's', 'D 3', 'D 4', 's', 'Z T'])
  })

  test('that is stopped before any row of it left gives none: its record comes later', async () => {
    await client.ask(query("set statement_timeout = '200ms'"))
    expect(await client.ask(query('select n from endless'))).toEqual([
      'T n',
      'E 57014 canceling statement due to statement timeout',
      'Z I',
    ])
    expect(await client.ask(query('select d from unsayable'))).toEqual([
      'T d',
      'E 22008 A date is out of range.',
      'Z I',
    ])
  })

  test('that cannot be put on record gives no row, and the connection goes on', async () => {
    record = () => Promise.reject(unrecorded())
    const error = `E 58030 ${unrecorded().message}`
    expect(await client.ask(query('select n from few; select n from many'))).toEqual([
      ...(await client.ask(query('select n from few'))).slice(0, -1),
      ...['T n', error, 'Z I'],
    ])
    expect(await client.ask(query('select n from unwritten'))).toEqual(['T n', error, 'Z I'])
    expect((await client.ask(query('select n from few'))).at(-2)).toBe('C SELECT 100')
    await eventually(() => wire.runs.every(({ state }) => state !== 'running'))
  })
})

test('a process that is killed while a client reads leaves a record of the query', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-killed-'))
  const script = new URL('../../support/lake-child.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, folder], { stdout: 'pipe', stderr: 'inherit' })
  try {
    const { env, tenant } = JSON.parse(await firstLine(child.stdout)) as Announced
    const login = { user: env.PGUSER, database: env.PGDATABASE, password: env.PGPASSWORD }
    const reader = await WireClient.logIn({ port: Number(env.PGPORT) }, login)
    reader.send(query('select * from sales.orders'))
    await reader.until('D')
    reader.pause()
    child.kill('SIGKILL')
    await child.exited
    reader.vanish()
    await using store = await openStore({
      dataDirectory: folder,
      secretsKey: testSecretsKey,
      migrate: true,
      onNotice: () => {},
    }).then((opened) => Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() }))
    expect(await closeDeadQueries(store)).toBe(0)
    await store.ownerTransaction(tenant, (tx) =>
      tx.query("update svc.query_under_way set lease_until = now() - interval '1 s'"),
    )
    expect(await closeDeadQueries(store)).toBe(1)
    const { items } = await listUsage(store, tenant, {}, {})
    expect(items).toMatchObject([
      {
        principal: 'ann',
        surface: 'pgwire',
        outcome: 'failed',
        sqlState: '57P01',
        reads: [{ namespace: ['sales'], name: 'orders' }],
      },
    ])
    expect(items[0]?.rowsOut).toBeGreaterThan(0)
  } finally {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
})

interface Announced {
  readonly env: Readonly<Record<'PGUSER' | 'PGDATABASE' | 'PGPASSWORD' | 'PGPORT', string>>
  readonly tenant: TenantId
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    text += Buffer.from(chunk).toString()
    if (text.includes('\n')) break
  }
  return text.split('\n')[0] ?? ''
}
