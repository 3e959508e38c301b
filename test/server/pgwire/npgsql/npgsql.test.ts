/**
 * Npgsql's exact frames against the service with a governed table: what Npgsql 8.0.9 and 9.0.5 send at each step of a
 * connection, and which responses they accept. The texts beside this file are Npgsql's, under its licence.
 */

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
import { eventually } from '../../../support/eventually.ts'
import { type Lake, startLake } from '../../../support/lake.ts'
import { type NpgsqlParameter, npgsql, parameterOf } from '../../../support/npgsql.ts'
import { type Answer, reportFields, rowValues, spoken, WireClient } from '../../../support/wire-client.ts'

setDefaultTimeout(300_000)

const { parse, bind, describePortal, describeStatement, closeStatement, execute, sync, query } = npgsql
let lake: Lake
let client: WireClient
beforeAll(async () => {
  lake = await startLake()
})
afterAll(() => lake[Symbol.asyncDispose]())
beforeEach(async () => {
  client = (await open()).client
})
afterEach(() => {
  client.send(npgsql.terminate())
  client.close()
})

const user = () => ({ user: lake.env.PGUSER, database: lake.env.PGDATABASE })

/** Opens a connection as SslMode=Prefer does: it asks for TLS, is told no, and goes on. */
async function open(more: Readonly<Record<string, string>> = {}) {
  const opened = await WireClient.connect({ port: Number(lake.env.PGPORT) })
  opened.send(npgsql.sslRequest())
  const declined = (await opened.bytes(1)).toString()
  opened.send(npgsql.startup({ ...user(), ...more }))
  const [asked] = await opened.until('R')
  opened.send(npgsql.password(lake.env.PGPASSWORD))
  const answers = await opened.until('Z')
  const key = answers.find(({ type }) => type === 'K')?.body ?? Buffer.alloc(8)
  return { client: opened, declined, asked, answers, processId: key.readInt32BE(), key: key.subarray(4) }
}

const types = (answers: readonly Answer[]) => answers.map(({ type }) => type).join('')
/** Sends and reads up to the end of each of `count` pipelines. */
async function ask(count: number, ...frames: readonly Buffer[]): Promise<Answer[]> {
  client.send(...frames)
  const answers: Answer[] = []
  for (let index = 0; index < count; index++) answers.push(...(await client.until('Z')))
  return answers
}
/** The rows of each statement. */
const results = (answers: readonly Answer[]) => {
  const ends = answers.flatMap(({ type }, index) => (type === 'C' ? [index] : []))
  return ends.map((end, index) => answers.slice(ends[index - 1] ?? 0, end).filter(({ type }) => type === 'D'))
}
const rowsOf = (answers: readonly Answer[]) =>
  answers
    .filter(({ type }) => type === 'D')
    .map((row) => rowValues(row).map((value) => value?.toString('hex')))
/** A command that is not prepared: Parse, Bind, Describe of the portal, Execute. */
const command = (text: string, parameters: readonly NpgsqlParameter[] = []) => [
  parse('', text, parameters),
  bind('', parameters),
  describePortal(),
  execute(),
]
const readyStates = (answers: readonly Answer[]) =>
  answers.filter(({ type }) => type === 'Z').map(({ body }) => body.toString())

describe('the bytes', () => {
  test('of a start-up are those that Npgsql writes', () => {
    const more = { application_name: 'PBI', search_path: 'sales', TimeZone: 'UTC' }
    expect(npgsql.sslRequest().toString('hex')).toBe('0000000804d2162f')
    expect(npgsql.startup({ user: 'ann', database: 'lake', ...more }).toString('latin1')).toBe(
      `\0\0\0\x69\0\x03\0\0user\0ann\0client_encoding\0UTF8\0database\0lake\0application_name\0PBI\0search_path\0sales\0TimeZone\0UTC\0\0`,
    )
    expect(npgsql.cancel(7, Buffer.from('00000009', 'hex')).toString('hex')).toBe(
      '0000001004d2162e0000000700000009',
    )
  })

  test('of a command with parameters are those that Npgsql writes', () => {
    const { long, string } = parameterOf
    const mixed = [long(5), string('é')]
    expect(parse('_p1', 'select $1, $2', mixed).toString('hex')).toBe(
      `50${'00000020'}5f703100${Buffer.from('select $1, $2').toString('hex')}00${'0002'}${'00000014'}${'00000019'}`,
    )
    // A text beside a number: a format each, and one for all columns.
    expect(bind('_p1', mixed).toString('hex')).toBe(
      `42${'00000027'}00${'5f703100'}${'000200010000'}${'0002'}${'000000080000000000000005'}${'00000002c3a9'}${'00010001'}`,
    )
    expect(bind('', [long(5)]).toString('hex')).toBe(
      `42${'0000001c'}0000${'00010001'}${'0001'}${'000000080000000000000005'}${'00010001'}`,
    )
    expect(bind('', [string('x')]).toString('hex')).toBe(
      `42${'00000013'}0000${'0000'}${'0001'}${'0000000178'}${'00010001'}`,
    )
    expect(Buffer.concat([describePortal(), execute(), sync()]).toString('hex')).toBe(
      '44000000065000' + '45000000090000000000' + '5300000004',
    )
  })
})

