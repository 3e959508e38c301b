/** The protocol's flows, frame by frame. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { numbers, startWire, type WireService } from '../../support/pgwire.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const { parse, bind, describe: describeFrame, execute, sync, query, close, flush } = frames

let wire: WireService
beforeAll(async () => {
  wire = await startWire({
    queries: {
      'select n from three': numbers(3, 2),
      'select n from many': numbers(250),
      'select 1': numbers(1),
      'select $1, $2': {
        columns: [
          { name: 'a', type: 'int4' },
          { name: 'b', type: 'text' },
        ],
        parameters: ['int4', 'text'],
        async *batches({ parameters: [a, b] }) {
          yield {
            rowCount: 1,
            columns: [
              { type: 'int4', values: Int32Array.of(Number(a)) },
              { type: 'text', ...utf8Values([b ?? '']), ...(b === null && { validity: Uint8Array.of(0) }) },
            ],
          }
        },
      },
    },
  })
})
afterAll(() => wire[Symbol.asyncDispose]())

async function withClient<T>(work: (client: WireClient) => Promise<T>): Promise<T> {
  const client = await wire.logIn()
  try {
    return await work(client)
  } finally {
    client.close()
  }
}

const ask = (...all: readonly Uint8Array[]) => withClient((client) => client.ask(...all))

describe('start-up', () => {
  test('tells the parameters that clients wait for, a key, and that the server is ready', async () => {
    const client = await wire.logIn({ application_name: 'bi' })
    expect(client.processId).toBeGreaterThan(0)
    expect(client.key).toHaveLength(4)
    client.close()
  })

  test('gives a longer key from protocol 3.2 on', async () => {
    const client = await wire.logIn({}, 0x3_0002)
    expect(client.key).toHaveLength(32)
    client.close()
  })

  test('answers a newer minor version and unknown options with what is served', async () => {
    const client = await WireClient.connect(wire.options)
    client.send(frames.startup({ user: 'ada', database: 'main', '_pq_.magic': 'on' }, 0x3_0009))
    const [negotiated, asked] = await client.until('R')
    expect(negotiated?.type).toBe('v')
    expect(negotiated?.body.toString('latin1')).toBe('\0\x03\0\x02\0\0\0\x01_pq_.magic\0')
    expect(asked?.body.readInt32BE()).toBe(3)
    client.close()
  })

  test.each([
    ['another major version', frames.packet(0x2_0000), '0A000'],
    ['no user', frames.startup({ database: 'main' }), '28000'],
    ['replication', frames.startup({ user: 'ada', replication: 'database' }), '0A000'],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), '08P01'],
  ])('refuses %s', async (_, packet, sqlState) => {
    const client = await WireClient.connect(wire.options)
    client.send(packet)
    const [refused] = await client.until('E')
    expect(refused && reportFields(refused)).toMatchObject({ S: 'FATAL', C: sqlState })
    await client.until('never')
    expect(client.closed).toBe(true)
  })

  test('answers GSSENCRequest and, without a certificate, SSLRequest with N', async () => {
    const client = await WireClient.connect(wire.options)
    client.send(frames.packet(80_877_104))
    expect(String(await client.bytes(1))).toBe('N')
    client.send(frames.packet(80_877_103))
    expect(String(await client.bytes(1))).toBe('N')
    client.send(frames.startup({ user: 'ada', database: 'main' }))
    expect((await client.until('R')).at(-1)?.type).toBe('R')
    client.close()
  })

  test('refuses a database that is no catalog of the tenant', async () => {
    const client = await WireClient.connect(wire.options)
    client.send(frames.startup({ user: 'ada', database: 'other' }))
    await client.until('R')
    client.send(frames.password('svc_test_secret'))
    const refused = (await client.until('E')).at(-1)
    expect(refused && reportFields(refused).C).toBe('3D000')
  })

  test('takes settings from the start-up packet, and refuses what it cannot honour', async () => {
    const client = await wire.logIn({ options: '-c statement_timeout=5s', timezone: 'Europe/Berlin' })
    expect(await client.ask(query('show statement_timeout'))).toContain('D 5s')
    expect(await client.ask(query('show timezone'))).toContain('D UTC')
    client.close()
    const refusedClient = await WireClient.connect(wire.options)
    refusedClient.send(frames.startup({ user: 'ada', database: 'main', client_encoding: 'LATIN1' }))
    await refusedClient.until('R')
    refusedClient.send(frames.password('svc_test_secret'))
    const refused = (await refusedClient.until('E')).at(-1)
    expect(refused && reportFields(refused).C).toBe('22023')
  })
})

describe('the simple protocol', () => {
  test('describes, sends and counts the rows', async () => {
    expect(await ask(query('select n from three'))).toEqual(['T n', 'D 1', 'D 2', 'D 3', 'C SELECT 3', 'Z I'])
  })

  test('answers text without a statement with EmptyQueryResponse', async () => {
    for (const text of ['', ';;', ' -- nothing\n']) expect(await ask(query(text))).toEqual(['I', 'Z I'])
  })

  test('delivers what came before the statement that fails, and nothing after it', async () => {
    expect(await ask(query('select 1; select nowhere; select 1'))).toEqual([
      'T n',
      'D 1',
      'C SELECT 1',
      'E 42P01 The relation does not exist.',
      'Z I',
    ])
  })

  test('runs nothing of a text that does not parse', async () => {
    const [refused, ready] = await ask(query('select 1; selec'))
    expect(refused).toStartWith('E 42601')
    expect(ready).toBe('Z I')
  })

  test('names the place of an error in the whole text, in characters', async () => {
    await withClient(async (client) => {
      client.send(query('/* ä */ show timezone; select nowhere'))
      const refused = (await client.until('Z')).find(({ type }) => type === 'E')
      expect(refused && reportFields(refused).P).toBe('31')
    })
  })

  test('refuses writing with 25006', async () => {
    for (const [text, what] of [
      ['insert into t values (1)', 'INSERT'],
      ['with s as (select 1) insert into t select * from s', 'INSERT'],
      ['create table t (n int)', 'CREATE TABLE in'],
      ['create temp table t as select 1', 'CREATE TABLE AS in'],
      ['/* a */ create or replace view v as select 1', 'CREATE VIEW in'],
      ['create materialized view v as select 1', 'CREATE MATERIALIZED VIEW in'],
      ['create unique index on t (n)', 'CREATE INDEX in'],
      ['alter table t add n int', 'ALTER TABLE in'],
      ['drop table t', 'DROP TABLE in'],
      ['truncate t', 'TRUNCATE TABLE in'],
      ['grant select on t to ada', 'GRANT in'],
      ['vacuum', 'VACUUM in'],
      ['do $$ begin end $$', 'DO in'],
      ['lock table t', 'LOCK TABLE in'],
      ['copy t from stdin', 'COPY FROM'],
      ['listen x', 'LISTEN'],
      ['notify x', 'NOTIFY'],
    ] as const)
      expect((await ask(query(text)))[0]).toStartWith(`E 25006 cannot execute ${what}`)
  })

  test('refuses a text that is not UTF-8, which fails its transaction, and goes on', async () => {
    const broken = query("select '?'")
    broken[broken.indexOf(0x3f)] = 0xe4
    const refused = 'E 22021 invalid byte sequence for encoding "UTF8"'
    await withClient(async (client) => {
      expect(await client.ask(broken)).toEqual([refused, 'Z I'])
      await client.ask(query('begin'))
      expect(await client.ask(broken)).toEqual([refused, 'Z E'])
      expect(await client.ask(query('rollback'))).toEqual(['C ROLLBACK', 'Z I'])
    })
  })

  test('refuses the function call message and goes on', async () => {
    const call = Uint8Array.of(0x46, 0, 0, 0, 4)
    expect((await ask(call))[0]).toStartWith('E 0A000')
  })
})

