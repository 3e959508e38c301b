/** Statements about the system catalog are relayed to an embedded PostgreSQL. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { CatalogService, CatalogSession } from '../../../src/server/pgwire/catalog-service.ts'
import { backend } from '../../../src/wire/postgres/protocol.ts'
import {
  numbers,
  startWire,
  testCredentials,
  testSecret,
  testTenant,
  type WireService,
} from '../../support/pgwire.ts'
import { frames, spoken, type WireClient } from '../../support/wire-client.ts'
import { cutMessages } from '../../support/wire-messages.ts'

setDefaultTimeout(300_000)
const { query, parse, bind, describe: describeFrame, execute, sync, terminate } = frames

let postgres: PGlite
let wire: WireService
let client: WireClient
const credentials = testCredentials()
const sessions: CatalogSession[] = []
beforeAll(async () => {
  postgres = await PGlite.create()
  const catalog: CatalogService = {
    covers: (sql) => (/pg_mixed/.test(sql) ? 'mixed' : /pg_|version\(\)/.test(sql) ? 'catalog' : 'data'),
    async execute(session, frontend) {
      sessions.push(session)
      const messages = cutMessages(await postgres.execProtocolRaw(Uint8Array.from(frontend)))
      return Buffer.concat(
        messages.filter(({ type }) => type !== backend.readyForQuery).map(({ bytes }) => bytes),
      )
    },
  }
  wire = await startWire({ queries: { 'select n from three': numbers(3) }, parts: { catalog, credentials } })
  client = await wire.logIn()
})
afterAll(async () => {
  client.close()
  await wire[Symbol.asyncDispose]()
  await postgres.close()
})

const typnames = "select typname, oid from pg_type where typname in ('int2', 'int4', 'int8') order by 1"

test('the catalog is given what the connection has prepared, with its types', async () => {
  const own = await wire.logIn()
  await own.ask(
    parse('select n from three', 'data'),
    parse(typnames, 'catalog'),
    parse('select n from three', ''),
    sync(),
  )
  await own.ask(query('prepare p as select n from three'))
  await own.ask(query('select name from pg_prepared_statements'))
  own.close()
  expect(sessions.at(-1)?.prepared?.()).toEqual(
    [
      ['data', 'select n from three', [23], false],
      ['catalog', typnames, [19, 26], false],
      ['p', 'prepare p as select n from three', [23], true],
    ].map(([name, statement, result_types, from_sql]) => ({
      ...{ name, statement, parameter_types: [], result_types, from_sql },
      prepare_time: expect.stringMatching(/^2/),
    })) as never,
  )
})

describe('a catalog statement', () => {
  test('is answered in the simple protocol, as who is connected', async () => {
    await client.ask(query('set search_path to sales'))
    expect(await client.ask(query(typnames))).toEqual([
      'T typname|oid',
      'D int2|21',
      'D int4|23',
      'D int8|20',
      'C SELECT 3',
      'Z I',
    ])
    expect(sessions.at(-1)).toMatchObject({
      tenant: testTenant,
      principal: { sub: 'ada' },
      catalog: 'main',
      searchPath: ['sales'],
      backendPid: client.processId,
    })
    expect(sessions.at(-1)?.settings.get('search_path')).toBe('sales')
  })

  test('tells nothing to a revoked credential, by Bind alone neither', async () => {
    const text = 'select 1 / count(*) from pg_class where relname = $1'
    for (const name of ['pg_class', 'there is none']) {
      const revoked = await wire.logIn()
      await revoked.ask(parse(text, 's'), sync())
      credentials.valid = false
      revoked.send(bind({ statement: 's', parameters: [name] }), sync(), terminate())
      const answers = (await revoked.until('never')).map(spoken)
      credentials.valid = true
      expect(answers).toEqual(['E 57P01 the session was revoked or has expired'])
    }
  })

  test('is answered in the extended protocol, with row limits and binary values', async () => {
    expect(
      await client.ask(
        parse('select oid::int4 from pg_type where oid = any($1) order by 1', 's'),
        describeFrame('S', 's'),
        bind({ statement: 's', parameters: ['{21,23,20}'], resultFormats: [1] }),
        describeFrame('P'),
        execute('', 2),
        execute('', 2),
        sync(),
      ),
    ).toEqual([
      ...['1', 't 1028', 'T oid', '2', 'T oid'],
      ...['D \0\0\0\x14', 'D \0\0\0\x15', 's', 'D \0\0\0\x17', 'C SELECT 1', 'Z I'],
    ])
  })

  test('is read by a cursor', async () => {
    await client.ask(query(`begin; declare c cursor for ${typnames}`))
    expect(await client.ask(query('fetch 2 from c; fetch 2 from c; commit'))).toEqual([
      ...['T typname|oid', 'D int2|21', 'D int4|23', 'C FETCH 2'],
      ...['T typname|oid', 'D int8|20', 'C FETCH 1', 'C COMMIT', 'Z I'],
    ])
  })

  test('that fails is refused with its SQLSTATE, without hint, in both protocols', async () => {
    expect((await client.ask(query('select nothing from pg_type')))[0]).toStartWith('E 42703')
    expect(
      (await client.ask(parse('select nothing from pg_type'), bind(), execute(), sync()))[0],
    ).toStartWith('E 42703')
    await client.ask(query('begin'))
    expect((await client.ask(query('select nothing from pg_type'))).at(-1)).toBe('Z E')
    await client.ask(query('rollback'))
  })

  test('that reads governed tables too is refused', async () => {
    expect((await client.ask(query('select * from pg_mixed')))[0]).toStartWith('E 0A000')
  })

  test('stands in one text with statements about data', async () => {
    const answers = await client.ask(
      query(`${typnames}; select n from three; select version() ~ 'PostgreSQL' as v`),
    )
    expect(answers.filter((answer) => answer.startsWith('C'))).toEqual([
      'C SELECT 3',
      'C SELECT 3',
      'C SELECT 1',
    ])
  })

  test('is read by a driver, simple and prepared', async () => {
    const driver = new pg.Client({
      host: '127.0.0.1',
      port: wire.port,
      user: 'ada',
      database: 'main',
      password: testSecret,
    })
    await driver.connect()
    const { rows } = await driver.query('select typname from pg_type where oid = $1', [23])
    expect(rows).toEqual([{ typname: 'int4' }])
    await driver.end()
  })
})