describe('a connection is opened', () => {
  test('after TLS was declined, by a password, with all that Npgsql reads', async () => {
    const opened = await open({ application_name: 'Mashup Engine', search_path: 'sales' })
    expect(opened.declined).toBe('N')
    expect(opened.asked?.body.readInt32BE()).toBe(3)
    expect(types(opened.answers)).toMatch(/^RS+KZ$/)
    const told = Object.fromEntries(
      opened.answers
        .filter(({ type }) => type === 'S')
        .map(({ body }) => body.toString().split('\0').slice(0, 2) as [string, string]),
    )
    // Npgsql reads the version up to the first character that is neither digit nor point, and breaks without one.
    expect(told.server_version).toMatch(/^\d+\.\d+/)
    expect(told).toMatchObject({
      client_encoding: 'UTF8',
      integer_datetimes: 'on',
      standard_conforming_strings: 'on',
    })
    expect(opened.key.length).toBe(4)
    opened.client.close()
  })

  for (const version of ['8.0.9', '9.0.5'])
    for (const [system, newline] of [
      ['Linux', '\n'],
      ['Windows', '\r\n'],
    ] as const)
      test(`and types are loaded by one Query of four statements, as ${version} sends it on ${system}`, async () => {
        const text = await Bun.file(new URL(`type-loading-${version}.sql`, import.meta.url)).text()
        // Statements are joined by the system's line ends; within them they are those of the build.
        const sent = text.replace(/;\n/g, `;${newline}`)
        const answers = await ask(1, query(sent))
        expect(types(answers)).toMatch(/^TDCTD+CTD*CTD*CZ$/)
        const [version_ = [], loaded = [], composites = [], enums = []] = results(answers)
        const texts = (rows: readonly Answer[]) =>
          rows.map((row) => rowValues(row).map((value) => value?.toString() ?? null))
        expect(texts(version_)[0]?.[0]).toStartWith('PostgreSQL ')
        const found = texts(loaded)
        for (const known of [
          ['pg_catalog', '20', 'int8', 'b', 'f', null],
          ['pg_catalog', '1016', '_int8', 'a', 'f', '20'],
          ['pg_catalog', '3904', 'int4range', 'r', 'f', '23'],
          ['pg_catalog', '4451', 'int4multirange', 'm', 'f', '3904'],
          ['pg_catalog', '2249', 'record', 'p', 'f', null],
        ])
          expect(found).toContainEqual(known)
        // What holds others comes after them, else Npgsql does not know them.
        const order = new Map(found.map(([, oid], index) => [oid, index]))
        const early = found.filter(([, oid, , , , element]) => {
          return (
            element !== null &&
            (order.get(element ?? '') ?? Number.POSITIVE_INFINITY) > (order.get(oid ?? '') ?? 0)
          )
        })
        expect(early).toEqual([])
        expect([composites.length, enums.length]).toEqual([0, 0])
      })

  test('and asked whether it is in recovery and read-only, where several hosts are named', async () => {
    const batch = [command('select pg_is_in_recovery()'), command('SHOW default_transaction_read_only')]
    const answers = await ask(1, ...batch.flat(), sync())
    expect(types(answers)).toBe('12TDC12TDCZ')
    expect(rowsOf(answers)).toEqual([['00'], [Buffer.from('on').toString('hex')]])
  })
})

