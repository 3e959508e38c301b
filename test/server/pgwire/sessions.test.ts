/** The state of a connection: settings, transactions, cursors, prepared statements, COPY. */

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
import { utf8Values } from '../../../src/core/variable-width.ts'
import { SqlError } from '../../../src/query/compile/base/sql-error.ts'
import { numbers, startWire, testCredentials, type WireService } from '../../support/pgwire.ts'
import { frames, reportFields, type WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const { parse, bind, execute, sync, query, describe: describeFrame } = frames

let wire: WireService
let client: WireClient
beforeAll(async () => {
  wire = await startWire({
    queries: {
      'select n from three': numbers(3, 2),
      'select n from failing': {
        ...numbers(3),
        async *batches(run) {
          yield* numbers(3, 1).batches(run)
          throw new SqlError('58000', 'The engine failed.')
        },
      },
      'SELECT * FROM "s"."three"': numbers(3),
      'select span': {
        columns: [{ name: 'span', type: 'interval' }],
        async *batches() {
          const [months, days] = [Int32Array.of(14), Int32Array.of(-3)]
          const micros = BigInt64Array.of(3_600_000_000n)
          yield { rowCount: 1, columns: [{ type: 'interval', months, days, micros }] }
        },
      },
      'select quoted': {
        columns: [{ name: 'x', type: 'text' }],
        async *batches() {
          yield { rowCount: 1, columns: [{ type: 'text', ...utf8Values([`it's "so"`]) }] }
        },
      },
      'SELECT "n" FROM "three"': numbers(3),
      'select moments': {
        columns: [
          { name: 'at', type: 'timestamptz' },
          { name: 'zone', type: 'text' },
        ],
        async *batches({ context }) {
          const values = BigInt64Array.of(1_720_000_000_500_000n, -4_000_000_000_000_000n)
          const zones = utf8Values([context.timeZone ?? 'none', ''])
          yield {
            rowCount: 2,
            columns: [
              { type: 'timestamptz', values },
              { type: 'text', ...zones },
            ],
          }
        },
      },
      'select moment $1': {
        columns: [{ name: 'x', type: 'text' }],
        parameters: ['timestamptz'],
        async *batches({ parameters: [x] }) {
          yield { rowCount: 1, columns: [{ type: 'text', ...utf8Values([x ?? '']) }] }
        },
      },
      'select $1': {
        columns: [{ name: 'x', type: 'text' }],
        parameters: ['text'],
        async *batches({ parameters: [x] }) {
          yield { rowCount: 1, columns: [{ type: 'text', ...utf8Values([x ?? '']) }] }
        },
      },
      'select path': {
        columns: [{ name: 'path', type: 'text' }],
        async *batches({ context }) {
          yield { rowCount: 1, columns: [{ type: 'text', ...utf8Values([context.searchPath.join('/')]) }] }
        },
      },
    },
  })
})
afterAll(() => wire[Symbol.asyncDispose]())
beforeEach(async () => {
  client = await wire.logIn()
})
afterEach(() => client.close())

/** The answers to several texts, one after another. */
async function say(...texts: readonly string[]): Promise<string[]> {
  const answers: string[] = []
  for (const text of texts) answers.push(...(await client.ask(query(text))))
  return answers
}

describe('settings', () => {
  test.each([
    ['postgres', '1 year 2 mons -3 days +01:00:00'],
    ['postgres_verbose', '@ 1 year 2 mons -3 days 1 hour'],
    ['sql_standard', '+1-2 -3 +1:00:00'],
    ['ISO_8601', 'P1Y2M-3DT1H'],
  ])('let a client choose how intervals are written: %s', async (style, text) => {
    expect(await say(`set intervalstyle = ${style}`, 'select span')).toContain(`D ${text}`)
    client.send(query('copy (select span) to stdout'))
    const copied = (await client.until('Z')).find(({ type }) => type === 'd')
    expect(String(copied?.body)).toBe(`${text}\n`)
  })

  test.each([
    ["set intervalstyle = 'german'", 'Served: postgres, postgres_verbose, sql_standard, iso_8601.'],
    ["set datestyle = 'German'", 'Served: ISO, MDY.'],
    ['set standard_conforming_strings = off', 'Served: on.'],
    ["set client_encoding = 'LATIN1'", 'Served: UTF8, SQL_ASCII.'],
    ['set statement_timeout = sometimes', 'Served: milliseconds, or a number with us, ms, s, min, h or d.'],
  ])('say what is served where a value is not: %s', async (text, hint) => {
    client.send(query(text))
    const refusal = (await client.until('Z')).find(({ type }) => type === 'E')
    expect(refusal && reportFields(refusal)).toMatchObject({ C: '22023', H: hint })
  })

  test('are set, shown and reset, and the client hears of those that PostgreSQL reports', async () => {
    expect(
      await say("set application_name = 'bi'", 'show application_name', 'reset application_name'),
    ).toEqual([
      ...['S application_name=bi', 'C SET', 'Z I'],
      ...['T application_name', 'D bi', 'C SHOW', 'Z I'],
      ...['S application_name=', 'C RESET', 'Z I'],
    ])
  })

  test('come back when the transaction that set them is rolled back, or has failed', async () => {
    await say('begin', 'set statement_timeout = 5000', 'rollback')
    expect(await say('show statement_timeout')).toContain('D 10min')
    await say("set statement_timeout = '5s'; select nowhere")
    expect(await say('show statement_timeout')).toContain('D 10min')
    await say('begin', "set statement_timeout = '5s'", 'commit')
    expect(await say('show statement_timeout')).toContain('D 5s')
  })

  test('of SET LOCAL end with the transaction', async () => {
    await say('begin', "set local application_name = 'x'")
    expect(await say('show application_name')).toContain('D x')
    expect(await say('commit')).toEqual(['S application_name=', 'C COMMIT', 'Z I'])
    expect((await say("set local application_name = 'x'"))[0]).toStartWith('N 25P01')
  })

  test('of SET LOCAL … TO DEFAULT are the default until the transaction ends, and outside of one nothing', async () => {
    await say('set search_path = a', 'begin', 'set local search_path to default')
    expect(await say('show search_path')).toContain('D "$user", public')
    expect(await say('commit', 'show search_path')).toContain('D a')
    expect((await say('set local search_path to default'))[0]).toStartWith('N 25P01')
    expect(await say('show search_path')).toContain('D a')
  })

  test('of a savepoint come back with it', async () => {
    await say('begin', 'savepoint a', "set application_name = 'x'", 'rollback to a')
    expect(await say('show application_name')).toContain('D ')
  })

  test('search_path is what unqualified names are looked for in', async () => {
    await say('set search_path to Sales, "Other One", pg_catalog')
    expect(await say('select path')).toContain('D sales/Other One/pg_catalog')
    expect(await say("select set_config('search_path', 'a', false)")).toContain('D a')
    expect(await say('select path')).toContain('D a')
  })

  test('are set by functions too, of constants or parameters, as drivers do', async () => {
    expect(await say("select current_setting('jit') as cur, set_config('jit', 'off', false) as new")).toEqual(
      [...['T cur|new', 'D on|off', 'C SELECT 1', 'Z I']],
    )
    expect(
      await client.ask(
        parse('select pg_catalog.set_config($1, $2, $3)'),
        describeFrame('S'),
        bind({ parameters: ['jit', 'on', Uint8Array.of(1)], parameterFormats: [0, 0, 1] }),
        execute(),
        sync(),
      ),
    ).toEqual(['1', 't 25,25,16', 'T set_config', '2', 'D off', 'C SELECT 1', 'Z I'])
    expect(await say("select set_config(now(), 'x', false)")).toContain(
      'E 0A000 Only constants are supported here.',
    )
  })

  test.each([
    [
      "set_config('bytea_output', 'hex', false) from pg_show_all_settings() where name = 'bytea_output'",
      'hex',
    ],
    [
      "set_config(name, 'hex', false) from pg_catalog.pg_show_all_settings() s where s.name = 'bytea_output'",
      'hex',
    ],
    ["set_config('bytea_output', 'hex', false) from pg_settings where name = 'bytea_output'", 'hex'],
    ["set_config(name, 'off', false) from pg_catalog.pg_settings where 'jit' = name", 'off'],
    ["set_config('jit', 'off', false) from pg_settings where name = 'DateStyle'", 'off'],
    ["set_config('jit', 'off', false) from pg_settings where name = 'nothing_of_ours'", undefined],
    ["set_config('jit', 'off', false) from pg_settings where name = 'datestyle'", undefined],
  ])('are set where there is one, as pgAdmin and pg_dump ask: select %s', async (text, value) => {
    const rows = value === undefined ? [] : [`D ${value}`]
    expect(await say(`select ${text}`)).toEqual(['T set_config', ...rows, `C SELECT ${rows.length}`, 'Z I'])
  })

  test.each([
    ['set nothing_of_ours = 1', '42704'],
    ['show nothing_of_ours', '42704'],
    ["set timezone = 'Mars/Olympus'", '22023'],
    ["set timezone = 'CET'", '22023'],
    ["set timezone = '+02'", '22023'],
    ["set datestyle = 'German'", '22023'],
    ["set client_encoding = 'LATIN1'", '22023'],
    ['set standard_conforming_strings = off', '22023'],
    ["set server_version = '9'", '55P02'],
    ["set statement_timeout = 'soon'", '22023'],
    ["set client_min_messages = 'loud'", '22023'],
    ['set role postgres', '42501'],
    ["set session authorization 'bob'", '42501'],
    ["set transaction snapshot 'x'", '0A000'],
    ["prepare transaction 'x'", '0A000'],
    ['discard all; select 1', '25001'],
  ])('%s is refused with %s', async (text, sqlState) => {
    expect((await say(text)).find((answer) => answer.startsWith('E'))).toStartWith(`E ${sqlState}`)
  })

  test.each([
    'set timezone to utc',
    "set session time zone 'Europe/Berlin'",
    'set time zone default',
    "set names 'utf8'",
    'set session characteristics as transaction read only',
    'set transaction isolation level serializable',
    'set enable_seqscan = off',
    "set my.variable = 'x'",
    'set role none',
    'reset role',
    'reset all',
    'reset session authorization',
    'set session authorization ada',
    'discard plans',
    'discard temp',
    'unlisten *',
    'deallocate all',
    'close all',
    'select pg_advisory_unlock_all()',
  ])('%s succeeds', async (text) => {
    const answers = await say(text)
    expect(answers.filter((answer) => answer.startsWith('E'))).toEqual([])
    expect(answers.at(-1)).toBe('Z I')
  })

  test('SHOW ssl says whether the server encrypts', async () => {
    expect(await say('show ssl')).toContain('D off')
    expect(await say('set ssl = on')).toContain('E 55P02 parameter "ssl" cannot be changed')
  })

  test.each([
    ['select pg_advisory_unlock(1)', 'ExclusiveLock'],
    ['select pg_catalog.pg_advisory_unlock(1, 2) as "unlocked"', 'ExclusiveLock'],
    ['select pg_advisory_unlock_shared(4611686018427387904)', 'ShareLock'],
  ])('%s says that there is no such lock', async (text, lock) => {
    const answers = await say(text)
    expect(answers).toContain('D f')
    expect(answers.find((answer) => answer.startsWith('N'))).toContain(`you don't own a lock of type ${lock}`)
  })

  test('the time zone is that of results, of parameters and of statements, from then on', async () => {
    expect(await say("set timezone to 'europe/berlin'", 'show timezone', 'select moments')).toEqual(
      expect.arrayContaining([
        'S TimeZone=Europe/Berlin',
        'D Europe/Berlin',
        'D 2024-07-03 11:46:40.5+02|Europe/Berlin',
        'D 1843-03-31 17:46:48+00:53:28|',
      ]),
    )
    const parameters = ['2024-03-31 02:30']
    const bound = await client.ask(parse('select moment $1'), bind({ parameters }), execute(), sync())
    expect(bound).toContain('D 2024-03-31 01:30:00+00')
    expect(await say('reset timezone', 'select moments')).toContain('D 2024-07-03 09:46:40.5+00|none')
  })

  test('a time zone that is set locally ends with the transaction', async () => {
    const answers = await say(
      'begin',
      "set local timezone to 'Asia/Kolkata'",
      'select moments',
      'commit',
      'select moments',
    )
    expect(answers).toContain('D 2024-07-03 15:16:40.5+05:30|Asia/Kolkata')
    expect(answers).toContain('D 2024-07-03 09:46:40.5+00|none')
  })

  test('of time are taken as PostgreSQL reads them', async () => {
    for (const [value, shown] of [
      ["'1.5s'", '1500ms'],
      ["' 90 s '", '90s'],
      ["'.5min'", '30s'],
      ["'2400us'", '2ms'],
      ["'1e3'", '1s'],
      ['1.4', '1ms'],
      ["'0'", '0'],
    ])
      expect(await say(`set statement_timeout = ${value}`, 'show statement_timeout')).toContain(`D ${shown}`)
    for (const value of ["'-1'", "'1 S'", "'s'", "'1.5.1'", "'25d'", "'1e400'"])
      expect((await say(`set statement_timeout = ${value}`))[0]).toStartWith('E 22023')
  })

  test('SHOW ALL shows all, in as many steps as asked for', async () => {
    const all = await say('show all')
    expect(all).toContain('D server_version|14.20|')
    const rows = all.filter((answer) => answer.startsWith('D')).length
    const steps = await client.ask(parse('show all'), bind(), execute('', 2), execute('', 0), sync())
    expect(steps.filter((answer) => answer.startsWith('D'))).toHaveLength(rows)
    expect(steps).toContain('s')
  })
})

describe('transactions', () => {
  test('are read by their states, I, T and E', async () => {
    expect(await say('begin', 'select nowhere', 'select n from three', 'commit')).toEqual([
      ...['C BEGIN', 'Z T'],
      ...['E 42P01 The relation does not exist.', 'Z E'],
      ...['E 25P02 current transaction is aborted, commands ignored until end of transaction block', 'Z E'],
      ...['C ROLLBACK', 'Z I'],
    ])
  })

  test('go on from a savepoint after a failure', async () => {
    const answers = await say(
      'begin',
      'savepoint a',
      'select nowhere',
      'rollback to savepoint a',
      'release a',
      'commit',
    )
    expect(answers.filter((answer) => /^[CZ]/.test(answer))).toEqual([
      ...[
        'C BEGIN',
        'Z T',
        'C SAVEPOINT',
        'Z T',
        'Z E',
        'C ROLLBACK',
        'Z T',
        'C RELEASE',
        'Z T',
        'C COMMIT',
        'Z I',
      ],
    ])
  })

  test('warn where there is one already, or none', async () => {
    expect((await say('begin', 'begin'))[2]).toStartWith('N 25001')
    expect((await say('rollback', 'commit'))[2]).toStartWith('N 25P01')
  })

  test.each([
    ['savepoint a', '25P01'],
    ['begin; rollback to nowhere', '3B001'],
  ])('%s is refused with %s', async (text, sqlState) => {
    expect((await say(text)).find((answer) => answer.startsWith('E'))).toStartWith(`E ${sqlState}`)
  })

  test('chain, where there is one', async () => {
    expect(await say('begin', 'commit and chain')).toContain('Z T')
    expect(await say('rollback', 'commit and chain', 'select n from three; rollback and chain')).toEqual([
      ...['C ROLLBACK', 'Z I'],
      ...['E 25P01 COMMIT AND CHAIN can only be used in transaction blocks', 'Z I'],
      ...['T n', 'D 1', 'D 2', 'D 3', 'C SELECT 3'],
      ...['E 25P01 ROLLBACK AND CHAIN can only be used in transaction blocks', 'Z I'],
    ])
  })

  test('of a pipeline end with a Query inside of it, too', async () => {
    const set = (value: string) => [parse(`set a.b = ${value}`), bind(), execute()]
    await client.ask(...set('x'), query('select n from three'))
    await client.ask(...set('y'), parse('select nowhere'), sync())
    expect(await say('show a.b')).toContain('D x')
  })

  test.each([
    ['set a.b = x; rollback; show a.b', ''],
    ['set a.b = x; commit; select nowhere', 'x'],
    ['begin; set a.b = x; commit; set a.b = y; select nowhere', 'x'],
    ['set a.b = x; commit; begin; set a.b = y; rollback', 'x'],
    ['set local a.b = x; commit; set a.c = z', ''],
  ])('of the statements of one Query end with it, and a new one begins: %s', async (text, left) => {
    await say(text)
    expect(await say('show a.b')).toContain(`D ${left}`)
    await say('begin')
    await say(`commit; ${text}`)
    expect(await say('show a.b')).toContain(`D ${left}`)
  })
})

describe('cursors', () => {
  test('are read forward, in steps, to their end', async () => {
    expect(
      await say(
        'begin',
        'declare c cursor for select n from three',
        'fetch 2 from c',
        'fetch all from c',
        'fetch next from c',
      ),
    ).toEqual([
      ...['C BEGIN', 'Z T', 'C DECLARE CURSOR', 'Z T'],
      ...['T n', 'D 1', 'D 2', 'C FETCH 2', 'Z T'],
      ...['T n', 'D 3', 'C FETCH 1', 'Z T'],
      ...['T n', 'C FETCH 0', 'Z T'],
    ])
  })

  test('are moved, closed, and closed with their transaction', async () => {
    await say('begin', 'declare c cursor for select n from three')
    expect(await say('move 2 in c', 'fetch c')).toEqual(['C MOVE 2', 'Z T', 'T n', 'D 3', 'C FETCH 1', 'Z T'])
    expect(await say('close c', 'close c')).toContain('E 34000 cursor "c" does not exist')
    await say('rollback', 'begin', 'declare c cursor for select n from three', 'commit')
    expect((await say('fetch c'))[0]).toStartWith('E 34000')
  })

  test('WITH HOLD outlive their transaction, and no rollback', async () => {
    await say('declare c cursor with hold for select n from three')
    expect(await say('fetch 1 from c', 'fetch all from c')).toContain('D 3')
    expect(await say('close c')).toContain('C CLOSE CURSOR')
    await say('begin', 'declare c cursor with hold for select n from three', 'rollback')
    expect(await say('fetch c')).toContain('E 34000 cursor "c" does not exist')
  })

  test('WITH HOLD outlive the rollback of every transaction but their own', async () => {
    await say('declare a cursor with hold for select n from three')
    await say('begin', 'declare b cursor with hold for select n from three', 'commit')
    await say('begin', 'select nowhere', 'rollback', 'begin', 'rollback')
    expect(await say('fetch a', 'fetch b')).toEqual([
      'T n',
      'D 1',
      'C FETCH 1',
      'Z I',
      'T n',
      'D 1',
      'C FETCH 1',
      'Z I',
    ])
  })

  test.each([
    ['declare c cursor with hold for select n from three; select nowhere', false],
    ['declare c cursor with hold for select n from three; rollback', false],
    ['declare c cursor with hold for select n from three; commit; select nowhere', true],
    ['begin; commit; declare c cursor with hold for select n from three; select nowhere', false],
  ])(
    'WITH HOLD go with the transaction of one Query that fails or is rolled back: %s',
    async (text, stays) => {
      await say(text)
      expect(await say('fetch c')).toContain(stays ? 'D 1' : 'E 34000 cursor "c" does not exist')
    },
  )

  test('WITH HOLD go with a pipeline that fails', async () => {
    const declare = parse('declare c cursor with hold for select n from three')
    await client.ask(declare, bind(), execute(), parse('select nowhere'), sync())
    expect(await say('fetch c')).toContain('E 34000 cursor "c" does not exist')
  })

  test('that have failed are not at their end: what is fetched then is refused', async () => {
    const refused = 'E 55000 the portal cannot be run: it has failed before its end'
    await say('begin', 'declare c cursor for select n from failing', 'savepoint s')
    expect(await say('fetch 1 c', 'fetch 5 c')).toContain('E 58000 The engine failed.')
    expect(await say('rollback to s', 'fetch 5 c')).toContain(refused)
    await say('rollback', 'declare h cursor with hold for select n from failing')
    expect(await say('fetch 5 h')).toContain('E 58000 The engine failed.')
    expect(await say('fetch 5 h', 'move all h')).toEqual(['T n', refused, 'Z I', refused, 'Z I'])
  })

  test('BINARY send a Query binary values, and Bind what it asks for', async () => {
    await say('begin', 'declare b binary cursor for select n from three')
    client.send(query('fetch b'), parse('fetch b'), bind(), execute(), sync())
    const [one, two] = [await client.until('Z'), await client.until('Z')]
    const values = [...one, ...two].filter(({ type }) => type === 'D').map(({ body }) => body.subarray(6))
    expect(values.map(String)).toEqual(['\0\0\0\x01', '2'])
    expect(one[0]?.body.at(-1)).toBe(1)
  })

  test('made behind a savepoint go with it', async () => {
    await say('begin', 'declare a cursor for select n from three', 'savepoint s')
    await say('declare b cursor for select n from three', 'rollback to s')
    expect((await say('fetch a'))[1]).toBe('D 1')
    expect((await say('fetch b'))[0]).toStartWith('E 34000')
  })

  test('take the parameters of the statement that declares them, and send what FETCH asks for', async () => {
    await say('begin')
    await client.ask(parse('declare c cursor for select $1'), bind({ parameters: ['hi'] }), execute(), sync())
    expect(
      await client.ask(
        parse('fetch all from c'),
        describeFrame('S'),
        bind({ resultFormats: [1] }),
        execute(),
        sync(),
      ),
    ).toEqual(['1', 't ', 'T x', '2', 'D hi', 'C FETCH 1', 'Z T'])
  })

  test.each([
    ['declare c cursor for select n from three', '25P01'],
    ['begin; declare c cursor for select n from three; declare c cursor for select n from three', '42P03'],
    ['begin; declare c no scroll cursor for select n from three; fetch c; fetch prior c', '55000'],
    ['begin; declare c no scroll cursor for select n from three; fetch 2 c; fetch absolute 1 c', '55000'],
  ])('%s is refused with %s', async (text, sqlState) => {
    expect((await say(text)).find((answer) => answer.startsWith('E'))).toStartWith(`E ${sqlState}`)
  })
})

test('a Parse that is refused leaves no unnamed statement of before to be run', async () => {
  for (const text of ['select nowhere', 'selec', 'select n from three; select n from three']) {
    await client.ask(parse('select n from three'), sync())
    await client.ask(parse(text), sync())
    expect(await client.ask(bind(), execute(), sync())).toEqual([
      'E 26000 prepared statement "" does not exist',
      'Z I',
    ])
  }
})

describe('prepared statements in SQL', () => {
  test('are prepared, run with constants, and forgotten', async () => {
    expect(
      await say('prepare p (text) as select $1', "execute p('a;b')", 'deallocate p', 'execute p'),
    ).toEqual([
      ...['C PREPARE', 'Z I'],
      ...['T x', 'D a;b', 'C SELECT 1', 'Z I'],
      ...['C DEALLOCATE', 'Z I'],
      ...['E 26000 prepared statement "p" does not exist', 'Z I'],
    ])
  })
})

test('EXECUTE runs no EXECUTE, itself least of all, which would never end', async () => {
  await client.ask(parse('execute p', 'p'), parse('execute q', 'r'), parse('execute r', 'q'), sync())
  const refused = 'E 0A000 EXECUTE of a statement that is EXECUTE is not supported'
  for (const name of ['p', 'q', 'r']) {
    expect(await client.ask(describeFrame('S', name), sync())).toContain(refused)
    expect(await client.ask(bind({ statement: name }), execute(), sync())).toEqual([refused, 'Z I'])
    expect(await say(`execute ${name}`)).toEqual([refused, 'Z I'])
  }
})

test('EXECUTE with another number of parameters than PREPARE has is refused with 42601', async () => {
  await say('prepare p(text) as select $1')
  for (const text of ['execute p', "execute p('a', 'b')"])
    expect(await say(text)).toEqual(['E 42601 wrong number of parameters for prepared statement "p"', 'Z I'])
})

describe('COPY to STDOUT', () => {
  test('sends a query, a table or columns of it', async () => {
    for (const [text, count] of [
      ['copy (select n from three) to stdout', 3],
      ['copy s.three to stdout (format csv, header)', 3],
      ['copy three (n) to stdout with (format binary)', 3],
    ] as const) {
      client.send(query(text))
      const answers = await client.until('Z')
      expect(answers.map(({ type }) => type).join('')).toMatch(/^Hd+cCZ$/)
      expect(answers.at(-2)?.body.toString()).toBe(`COPY ${count}\0`)
    }
  })

  test.each([
    ["quote ''''", `'it''s "so"'\n`],
    ["quote '''', escape '\"'", `'it"'s ""so""'\n`],
    ["escape ''''", `"it''s '"so'""\n`],
  ])('(%s) escapes by the quote unless another character is given', async (options, line) => {
    client.send(query(`copy (select quoted) to stdout (format csv, ${options})`))
    const sent = (await client.until('Z')).find(({ type }) => type === 'd')
    expect(sent?.body.toString()).toBe(line)
  })

  test.each([
    ["copy three to '/etc/passwd'", '42501'],
    ["copy (select n from three) to program 'sh'", '42501'],
    ['copy three from stdin', '25006'],
    ["copy three to stdout (delimiter 'ab')", '22023'],
    ["copy three to stdout (format 'parquet')", '22023'],
    ['copy (select n from three) to stdout (freeze)', '0A000'],
  ])('%s is refused with %s', async (text, sqlState) => {
    expect((await say(text)).find((answer) => answer.startsWith('E'))).toStartWith(`E ${sqlState}`)
  })
})

describe('a query inside of a statement', () => {
  test.each([
    ['copy (select nowhere) to stdout', 14],
    ['select n from three; declare ä cursor with hold for select nowhere', 60],
    ['prepare p as select nowhere', 21],
    ['/* ä */ explain (verbose) select nowhere', 34],
    ['copy nowhere to stdout', undefined],
  ])('%s is refused at its place in the whole text', async (text, position) => {
    await using other = await startWire({
      queries: { 'select n from three': numbers(3) },
      parts: {
        explain: async () => {
          throw new SqlError('42P01', 'The relation does not exist.', 7)
        },
      },
    })
    const steward = await other.logIn()
    steward.send(query(text))
    const error = (await steward.until('Z')).find(({ type }) => type === 'E')
    steward.close()
    expect(error && reportFields(error)).toMatchObject({
      C: '42P01',
      ...(position && { P: String(position) }),
    })
    expect(error && 'P' in reportFields(error)).toBe(position !== undefined)
  })

  test.each([
    'copy /* ) */ (select n from three) /* ( */ to stdout',
    'explain /* ( */ (costs off) select n from three',
    'prepare c /* as */ as select n from three',
  ])('%s is found behind comments', async (text) => {
    expect((await say(text)).filter((answer) => answer.startsWith('E'))).toEqual([])
  })
})

describe('EXPLAIN', () => {
  const costs = 'cost=100.00..100.10 rows=10 width=4'

  test('shows everybody what would run for them, its costs at the end of the first line', async () => {
    await using other = await startWire({ parts: { credentials: testCredentials([]) } })
    const reader = await other.logIn()
    expect(await reader.ask(query('explain select n from three'))).toEqual([
      'T QUERY PLAN',
      `D Foreign Scan  (${costs})`,
      'D   Explained: select n from three for ada',
      'C EXPLAIN',
      'Z I',
    ])
    reader.close()
  })

  test.each([
    ['explain verbose select n from three', [`Foreign Scan  (${costs})`, '  Output: n']],
    ['explain (verbose on, costs off) select n from three', ['Foreign Scan', '  Output: n']],
    ['explain (analyze false, buffers, timing 0) select n from three', [`Foreign Scan  (${costs})`]],
  ])('takes the options of %s', async (text, lines) => {
    const last = '  Explained: select n from three for ada'
    expect((await say(text)).slice(1, -2)).toEqual([...lines, last].map((line) => `D ${line}`))
  })

  test('gives a plan as JSON, in a column of that type', async () => {
    const client = await wire.logIn()
    client.send(query('explain (format json, verbose) select n from three'))
    const messages = await client.until('Z')
    client.close()
    const [described, row] = messages
    expect(described?.body.readUInt32BE(2 + 'QUERY PLAN'.length + 1 + 6)).toBe(114)
    expect(JSON.parse(row?.body.subarray(6).toString() ?? '')).toEqual([
      {
        Plan: {
          ...{ 'Node Type': 'Foreign Scan', 'Parallel Aware': false, 'Async Capable': false },
          ...{ 'Startup Cost': 100, 'Total Cost': 100.1, 'Plan Rows': 10, 'Plan Width': 4 },
          ...{ Output: ['n'], Explained: 'select n from three for ada' },
        },
      },
    ])
  })

  test('explains a prepared statement with the values that EXECUTE gives', async () => {
    const client = await wire.logIn()
    await client.ask(query('prepare p as select $1'))
    expect((await client.ask(query("explain (costs off) execute p('x')")))[2]).toBe(
      'D   Explained: select $1, x for ada',
    )
    expect((await client.ask(query('explain (costs off) execute p(null)')))[2]).toBe(
      'D   Explained: select $1,  for ada',
    )
    expect((await client.ask(query('explain execute p')))[0]).toStartWith('E 42601 wrong number')
    client.close()
  })

  test('describes the parameters of what it explains, and takes their values', async () => {
    const text = 'explain (costs off) select $1'
    client.send(parse(text), describeFrame('S'), bind({ parameters: ['y'] }), execute(), sync())
    const said = (await client.until('Z')).map(({ type }) => type)
    expect(said.join('')).toBe('1tT2DDCZ')
  })

  test.each([
    ['explain analyze select n from three', '0A000'],
    ['explain (format xml) select n from three', '0A000'],
    ['explain (format toml) select n from three', '22023'],
    ['explain (colour) select n from three', '42601'],
    ['explain (costs maybe) select n from three', '42601'],
    ['explain delete from three', '0A000'],
    ['explain execute nothing', '26000'],
  ])('%s is refused with %s, and runs nothing', async (text, code) => {
    const before = wire.runs.length
    expect((await say(text))[0]).toStartWith(`E ${code}`)
    expect(wire.runs).toHaveLength(before)
  })
})
