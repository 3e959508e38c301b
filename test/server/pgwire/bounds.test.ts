/** What ends statements and connections: cancel, disconnect, slowness, time, limits, revocation, shutdown. */

import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import type { Clock } from '../../../src/base/clock.ts'
import { Fault } from '../../../src/base/fault.ts'
import { nextTurn } from '../../../src/base/turn.ts'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { CancelKeys, type CancelRequest } from '../../../src/server/pgwire/cancel-keys.ts'
import { ConnectionSlots, defaultSlots } from '../../../src/server/pgwire/connection-slots.ts'
import { LoginThrottle } from '../../../src/server/pgwire/login-throttle.ts'
import { eventually } from '../../support/eventually.ts'
import {
  endless,
  numbers,
  startWire,
  type TestQuery,
  testCredentials,
  testTenant,
} from '../../support/pgwire.ts'
import { frames, reportFields, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const { query, parse, bind, execute, sync } = frames

/** Rows of 1 KiB without end; counts the batches that were asked for. */
function torrent(): TestQuery & { asked: number } {
  const text = 'x'.repeat(1_000)
  const torrentQuery = {
    asked: 0,
    columns: [{ name: 't', type: 'text' as const }],
    async *batches() {
      for (;;) {
        torrentQuery.asked++
        yield {
          rowCount: 100,
          columns: [{ type: 'text' as const, ...utf8Values(Array.from({ length: 100 }, () => text)) }],
        }
      }
    },
  }
  return torrentQuery
}

const cancelPacket = ({ processId, key }: WireClient, change = 0) => {
  const body = Buffer.concat([Buffer.alloc(4), key])
  body.writeInt32BE(processId)
  body[4] = (body[4] ?? 0) ^ change
  return frames.packet(80_877_102, body)
}

describe('a cancel request', () => {
  test.each([0x3_0000, 0x3_0002])(
    'stops the statement under way and nothing else (protocol %d)',
    async (protocol) => {
      await using wire = await startWire({
        queries: { endless: endless(), 'select endless': endless(), 'select 1': numbers(1) },
      })
      const client = await wire.logIn({}, protocol)
      client.send(query('select endless'))
      await eventually(() => wire.runs.length === 1)
      const other = await WireClient.connect(wire.options)
      other.send(cancelPacket(client))
      expect((await client.until('Z')).map(spoken)).toEqual([
        'T n',
        'E 57014 canceling statement due to user request',
        'Z I',
      ])
      expect(wire.runs[0]?.state).toBe('stopped')
      // The connection of a cancel request is closed without a word.
      expect(await other.until('never')).toEqual([])
      expect(await client.ask(query('select 1'))).toContain('C SELECT 1')
      client.close()
    },
  )

  test('is heard between the statements of one Query, however short each is', async () => {
    await using wire = await startWire()
    const client = await wire.logIn()
    const other = await WireClient.connect(wire.options)
    client.send(query('begin;'.repeat(8_000)))
    await client.until('C')
    other.send(cancelPacket(client))
    expect((await client.until('Z')).map(spoken).slice(-2)).toEqual([
      'E 57014 canceling statement due to user request',
      'Z E',
    ])
    client.close()
  })

  test('with another key does nothing', async () => {
    await using wire = await startWire({ queries: { 'select endless': endless() } })
    const client = await wire.logIn()
    client.send(query('select endless'))
    await eventually(() => wire.runs.length === 1)
    const other = await WireClient.connect(wire.options)
    other.send(cancelPacket(client, 1))
    await other.until('never')
    expect(wire.runs[0]?.state).toBe('running')
    client.vanish()
  })

  test('for a connection of another replica reaches it by the channel', async () => {
    const replicas: CancelKeys[] = []
    const publish = async (requests: readonly CancelRequest[]) => {
      for (const each of replicas) for (const request of requests) each.cancelHere(request)
    }
    const [here, there] = [new CancelKeys({ publish }), new CancelKeys({ publish })]
    replicas.push(here, there)
    await using first = await startWire({
      queries: { 'select endless': endless() },
      parts: { cancelKeys: here },
    })
    await using second = await startWire({ parts: { cancelKeys: there } })
    const client = await first.logIn()
    client.send(query('select endless'))
    await eventually(() => first.runs.length === 1)
    const other = await WireClient.connect(second.options)
    other.send(cancelPacket(client))
    expect((await client.until('Z')).map(spoken)).toContain('E 57014 canceling statement due to user request')
    client.close()
  })
})

describe('cancel requests that nobody here knows', () => {
  const key = Buffer.alloc(4)

  test('are told to the others one message after another, up to 64 of them in one', async () => {
    const counts: number[] = []
    let underWay = 0
    const keys = new CancelKeys({
      async publish(requests) {
        counts.push(requests.length)
        expect(++underWay).toBe(1)
        await nextTurn()
        underWay--
      },
    })
    await Promise.all(Array.from({ length: 65 }, (_, processId) => keys.request(processId, key)))
    const first = keys.request(1, key)
    await nextTurn()
    await Promise.all([first, keys.request(2, key), keys.request(3, key)])
    expect(counts).toEqual([64, 1, 1, 2])
  })

  test('go on after a message that could not be sent', async () => {
    let failures = 1
    const keys = new CancelKeys({
      publish: async () => {
        if (failures-- > 0) throw new Error('down')
      },
    })
    expect(await keys.request(1, key).catch(String)).toBe('Error: down')
    expect(await keys.request(1, key)).toBeUndefined()
  })
})

describe('a client that leaves', () => {
  test('in the middle of a statement stops the engine', async () => {
    await using wire = await startWire({ queries: { 'select endless': endless() } })
    const client = await wire.logIn()
    client.send(query('select endless'))
    await eventually(() => wire.runs.length === 1)
    client.vanish()
    await eventually(() => wire.runs[0]?.state === 'stopped' && wire.server.connections() === 0)
  })

  test('in order, behind megabytes that nobody has read yet, stops the engine too', async () => {
    await using wire = await startWire({ queries: { 'select endless': endless() } })
    const client = await wire.logIn()
    client.send(query('select endless'))
    await eventually(() => wire.runs.length === 1)
    const [connection] = wire.server.clients()
    for (let count = 1; count <= 3; count++) {
      client.send(query('x'.repeat(200_000)))
      await eventually(() => (connection?.inbox.pendingBytes ?? 0) >= count * 200_000)
    }
    client.close()
    await eventually(() => wire.runs[0]?.state === 'stopped' && wire.server.connections() === 0)
  })

  test('or runs too far ahead is cut off', async () => {
    await using wire = await startWire({ queries: { 'select endless': endless() } })
    const client = await wire.logIn()
    client.send(query('select endless'))
    await eventually(() => wire.runs.length === 1)
    const ahead = query('x'.repeat(1_000_000))
    await eventually(() => {
      client.send(ahead)
      return client.closed
    })
    await eventually(() => wire.runs[0]?.state === 'stopped' && wire.server.connections() === 0)
  })

  test('with portals and cursors open closes them', async () => {
    await using wire = await startWire({ queries: { 'select many': numbers(1_000) } })
    const client = await wire.logIn()
    await client.ask(query('begin; declare c cursor for select many; fetch c'))
    await client.ask(parse('select many'), bind({ portal: 'p' }), execute('p', 1), sync())
    client.close()
    await eventually(() => wire.runs.length === 2 && wire.runs.every(({ state }) => state === 'stopped'))
  })
})

describe('a client that does not read', () => {
  test('pauses the engine and holds less than 4 MiB of ours', async () => {
    const rows = torrent()
    await using wire = await startWire({ queries: { 'select torrent': rows } })
    const client = await wire.logIn()
    client.pause()
    client.send(query('select torrent'))
    // The kernel's buffers on both sides fill first; then nothing more is asked for.
    let before = -1
    await eventually(async () => {
      const stands = rows.asked > 0 && rows.asked === before
      before = rows.asked
      await Bun.sleep(100)
      return stands
    })
    const [connection] = wire.server.clients()
    expect(connection?.outbox.heldBytes).toBeGreaterThan(0)
    expect(connection?.outbox.heldBytes).toBeLessThan(4 * 1024 * 1024)
    const paused = rows.asked
    client.resume()
    await eventually(() => rows.asked > paused + 100)
    client.vanish()
    await eventually(() => wire.runs[0]?.state === 'stopped')
  })
})

describe('time', () => {
  test.each([
    'explain select 1',
    'prepare p as select stuck',
    'declare c cursor with hold for select stuck',
    'declare c cursor with hold for select from pg_class',
  ])('of %s is limited by statement_timeout, whatever it waits for', async (text) => {
    const never = new Promise<never>(() => {})
    let described = false
    await using wire = await startWire({
      parts: {
        explain: () => never,
        queries: { prepare: () => never, run: () => never as never },
        catalog: {
          covers: (sql) => (sql.includes('pg_class') ? 'catalog' : 'data'),
          // It is described, and then not answered.
          execute: () =>
            (described ? never : Promise.resolve(new Uint8Array())).finally(() => {
              described = true
            }),
        },
      },
    })
    const client = await wire.logIn({ options: '-c statement_timeout=50ms' })
    expect((await client.ask(query(text))).at(-2)).toStartWith('E 57014')
    expect(await client.ask(query('fetch c'))).toContain('E 34000 cursor "c" does not exist')
    client.close()
  })

  test('of a statement is limited by statement_timeout', async () => {
    await using wire = await startWire({ queries: { 'select endless': endless() } })
    const client = await wire.logIn({ options: '-c statement_timeout=50ms' })
    expect(await client.ask(query('select endless'))).toContain(
      'E 57014 canceling statement due to statement timeout',
    )
    expect(wire.runs[0]?.state).toBe('stopped')
    client.close()
  })

  test.each([
    ['idle_session_timeout', [], '57P05'],
    ['idle_in_transaction_session_timeout', ['begin'], '25P03'],
  ] as const)('without a statement is limited by %s', async (setting, texts, sqlState) => {
    await using wire = await startWire()
    const client = await wire.logIn({ options: `-c ${setting}=30ms` })
    for (const text of texts) await client.ask(query(text))
    const [ended] = await client.until('E')
    expect(ended && reportFields(ended)).toMatchObject({ S: 'FATAL', C: sqlState })
  })

  test('before the credential is limited', async () => {
    await using wire = await startWire({ parts: { authenticationMs: 30 } })
    const silent = await WireClient.connect(wire.options)
    expect(await silent.until('never')).toEqual([])
    const slow = await WireClient.connect(wire.options)
    slow.send(frames.startup({ user: 'ada', database: 'main' }))
    const ended = (await slow.until('E')).at(-1)
    expect(ended && reportFields(ended).C).toBe('57014')
  })
})

describe('numbers', () => {
  test.each([
    ['all', { connectionsMax: 1 }],
    ['a tenant', { tenantMax: 1 }],
    ['a principal', { principalMax: 1 }],
  ])('of connections of %s are limited', async (_, max) => {
    await using wire = await startWire({ parts: { slots: new ConnectionSlots({ ...defaultSlots, ...max }) } })
    const first = await wire.logIn()
    const second = await WireClient.connect(wire.options)
    second.send(frames.startup({ user: 'ada', database: 'main' }))
    await second.until('R')
    second.send(frames.password('svc_test_secret'))
    const refused = (await second.until('E')).at(-1)
    expect(refused && reportFields(refused).C).toBe('53300')
    first.close()
    await eventually(() => wire.server.connections() === 0)
    ;(await wire.logIn()).close()
  })

  test('of clients that nobody knows yet are limited', async () => {
    const slots = new ConnectionSlots({ ...defaultSlots, strangersMax: 1 })
    await using wire = await startWire({ parts: { slots } })
    const first = await WireClient.connect(wire.options)
    await eventually(() => wire.server.connections() === 1)
    const second = await WireClient.connect(wire.options)
    const [refused] = await second.until('E')
    expect(refused && reportFields(refused).C).toBe('53300')
    first.close()
  })

  test('of clients that nobody knows yet are limited to what their network leaves to others', () => {
    const slots = new ConnectionSlots({ ...defaultSlots, strangersMax: 8 })
    const enter = (address: string) => slots.enter(address)
    const here = Array.from({ length: 8 }, (_, index) => enter(`2001:db8::${index}`))
    expect(here.filter((leave) => leave !== undefined).length).toBe(4)
    expect(['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1'].map((each) => enter(each) !== undefined)).toEqual([
      true,
      true,
      false,
    ])
    expect([enter('192.0.2.2'), enter('192.0.2.3')].map((leave) => leave !== undefined)).toEqual([true, true])
    expect(enter('192.0.2.4')).toBeUndefined()
    for (const leave of here) leave?.()
    expect(enter('192.0.2.4')).toBeDefined()
  })

  test('of prepared statements and portals are limited', async () => {
    await using wire = await startWire({ queries: { 'select 1': numbers(1) } })
    const client = await wire.logIn()
    const statements = Array.from({ length: 1_001 }, (_, index) => parse('select 1', `s${index}`))
    expect((await client.ask(...statements, sync())).at(-2)).toStartWith('E 54000')
    const portals = Array.from({ length: 101 }, (_, index) => bind({ portal: `p${index}`, statement: 's1' }))
    expect((await client.ask(...portals, sync())).at(-2)).toStartWith('E 54000')
    client.close()
  })
})

const MiB = 1024 * 1024

describe('numbers', () => {
  test('of bytes in prepared statements are limited, and in portals of statements that are prepared no more', async () => {
    await using wire = await startWire({ queries: { 'select 1': numbers(1) } })
    const client = await wire.logIn()
    // What is kept of it is its tree, as of all that the connection answers itself.
    const long = `set search_path = a${',b'.repeat(20_000)}`
    const refused = (what: string) => `E 54000 The ${what} of a connection hold at most 67108864 bytes.`
    const prepared: string[] = []
    for (let count = 0; count < 10 && prepared.at(-2) !== refused('prepared statements'); count++)
      prepared.push(...(await client.ask(parse(long, `s${count}`), sync())))
    expect(prepared.filter((answer) => answer === '1').length).toBe(8)
    expect(prepared.slice(-2)).toEqual([refused('prepared statements'), 'Z I'])
    await client.ask(query('deallocate all; begin'))
    const bound: string[] = []
    for (let count = 0; count < 10 && bound.at(-2) !== refused('open portals and cursors'); count++)
      bound.push(...(await client.ask(parse(long), bind({ portal: `p${count}` }), sync())))
    expect(bound.filter((answer) => answer === '2').length).toBe(8)
    expect(bound.slice(-2)).toEqual([refused('open portals and cursors'), 'Z E'])
    client.close()
  })

  test('of bytes in open portals are limited', async () => {
    const row = Buffer.alloc(1 + 10 + 40 * MiB, 'x')
    row[0] = 0x44
    row.writeInt32BE(row.length - 1, 1)
    const catalog = {
      covers: (sql: string) => (sql === 'select 1' ? ('data' as const) : ('catalog' as const)),
      execute: async () => row,
    }
    await using wire = await startWire({
      queries: { 'select 1': { ...numbers(1), parameters: ['text'] } },
      parts: { catalog },
    })
    const client = await wire.logIn()
    const own = parse('select 1', 's')
    const system = parse('select from pg_class', 'c')
    const bound = (portal: string, statement: string, ...parameters: Uint8Array[]) =>
      bind({ portal, statement, parameters, parameterFormats: [1] })
    await client.ask(query('begin'), own, system, sync())
    await client.until('Z')
    const refused = 'E 54000 The open portals and cursors of a connection hold at most 67108864 bytes.'
    expect(await client.ask(bound('a', 'c'), bound('b', 'c'), sync())).toEqual(['2', refused, 'Z E'])
    await client.ask(query('rollback'))
    await client.ask(query('begin'))
    const value = Buffer.alloc(MiB, 'x')
    const answers: string[] = []
    for (let index = 0; index < 64; index++)
      answers.push(...(await client.ask(bound(`p${index}`, 's', value), sync())))
    expect(answers.filter((answer) => answer === '2').length).toBe(63)
    expect(answers.slice(-2)).toEqual([refused, 'Z E'])
    client.close()
  })
})

describe('a revoked credential', () => {
  test('ends the connection at the next statement, before anything of it is sent', async () => {
    const credentials = testCredentials()
    await using wire = await startWire({
      queries: { 'select many': numbers(500_000, 5_000) },
      parts: { credentials },
    })
    for (const texts of [
      [query('select many')],
      [parse('select many'), bind(), execute(), sync()],
      [query('begin')],
    ]) {
      credentials.valid = true
      const client = await wire.logIn()
      await client.ask(query('show timezone'))
      credentials.valid = false
      client.send(...texts)
      expect((await client.until('never')).map(spoken)).toEqual([
        'E 57P01 the session was revoked or has expired',
      ])
    }
    await eventually(() => wire.runs.every(({ state }) => state !== 'running'))
  })

  test('is not distinguished from one that cannot be checked: nothing is answered', async () => {
    const credentials = testCredentials()
    const unknown = {
      ...credentials,
      bySecret: async (secret: string) => {
        const found = await credentials.bySecret(secret)
        const stillValid = () => Promise.reject(new Fault('unavailable', 'The database is not available.'))
        return found && { ...found, stillValid }
      },
    }
    await using wire = await startWire({
      queries: { 'select 1': numbers(1) },
      parts: { credentials: unknown },
    })
    const client = await wire.logIn()
    client.send(query('select 1'))
    expect((await client.until('never')).map(spoken)).toEqual([
      'E 58030 the session could not be checked; connect again',
    ])
  })
})

describe('an address whose clients keep failing', () => {
  test('waits ever longer, and everybody else does not', () => {
    let now = 0
    const clock: Clock = { now: () => now }
    const throttle = new LoginThrottle(clock)
    for (let count = 0; count < 4; count++) throttle.failed('192.0.2.1')
    expect(throttle.turn('192.0.2.1', 30_000)).toBe(0)
    for (let count = 0; count < 3; count++) throttle.failed('192.0.2.1')
    expect(throttle.turn('192.0.2.1', 30_000)).toBe(400)
    expect(throttle.turn('192.0.2.1', 30_000)).toBe(800)
    expect(throttle.turn('192.0.2.2', 30_000)).toBe(0)
    now = 3_600_000
    expect(throttle.turn('192.0.2.1', 30_000)).toBe(0)
  })

  test('slows one user only where users are counted, until that user has authenticated', () => {
    const throttle = new LoginThrottle({ now: () => 0 })
    for (let count = 0; count < 20; count++) throttle.failed('192.0.2.1', 'bob')
    expect(throttle.turn('192.0.2.1', 30_000, 'bob')).toBe(10_000)
    expect(throttle.turn('192.0.2.1', 30_000, 'ann')).toBe(0)
    expect(throttle.turn('192.0.2.2', 30_000, 'bob')).toBe(0)
    throttle.succeeded('192.0.2.1', 'bob')
    expect(throttle.turn('192.0.2.1', 30_000, 'bob')).toBe(0)
  })

  test('takes no turn for an attempt that cannot wait so long, so that no number of them shuts out the next', () => {
    let now = 0
    const throttle = new LoginThrottle({ now: () => now })
    for (let count = 0; count < 20; count++) throttle.failed('192.0.2.1')
    const waits = Array.from({ length: 1_000 }, () => throttle.turn('192.0.2.1', 30_000))
    expect(waits.filter((wait) => wait !== undefined)).toEqual([10_000, 20_000, 30_000])
    now = 40_000
    expect(throttle.turn('192.0.2.1', 30_000)).toBe(0)
  })

  test('keeps no place for a client that has left while it waited', async () => {
    const throttle = new LoginThrottle({ now: () => 0 })
    for (let count = 0; count < 20; count++) throttle.failed('127.0.0.1')
    for (let count = 0; count < 100; count++) throttle.turn('127.0.0.1', 3_600_000)
    const turn = spyOn(throttle, 'turn')
    await using wire = await startWire({ parts: { throttle, authenticationMs: 3_600_000 } })
    const client = await WireClient.connect(wire.options)
    client.send(frames.startup({ user: 'ada', database: 'main' }))
    await eventually(() => turn.mock.calls.length === 1)
    client.vanish()
    await eventually(() => wire.server.connections() === 0)
  })

  test('is a whole /64 of IPv6', () => {
    const throttle = new LoginThrottle({ now: () => 0 })
    for (let count = 0; count < 9; count++) throttle.failed(`2001:db8:0:1::${count}`)
    expect(throttle.turn('2001:db8:0:1:ffff::1', 30_000)).toBeGreaterThan(0)
    expect(throttle.turn('2001:db8:0:2::1', 30_000)).toBe(0)
  })
})

describe('shutdown', () => {
  test.each(['select endless', 'select silent'])(
    'tells a client whose %s outlasts it, before the socket closes',
    async (text) => {
      const silent: TestQuery = {
        columns: [{ name: 'n', type: 'int4' }],
        async *batches() {
          await new Promise(() => {})
          yield { rowCount: 0, columns: [] }
        },
      }
      await using wire = await startWire({
        queries: { 'select endless': endless(), 'select silent': silent },
      })
      const [simple, extended] = [await wire.logIn(), await wire.logIn()]
      simple.send(query(text))
      extended.send(parse(text), bind(), execute(), sync())
      await eventually(() => wire.runs.length === 2)
      const answers = [simple, extended].map(async (client) =>
        (await client.until('never')).map(spoken).at(-1),
      )
      expect(await wire.server.stop(1)).toBe(false)
      expect(await Promise.all(answers)).toEqual(
        Array(2).fill('E 57P01 terminating connection due to administrator command'),
      )
    },
  )

  test('ends idle connections and lets a statement finish', async () => {
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow: TestQuery = {
      columns: [{ name: 'n', type: 'int4' }],
      async *batches() {
        await gate
        yield { rowCount: 1, columns: [{ type: 'int4', values: Int32Array.of(7) }] }
      },
    }
    await using wire = await startWire({ queries: { 'select slow': slow } })
    const [idle, busy] = [await wire.logIn(), await wire.logIn()]
    busy.send(query('select slow'))
    await eventually(() => wire.runs.length === 1)
    const stopped = wire.server.stop(10_000)
    expect((await idle.until('never')).map(spoken)).toEqual([
      'E 57P01 terminating connection due to administrator command',
    ])
    finish()
    expect((await busy.until('never')).map(spoken)).toEqual([
      'T n',
      'D 7',
      'C SELECT 1',
      'Z I',
      'E 57P01 terminating connection due to administrator command',
    ])
    expect(await stopped).toBe(true)
  })
})

describe('what is measured', () => {
  test('is told by tenant, and the log holds no literal', async () => {
    await using wire = await startWire({ queries: { "select 'canary', n": numbers(3) } })
    const client = await wire.logIn()
    await client.ask(query("select 'canary', n"))
    await client.ask(query("select 'canary' from nowhere"))
    const scraped = await wire.metrics.registry.metrics()
    for (const line of [
      `svc_pgwire_connections{tenant="${testTenant}"} 1`,
      `svc_pgwire_queries_total{tenant="${testTenant}",outcome="done"} 1`,
      `svc_pgwire_queries_total{tenant="${testTenant}",outcome="failed"} 1`,
      `svc_pgwire_rows_total{tenant="${testTenant}"} 3`,
      `svc_pgwire_stage_duration_seconds_count{tenant="${testTenant}",stage="plan"} 2`,
    ])
      expect(scraped).toContain(line)
    expect(wire.log()).toContain('queryId')
    expect(wire.log()).not.toContain('canary')
    client.close()
    await eventually(async () =>
      (await wire.metrics.registry.metrics()).includes(`svc_pgwire_connections{tenant="${testTenant}"} 0`),
    )
  })
})
