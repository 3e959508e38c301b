/** Unmodified clients: node-postgres, its cursor, postgres.js, and psql if it is installed. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import Cursor from 'pg-cursor'
import postgres from 'postgres'
import { byteValues, utf8Values } from '../../../src/core/variable-width.ts'
import {
  endless,
  numbers,
  startWire,
  type TestQuery,
  testSecret,
  type WireService,
} from '../../support/pgwire.ts'

setDefaultTimeout(300_000)

const everyType: TestQuery = {
  columns: [
    { name: 'b', type: 'bool' },
    { name: 'i', type: 'int8' },
    { name: 'f', type: 'float8' },
    { name: 'n', type: 'numeric' },
    { name: 't', type: 'text' },
    { name: 'd', type: 'timestamptz' },
    { name: 'j', type: 'jsonb' },
    { name: 'a', type: 'int4[]' },
    { name: 'y', type: 'bytea' },
    { name: 'z', type: 'text' },
  ],
  async *batches() {
    yield {
      rowCount: 1,
      columns: [
        { type: 'bool', values: Uint8Array.of(1) },
        { type: 'int8', values: BigInt64Array.of(9_007_199_254_740_993n) },
        { type: 'float8', values: Float64Array.of(1.5) },
        { type: 'numeric', values: BigInt64Array.of(12_345n), scale: 2 },
        { type: 'text', ...utf8Values(['ä€😀']) },
        { type: 'timestamptz', values: BigInt64Array.of(1_700_000_000_000_000n) },
        { type: 'jsonb', ...utf8Values(['{"k": [1]}']) },
        {
          type: 'array',
          offsets: Uint32Array.of(0, 2),
          elements: { type: 'int4', values: Int32Array.of(1, 2) },
        },
        { type: 'bytea', ...byteValues([Uint8Array.of(1, 2)]) },
        { type: 'text', ...utf8Values(['']), validity: Uint8Array.of(0) },
      ],
    }
  },
}
const row = {
  b: true,
  i: '9007199254740993',
  f: 1.5,
  n: '123.45',
  t: 'ä€😀',
  d: new Date(1_700_000_000_000),
  j: { k: [1] },
  a: [1, 2],
  y: Buffer.of(1, 2),
  z: null,
}
const echo: TestQuery = {
  columns: [{ name: 'sum', type: 'int4' }],
  parameters: ['int4', 'int4'],
  async *batches({ parameters: [a, b] }) {
    yield { rowCount: 1, columns: [{ type: 'int4', values: Int32Array.of(Number(a) + Number(b)) }] }
  },
}

let wire: WireService
beforeAll(async () => {
  wire = await startWire({
    queries: {
      'select every type': everyType,
      'select every type from t': everyType,
      'select n from many': numbers(10_000),
      'select $1 + $2': echo,
      'select endless': endless(),
    },
  })
})
afterAll(() => wire[Symbol.asyncDispose]())

const options = () => ({
  host: '127.0.0.1',
  port: wire.port,
  user: 'ada',
  database: 'main',
  password: testSecret,
})

describe('node-postgres', () => {
  async function withPg<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(options())
    await client.connect()
    return await work(client).finally(() => client.end())
  }

  test('reads every kind of value, simple and prepared', async () => {
    await withPg(async (client) => {
      expect((await client.query('select every type from t')).rows).toEqual([row])
      const named = { name: 'every', text: 'select every type from t', values: [] }
      for (let run = 0; run < 3; run++) expect((await client.query(named)).rows).toEqual([row])
    })
  })

  test('binds parameters', async () => {
    await withPg(async (client) => {
      expect((await client.query('select $1 + $2', [2, 3])).rows).toEqual([{ sum: 5 }])
    })
  })

  test('reads a cursor in steps and closes it before its end', async () => {
    await withPg(async (client) => {
      const cursor = client.query(new Cursor('select n from many'))
      expect(await cursor.read(2)).toEqual([{ n: 1 }, { n: 2 }])
      expect(await cursor.read(1)).toEqual([{ n: 3 }])
      await cursor.close()
      expect((await client.query('select n from many')).rows).toHaveLength(10_000)
    })
    expect(wire.runs.filter(({ text }) => text === 'select n from many').map(({ state }) => state)).toEqual([
      'stopped',
      'ended',
    ])
  })

  test('hears of errors by their SQLSTATE and goes on', async () => {
    await withPg(async (client) => {
      const failed = await client.query('select nowhere').catch((error: { code: string }) => error.code)
      expect(failed).toBe('42P01')
      expect((await client.query('show server_version')).rows).toEqual([{ server_version: '14.20' }])
    })
  })
})

describe('postgres.js', () => {
  test('reads, binds, streams by cursor, runs transactions and cancels', async () => {
    const sql = postgres({ ...options(), max: 1, fetch_types: false })
    const [summed] = await sql.unsafe('select $1 + $2', [2, 3])
    expect({ ...summed }).toEqual({ sum: 5 })
    const [every] = await sql.unsafe('select every type from t')
    expect({ ...every }).toMatchObject({ b: true, t: 'ä€😀', n: '123.45', d: row.d, j: row.j })
    let seen = 0
    for await (const rows of sql.unsafe('select n from many').cursor(1_000)) seen += rows.length
    expect(seen).toBe(10_000)
    const inside = await sql.begin(
      'read only',
      async (tx) => (await tx.unsafe('show transaction_read_only'))[0],
    )
    expect({ ...inside }).toEqual({ transaction_read_only: 'on' })
    const running = sql.unsafe('select endless').execute()
    const outcome = running.catch((error: { code: string }) => error.code)
    while (!wire.runs.some(({ text }) => text === 'select endless')) await Bun.sleep(5)
    running.cancel()
    expect(await outcome).toBe('57014')
    await sql.end()
  })
})

// Skipped where psql is not installed.
describe.skipIf(Bun.which('psql') === null)('psql', () => {
  async function psql(script: string, ...args: readonly string[]): Promise<{ out: string; err: string }> {
    const child = Bun.spawn(['psql', '-X', '-A', '-t', '-v', 'VERBOSITY=verbose', ...args], {
      env: {
        ...process.env,
        PGHOST: '127.0.0.1',
        PGPORT: String(wire.port),
        PGUSER: 'ada',
        PGDATABASE: 'main',
        PGPASSWORD: testSecret,
      },
      stdin: Buffer.from(script),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { out, err }
  }

  test('runs scripts, transactions and cursors', async () => {
    const { out, err } = await psql(`
      begin; declare c cursor for select n from many; fetch 2 from c; move 5 in c; fetch c; commit;
      show search_path;
      \\conninfo
    `)
    expect(err).toBe('')
    expect(out).toContain('BEGIN\nDECLARE CURSOR\n1\n2\nMOVE 5\n8\nCOMMIT\n"$user", public\n')
    expect(out).toContain('as user "ada"')
  })

  test('copies, in text and in CSV', async () => {
    const { out } = await psql('\\copy (select every type from t) to stdout csv header\n')
    expect(out).toContain(
      'b,i,f,n,t,d,j,a,y,z\nt,9007199254740993,1.5,123.45,ä€😀,2023-11-14 22:13:20+00,"{""k"": [1]}","{1,2}",\\x0102,\n',
    )
  })

  test('fetches in steps with FETCH_COUNT', async () => {
    const { out } = await psql('select n from many;\n', '-v', 'FETCH_COUNT=100')
    expect(out.trim().split('\n')).toHaveLength(10_000)
  })

  test('shows errors with their SQLSTATE', async () => {
    const { err } = await psql("insert into t values (1);\nset timezone to 'Mars/Olympus';\n")
    expect(err).toContain('ERROR:  25006: cannot execute INSERT in a read-only transaction')
    expect(err).toContain('HINT:  Served: names of the IANA time zone database')
  })
})