describe('the extended protocol', () => {
  test('answers each message in order', async () => {
    expect(
      await ask(
        parse('select $1, $2', 's1', [23]),
        describeFrame('S', 's1'),
        bind({ portal: 'p1', statement: 's1', parameters: ['7', null] }),
        describeFrame('P', 'p1'),
        execute('p1'),
        close('P', 'p1'),
        close('S', 's1'),
        sync(),
      ),
    ).toEqual(['1', 't 23,25', 'T a|b', '2', 'T a|b', 'D 7|NULL', 'C SELECT 1', '3', '3', 'Z I'])
  })

  test('reads and writes binary values', async () => {
    await withClient(async (client) => {
      client.send(
        parse('select $1, $2'),
        bind({ parameters: [Uint8Array.of(0, 0, 0, 9), 'x'], parameterFormats: [1, 0], resultFormats: [1] }),
        execute(),
        sync(),
      )
      const row = (await client.until('Z')).find(({ type }) => type === 'D')
      expect(row?.body.toString('hex')).toBe('0002000000040000000900000001' + '78')
    })
  })

  test('answers a pipeline in order, and passes over everything between an error and its Sync', async () => {
    await withClient(async (client) => {
      client.send(
        parse('select 1'),
        bind(),
        execute(),
        sync(),
        parse('select nowhere'),
        bind(),
        execute(),
        query('select 1'),
        sync(),
        parse('select 1'),
        bind(),
        execute(),
        sync(),
      )
      const answers: string[] = []
      for (let count = 0; count < 3; count++) answers.push(...(await client.ask()))
      expect(answers).toEqual([
        ...['1', '2', 'D 1', 'C SELECT 1', 'Z I'],
        ...['E 42P01 The relation does not exist.', 'Z I'],
        ...['1', '2', 'D 1', 'C SELECT 1', 'Z I'],
      ])
    })
  })

  test('suspends a portal after as many rows as asked for', async () => {
    expect(
      await ask(parse('select n from three'), bind(), execute('', 2), execute('', 2), execute('', 1), sync()),
    ).toEqual(['1', '2', 'D 1', 'D 2', 's', 'D 3', 'C SELECT 1', 'C SELECT 0', 'Z I'])
  })

  test('keeps portals over Sync inside a transaction and closes them outside of one', async () => {
    await withClient(async (client) => {
      const open = [parse('select n from three'), bind({ portal: 'p' }), execute('p', 1), sync()]
      await client.ask(...open)
      expect(await client.ask(execute('p', 1), sync())).toEqual(['E 34000 portal "p" does not exist', 'Z I'])
      await client.ask(query('begin'))
      await client.ask(...open)
      expect(await client.ask(execute('p', 1), sync())).toEqual(['D 2', 's', 'Z T'])
      await client.ask(query('commit'))
      expect(await client.ask(execute('p'), sync())).toEqual(['E 34000 portal "p" does not exist', 'Z I'])
    })
  })

  test('flushes what is answered without waiting for Sync', async () => {
    await withClient(async (client) => {
      client.send(parse('select 1'), describeFrame('S'), flush())
      expect((await client.until('T')).map(({ type }) => type)).toEqual(['1', 't', 'T'])
      expect(await client.ask(sync())).toEqual(['Z I'])
    })
  })

  test('sends a refusal at once, before Sync', async () => {
    await withClient(async (client) => {
      client.send(parse('select nowhere'), describeFrame('S'), flush())
      expect((await client.until('E')).map(({ type }) => type)).toEqual(['E'])
      expect(await client.ask(sync())).toEqual(['Z I'])
    })
  })

  test('refuses a name or a text that is not UTF-8, passes over all until Sync, and goes on', async () => {
    const bent = (message: Uint8Array) => message.map((byte) => (byte === 0x3f ? 0xff : byte))
    await withClient(async (client) => {
      for (const broken of [
        parse('select 1 as ?'),
        parse('select 1', '?'),
        bind({ portal: '?' }),
        describeFrame('S', '?'),
        execute('?'),
        close('P', '?'),
      ])
        expect(
          await client.ask(parse('select 1'), bent(broken), execute(), bent(query('?')), sync()),
        ).toEqual(['1', 'E 22021 invalid byte sequence for encoding "UTF8"', 'Z I'])
      expect(await client.ask(query('select 1'))).toContain('C SELECT 1')
    })
  })

  test('answers an empty statement with NoData and EmptyQueryResponse', async () => {
    expect(await ask(parse(''), describeFrame('S'), bind(), execute(), sync())).toEqual([
      '1',
      't ',
      'n',
      '2',
      'I',
      'Z I',
    ])
  })

  test.each([
    ['two statements in one Parse', [parse('select 1; select 1')], '42601'],
    ['a name that is taken', [parse('select 1', 'x'), parse('select 1', 'x')], '42P05'],
    ['a statement that there is not', [bind({ statement: 'gone' })], '26000'],
    ['a portal that there is not', [execute('gone')], '34000'],
    ['too few parameters', [parse('select $1, $2'), bind({ parameters: ['1'] })], '08P01'],
    ['formats for other columns', [parse('select 1'), bind({ resultFormats: [0, 1] })], '08P01'],
    ['a parameter type that is not served', [parse('select $1, $2', '', [600])], '0A000'],
    [
      'a parameter that is not of its type',
      [parse('select $1, $2'), bind({ parameters: [Uint8Array.of(1), 'x'], parameterFormats: [1] })],
      '22P03',
    ],
  ])('refuses %s', async (_, messages, sqlState) => {
    const answers = await ask(...messages, sync())
    expect(answers.at(-2)).toStartWith(`E ${sqlState}`)
    expect(answers.at(-1)).toBe('Z I')
  })

  test('ends the connection of a client that breaks the protocol', async () => {
    const client = await wire.logIn()
    client.send(Uint8Array.of(0x51, 0x7f, 0xff, 0xff, 0xff))
    const [refused] = await client.until('E')
    expect(refused && reportFields(refused)).toMatchObject({ S: 'FATAL', C: '08P01' })
  })

  test("answers Npgsql's reset, which it sends ahead of the next statement, all columns in binary", async () => {
    await withClient(async (client) => {
      client.send(
        query('DISCARD ALL'),
        parse('select n from three'),
        bind({ resultFormats: [1] }),
        describeFrame('P'),
        execute(),
        sync(),
      )
      expect(await client.ask()).toEqual(['C DISCARD ALL', 'Z I'])
      const answers = await client.until('Z')
      expect(answers.map(({ type }) => type).join('')).toBe('12TDDDCZ')
      expect(answers.find(({ type }) => type === 'D')?.body.toString('hex')).toBe('00010000000400000001')
    })
  })
})