describe('a command', () => {
  test('is one pipeline whose columns are all binary', async () => {
    const answers = await ask(
      1,
      ...command(
        'select id, region, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload from sales.orders where id = 5',
      ),
      sync(),
    )
    expect(types(answers)).toBe('12TDCZ')
    const asText = (text: string) => Buffer.from(text).toString('hex')
    const day = parameterOf.dateOnly('2024-01-06').value?.toString('hex')
    expect(rowsOf(answers)).toEqual([
      [
        '0000000000000005',
        asText('south'),
        parameterOf.decimal(185).value?.toString('hex'),
        'ffffffd3',
        parameterOf.double(0.625).value?.toString('hex'),
        '00',
        day,
        parameterOf.utcDateTime('2024-01-01T05:00:00Z').value?.toString('hex'),
        parameterOf.dateTime('2024-01-01T00:05:00').value?.toString('hex'),
        undefined,
        '00000000000000000000000000000005',
        '00000005',
      ],
    ])
  })

  const { int, long, bool, double, decimal, string, guid, bytes, dateOnly, utcDateTime, dateTime, longs } =
    parameterOf
  const conditions: Readonly<
    Record<string, readonly [condition: string, parameters: readonly NpgsqlParameter[]]>
  > = {
    int: ['qty = $1 and id < 10', [int(-45)]],
    long: ['id = $1', [long(5)]],
    bool: ['paid = $1 and id = 5', [bool(false)]],
    double: ['ratio = $1', [double(0.625)]],
    decimal: ['amount = $1 and id < 10', [decimal(185)]],
    string: ['note = $1 or email = $1', [string('user5@example.com')]],
    Guid: ['uid = $1', [guid('00000000-0000-0000-0000-000000000005')]],
    'byte[]': ['payload = $1', [bytes('00000005')]],
    DateOnly: ['day = $1 and id < 10', [dateOnly('2024-01-06')]],
    'DateTime in UTC': ['placed_at = $1', [utcDateTime('2024-01-01T05:00:00Z')]],
    DateTime: ['created = $1', [dateTime('2024-01-01T00:05:00')]],
    'long[]': ['id = any($1)', [longs(5, 5_000)]],
    'null beside others': ['(id = $1 or note = $2)', [long(5), parameterOf.null(25)]],
    'mixed ones': [
      'region = $1 and id = $2 and email like $3 and paid = $4',
      [string('south'), long(5), string('user%'), bool(false)],
    ],
  }
  test.each(Object.entries(conditions))(
    'takes parameters with the OID and format of %s',
    async (_, [where, given]) => {
      const answers = await ask(1, ...command(`select id from sales.orders where ${where}`, given), sync())
      expect(answers.filter(({ type }) => type === 'E').map(reportFields)).toEqual([])
      expect(types(answers)).toBe('12TDCZ')
      expect(rowsOf(answers)).toEqual([['0000000000000005']])
    },
  )

  test('is prepared as _p1, run by Bind and Execute alone, and closed', async () => {
    const text = 'select region from sales.orders where id = $1'
    const types_ = [long(0)]
    const prepared = await ask(1, parse('_p1', text, types_), describeStatement('_p1'), sync())
    expect(prepared.map(spoken)).toEqual(['1', 't 20', 'T region', 'Z I'])
    for (const [id, region] of [
      [4, 'north'],
      [7, 'west'],
    ] as const) {
      const answers = await ask(1, bind('_p1', [long(id)]), execute(), sync())
      expect(answers.map(spoken)).toEqual(['2', `D ${region}`, 'C SELECT 1', 'Z I'])
    }
    expect(types(await ask(1, closeStatement('_p1'), sync()))).toBe('3Z')
    expect(types(await ask(1, bind('_p1', [long(1)]), execute(), sync()))).toBe('EZ')
  })

  test('is prepared by itself when it is used often, in place of the one used least', async () => {
    const auto = (name: string, text: string) => [parse(name, text), bind(name), describePortal(), execute()]
    const first = await ask(1, ...auto('_p1', 'select 1'), sync())
    expect(types(first)).toBe('12TDCZ')
    const replaced = await ask(
      1,
      closeStatement('_p1'),
      ...auto('_p2', 'select id from sales.orders where id = 3'),
      sync(),
    )
    expect(types(replaced)).toBe('312TDCZ')
    expect(rowsOf(await ask(1, bind('_p2'), execute(), sync()))).toEqual([['0000000000000003']])
  })

  test('that wants the schema only is described and not run', async () => {
    const answers = await ask(1, parse('', 'select id, day from sales.orders'), describeStatement(''), sync())
    expect(answers.map(spoken)).toEqual(['1', 't ', 'T id|day', 'Z I'])
  })

  test('has its parameters derived from the statement', async () => {
    const text = 'select id from sales.orders where day > $1 and amount < $2'
    const answers = await ask(1, parse('', text), describeStatement(''), sync())
    expect(answers.map(spoken)).toEqual(['1', 't 1082,1700', 'T id', 'Z I'])
  })
})

describe('a batch', () => {
  const [good, bad] = [
    command('select id from sales.orders where id = 1'),
    command('select nothing from sales.orders'),
  ]

  test('is one pipeline, of which nothing runs after an error', async () => {
    expect(types(await ask(1, ...good, ...good, sync()))).toBe('12TDC12TDCZ')
    const failed = await ask(1, ...good, ...bad, ...good, sync())
    expect(types(failed)).toBe('12TDCEZ')
    expect(failed.filter(({ type }) => type === 'E').map((error) => reportFields(error).C)).toEqual(['42703'])
  })

  test('with error barriers runs on after an error, a pipeline each', async () => {
    const answers = await ask(3, ...good, sync(), ...bad, sync(), ...good, sync())
    expect(types(answers)).toBe('12TDCZEZ12TDCZ')
  })

  test('may hold statements about the catalog and about data', async () => {
    const catalog = command("select relname from pg_class where oid = 'sales.orders'::regclass")
    expect(types(await ask(1, ...good, ...catalog, ...good, sync()))).toBe('12TDC12TDC12TDCZ')
  })
})

test('a transaction begins with its first command, has savepoints, and ends', async () => {
  const begin = 'BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED'
  const one = [...command('select id from sales.orders where id = 1'), sync()]
  const begun = await ask(2, query(begin), ...one)
  expect([types(begun), readyStates(begun)]).toEqual(['CZ12TDCZ', ['T', 'T']])
  const saved = await ask(2, query('SAVEPOINT s'), ...command('select nothing'), sync())
  expect([types(saved), readyStates(saved)]).toEqual(['CZEZ', ['T', 'E']])
  expect((await ask(1, query('ROLLBACK TO SAVEPOINT s'))).map(spoken)).toEqual(['C ROLLBACK', 'Z T'])
  expect((await ask(1, query('RELEASE SAVEPOINT s'))).map(spoken)).toEqual(['C RELEASE', 'Z T'])
  expect((await ask(1, query('COMMIT'))).map(spoken)).toEqual(['C COMMIT', 'Z I'])
  for (const level of ['REPEATABLE READ', 'TRANSACTION ISOLATION LEVEL SERIALIZABLE']) {
    const text = level.startsWith('T') ? `BEGIN ${level}` : `BEGIN ISOLATION LEVEL ${level}`
    expect(readyStates(await ask(2, query(text), ...one))).toEqual(['T', 'T'])
    expect((await ask(1, query('ROLLBACK'))).map(spoken)).toEqual(['C ROLLBACK', 'Z I'])
  }
})

describe('back from the pool', () => {
  const one = [...command('select id from sales.orders where id = 1'), sync()]

  test('a connection is reset by DISCARD ALL ahead of the next command', async () => {
    const answers = await ask(2, query('DISCARD ALL'), ...one)
    // Npgsql passes over as many messages as it counted on: two here.
    expect(types(answers)).toBe('CZ12TDCZ')
  })

  test('one with prepared statements is reset without them', async () => {
    const reset =
      'SET SESSION AUTHORIZATION DEFAULT;RESET ALL;CLOSE ALL;UNLISTEN *;SELECT pg_advisory_unlock_all();DISCARD SEQUENCES;DISCARD TEMP'
    await ask(1, parse('_p1', 'select id from sales.orders where id = 2'), describeStatement('_p1'), sync())
    const answers = await ask(2, query(reset), bind('_p1'), execute(), sync())
    const counted = answers.slice(0, answers.findIndex(({ type }) => type === 'Z') + 1)
    // Rows, parameters and notices are not counted: eight for seven statements, and one for their end.
    expect(types(counted.filter(({ type }) => !'DSN'.includes(type)))).toBe('CCCCTCCCZ')
    expect(types(answers.slice(counted.length))).toBe('2DCZ')
  })
})

test('a command is cancelled by a connection of its own, which the server closes without a word', async () => {
  const { client: busy, processId, key } = await open()
  const text =
    'select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7'
  busy.send(...command(text), sync())
  const active = query(`select state from pg_stat_activity where pid = ${processId} and state = 'active'`)
  await eventually(async () => types(await ask(1, active)) === 'TDCZ')
  const canceller = await WireClient.connect({ port: Number(lake.env.PGPORT) })
  canceller.send(npgsql.sslRequest())
  expect((await canceller.bytes(1)).toString()).toBe('N')
  canceller.send(npgsql.cancel(processId, key))
  expect(await canceller.until('Z')).toEqual([])
  const answers = await busy.until('Z')
  expect(types(answers)).toBe('12TEZ')
  expect(answers.filter(({ type }) => type === 'E').map((error) => reportFields(error).C)).toEqual(['57014'])
  busy.send(...command('select 1'), sync())
  expect(types(await busy.until('Z'))).toBe('12TDCZ')
  busy.close()
})
