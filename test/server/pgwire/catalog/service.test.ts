/** The catalog in one session, beside a foreign tenant that has tables of the same names. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { newTenantId, type TenantId } from '../../../../src/core/tenant.ts'
import { limits } from '../../../../src/limits.ts'
import {
  type OpenCatalogService,
  openCatalogService,
} from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import type { ShadowTable } from '../../../../src/server/pgwire/catalog/shadow-table.ts'
import type { CatalogSession } from '../../../../src/server/pgwire/catalog-service.ts'
import { eventually } from '../../../support/eventually.ts'
import { roundsOf } from '../../../support/long-form.ts'
import { testCatalogOptions } from './compare.ts'
import { foreignTables, sampleTables } from './sample-catalog.ts'
import { type Answer, extended, frame, query, readAnswer } from './wire.ts'

setDefaultTimeout(300_000)

const home = newTenantId()
const foreign = newTenantId()
let tables: ReadonlyMap<TenantId, readonly ShadowTable[]>
let mark = 0
let service: OpenCatalogService

beforeAll(() => {
  tables = new Map([
    [home, sampleTables],
    [foreign, foreignTables],
  ])
  service = openCatalogService({
    source: {
      mark: async () => ({ text: String(mark), tableCount: 0 }),
      tables: async (tenant) => tables.get(tenant) ?? [],
    },
    activity: ({ backendPid }) => [
      {
        pid: backendPid,
        application_name: 'a client',
        client_addr: '192.0.2.1',
        client_port: 5000,
        backend_start: '2026-01-01T00:00:00Z',
        query_start: '2026-01-01T00:00:01Z',
        state: 'active',
        query: 'select 1',
        ssl: true,
        version: 'TLSv1.3',
        cipher: 'TLS_AES_128_GCM_SHA256',
      },
    ],
    ...testCatalogOptions,
  })
})
afterAll(() => service.close())

function sessionOf(changes: Partial<CatalogSession> & { readonly sub?: string } = {}): CatalogSession {
  const { sub = 'alice', ...rest } = changes
  return {
    tenant: home,
    principal: { sub, roles: [] },
    catalog: 'lake',
    searchPath: ['sales', 'public'],
    settings: new Map(),
    backendPid: 4711,
    ...rest,
  }
}

const send = async (messages: Uint8Array, session = sessionOf()): Promise<Answer> =>
  readAnswer(await service.execute(session, messages))
const rows = async (text: string, session = sessionOf()) => {
  const { rows: found, error } = await send(query(text), session)
  if (error) throw new Error(error.message)
  return found
}
const code = async (text: string, session = sessionOf()) => (await send(query(text), session)).error?.code

const ownTables = `select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1, 2`

describe('tenants', () => {
  test('each sees its own tables, however the two take turns', async () => {
    const theirs = sessionOf({ tenant: foreign, sub: 'mallory' })
    for (const _ of [1, 2]) {
      expect(await rows(ownTables)).toEqual([
        ['hr.eu', 'People'],
        ['sales', 'customers'],
        ['sales', 'orders'],
      ])
      expect(await rows(ownTables, theirs)).toEqual([
        ['sales', 'orders'],
        ['secret_schema', 'secret_table'],
      ])
    }
  })

  test('no catalog holds a name of another, nor of its principals, in any column', async () => {
    await rows('select version()', sessionOf({ tenant: foreign, sub: 'mallory' }))
    const everything: unknown[] = []
    for (const relation of [
      ...['pg_class', 'pg_attribute', 'pg_type', 'pg_namespace', 'pg_roles', 'pg_database', 'pg_description'],
      ...['pg_shdescription', 'pg_settings', 'pg_constraint', 'pg_stat_user_tables', 'pg_stat_database'],
      ...['pg_depend', 'pg_shdepend', 'pg_index', 'pg_tables', 'pg_locks', 'pg_stats'],
      ...['tables', 'columns', 'schemata', 'table_privileges'].map((name) => `information_schema.${name}`),
    ])
      everything.push(...(await rows(`select x::text from ${relation} x`)))
    expect(everything.length).toBeGreaterThan(4_000)
    expect(JSON.stringify(everything)).not.toMatch(/secret_|their_column|mallory/)
    expect(JSON.stringify(everything)).not.toContain(foreign)
    expect(JSON.stringify(everything)).not.toContain(home)
  })

  test('no catalog says how many rows a table has, or what its columns hold', async () => {
    const own = `n.nspname in ('sales', 'hr.eu')`
    const of = `from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${own}`
    expect(await rows(`select relname, reltuples, relpages, relallvisible ${of} and relkind = 'r'`)).toEqual(
      expect.arrayContaining([['orders', '-1', '0', '0']]),
    )
    expect(await rows(`select count(*) ${of} and (reltuples > 0 or relpages > 1)`)).toEqual([['0']])
    expect(
      await rows(
        `select sum(n_live_tup), sum(n_dead_tup), sum(n_tup_ins), max(last_analyze), max(last_autoanalyze) from pg_stat_user_tables n`,
      ),
    ).toEqual([['0', '0', '0', null, null]])
    expect(await rows(`select count(*) from pg_stats where schemaname in ('sales', 'hr.eu')`)).toEqual([
      ['0'],
    ])
    expect(await rows(`select count(*) from pg_statistic_ext`)).toEqual([['0']])
  })

  test('a name, an OID or a privilege of another is as if it were not there', async () => {
    const theirs = sessionOf({ tenant: foreign })
    const [[oid]] = (await rows(`select 'secret_schema.secret_table'::regclass::oid`, theirs)) as [[string]]
    expect(
      await rows(`select to_regclass('secret_schema.secret_table'), to_regnamespace('secret_schema')`),
    ).toEqual([[null, null]])
    expect(
      await rows(`select ${oid}::regclass, pg_table_is_visible(${oid}), obj_description(${oid}, 'pg_class')`),
    ).toEqual([[oid, null, null]])
    expect(await code(`select 'secret_schema.secret_table'::regclass`)).toBe('42P01')
    expect(await code(`select has_table_privilege('secret_schema.secret_table', 'select')`)).toBe('3F000')
  })

  test('an OID stays what it was when a catalog was away meanwhile, and is the same on another replica', async () => {
    const text = `select 'orders'::regclass::oid, 'orders'::regtype::oid, 'sales'::regnamespace::oid`
    const before = await rows(text)
    for (const tenant of [foreign, newTenantId(), newTenantId()])
      await rows('select version()', sessionOf({ tenant }))
    expect(await rows(text)).toEqual(before)
    const replica = openCatalogService({
      source: {
        mark: async () => ({ text: '', tableCount: 0 }),
        tables: async () => sampleTables.toReversed(),
      },
      activity: () => [],
      ...testCatalogOptions,
    })
    const answer = readAnswer(await replica.execute(sessionOf(), query(text)))
    replica.close()
    expect(answer.rows).toEqual(before)
  })

  test('a table that is no longer readable is gone from the next statement on', async () => {
    const kept = sampleTables.filter(({ tableName }) => tableName !== 'orders')
    tables = new Map([...tables, [home, kept]])
    mark += 1
    expect((await rows(ownTables)).map(([, name]) => name)).toEqual(['People', 'customers'])
    tables = new Map([...tables, [home, sampleTables]])
    mark += 1
    expect((await rows(ownTables)).map(([, name]) => name)).toEqual(['People', 'customers', 'orders'])
  })
})

describe('the session', () => {
  test('sees its own principal, catalog, path, process id and the version that clients are told', async () => {
    expect(
      await rows(`select current_user, session_user, current_role, current_database(), current_catalog,
        current_schema(), current_schemas(true), pg_backend_pid(), current_setting('server_version'),
        current_setting('server_version_num'), split_part(version(), ' ', 2)`),
    ).toEqual([
      [
        ...['alice', 'alice', 'alice', 'lake', 'lake', 'sales', '{pg_catalog,sales,public}', '4711', '14.20'],
        ...['140020', '14.20'],
      ],
    ])
    expect(
      await rows(`select name, setting from pg_settings where name ~ '^server_version|^svc' order by 1`),
    ).toEqual([
      ['server_version', '14.20'],
      ['server_version_num', '140020'],
    ])
  })

  test('sees no principal but its own, also after others', async () => {
    await rows('select version()', sessionOf({ sub: 'bob' }))
    const roles = `select rolname from pg_roles where rolname !~ '^pg_' order by 1`
    expect(await rows(roles)).toEqual([['alice'], ['covenant']])
    expect(await rows('select usename from pg_user order by 1')).toEqual([['alice'], ['covenant']])
  })

  test.each([
    'covenant',
    'reader',
    'Robert"); drop schema sales cascade; --',
    "o'hara",
    'ünïcode 名前',
    'postgres',
  ])('may belong to a principal of any name: %s', async (sub) => {
    expect(await rows('select current_user, session_user', sessionOf({ sub }))).toEqual([[sub, sub]])
    expect((await rows(ownTables)).length).toBe(3)
  })

  test('cuts a subject to what PostgreSQL holds as a name, and refuses one that PostgreSQL keeps for itself', async () => {
    const sub = 'ä'.repeat(40)
    expect(await rows('select current_user', sessionOf({ sub }))).toEqual([['ä'.repeat(31)]])
    for (const reserved of ['pg_monitor', 'public', 'none', '', 'a\0b'])
      expect(await code('select current_user', sessionOf({ sub: reserved }))).toBe('08P01')
  })

  test('reads tables and schemas and has no other privilege', async () => {
    expect(
      await rows(`select has_table_privilege('orders', 'select'), has_table_privilege('orders', 'insert, update, delete'),
        has_schema_privilege('sales', 'usage'), has_schema_privilege('sales', 'create'),
        has_database_privilege(current_database(), 'create'), rolsuper, rolcreaterole
        from pg_roles where rolname = current_user`),
    ).toEqual([['t', 'f', 't', 'f', 'f', 'f', 'f']])
  })

  test('has its settings, and leaves none behind', async () => {
    const settings = new Map([
      ['TimeZone', 'Asia/Tokyo'],
      ['DateStyle', 'German'],
      ['application_name', "it's"],
    ])
    const text = `select current_setting('timezone'), current_setting('datestyle'), current_setting('application_name')`
    const before = await rows(text)
    expect(await rows(text, sessionOf({ settings }))).toEqual([['Asia/Tokyo', 'German, DMY', "it's"]])
    expect(await rows(text)).toEqual(before)
  })

  test('cannot have texts read in another way than they were checked', async () => {
    const settings = new Map([['standard_conforming_strings', 'off']])
    expect(await rows(`select '\\' from pg_class limit 1`, sessionOf({ settings }))).toEqual([['\\']])
  })

  test('reads pg_catalog before a table of the same name, whatever its search path says', async () => {
    const tenant = newTenantId()
    const columns = [{ name: 'x', type: 'text' as const, notNull: false }]
    tables = new Map([...tables, [tenant, [{ schemaName: 'sales', tableName: 'pg_class', columns }]]])
    const session = sessionOf({ tenant, searchPath: ['sales', 'pg_catalog'] })
    expect(await rows('select count(*) > 300 from pg_class', session)).toEqual([['t']])
  })

  test('reports a setting that PostgreSQL refuses, which affects no other client', async () => {
    const settings = new Map([['TimeZone', 'nowhere']])
    expect(await code('select version()', sessionOf({ settings }))).toBe('22023')
    expect(await code('select version()')).toBeUndefined()
  })

  test('has its tables in a database whose OID is that of a user’s, the only one', async () => {
    expect(await rows('select oid, datname, datistemplate from pg_database')).toEqual([
      ['16384', 'lake', 'f'],
    ])
    expect(await rows("select current_database(), has_database_privilege(16384, 'connect')")).toEqual([
      ['lake', 't'],
    ])
  })

  test('is told by an analysis of what there is none, and nothing is run', async () => {
    const analyse = async (text: string) => {
      const answer = await service.analyse?.(
        sessionOf(),
        Buffer.concat([frame('P', '', text, [0, 0]), frame('S')]),
      )
      return readAnswer(answer ?? new Uint8Array()).error
    }
    expect((await analyse('select * from pg_catalog.pg_nosuch, pg_class'))?.code).toBe('42P01')
    expect((await analyse('select pg_nosuch(relname) from pg_class'))?.code).toBe('42883')
    expect(await analyse("select pg_read_file('/etc/passwd') from pg_class")).toBeUndefined()
    expect(await analyse('select pg_sleep(100) from pg_class')).toBeUndefined()
    expect((await analyse('delete from pg_class'))?.code).toBe('0A000')
    expect((await analyse('select 1 from pg_class; select 2'))?.code).toBe('0A000')
    const run = await service.analyse?.(sessionOf(), query('select pg_nosuch(1) from pg_class'))
    expect(readAnswer(run ?? new Uint8Array()).error?.code).toBe('08P01')
  })

  test('sees the connections that it is given as its own', async () => {
    expect(
      await rows(
        'select pid, datname, usename, application_name, client_addr, state, query from pg_stat_activity',
      ),
    ).toEqual([['4711', 'lake', 'alice', 'a client', '192.0.2.1', 'active', 'select 1']])
    expect(await rows('select pid, ssl, version, cipher from pg_stat_ssl')).toEqual([
      ['4711', 't', 'TLSv1.3', 'TLS_AES_128_GCM_SHA256'],
    ])
  })
})

test('a session sees what it prepared, and whether its server encrypts', async () => {
  const prepared = () => [
    {
      ...{ name: 'p1', statement: 'select $1', prepare_time: '2026-01-01T00:00:00Z' },
      ...{ parameter_types: [23, 1009], result_types: null, from_sql: false },
    },
  ]
  const own = { prepared, settings: new Map([['ssl', 'on']]) }
  const ask = (text: string) => send(query(text), sessionOf(own))
  const columns = 'name, statement, parameter_types, result_types, from_sql, generic_plans'
  expect((await ask(`select ${columns} from pg_prepared_statements`)).rows).toEqual([
    ['p1', 'select $1', '{integer,text[]}', null, 'f', '0'],
  ])
  expect((await ask(`select current_setting('ssl')`)).rows).toEqual([['on']])
  expect((await ask(`select setting from pg_settings where name = 'ssl'`)).rows).toEqual([['on']])
  expect(await rows('select name from pg_prepared_statements')).toEqual([])
})

describe('messages', () => {
  test('of the extended protocol are answered in order, without ReadyForQuery', async () => {
    const answer = await send(extended('select relname from pg_class where relname = $1', ['orders']))
    expect(answer.types).toBe('12TDC')
    expect(answer.rows).toEqual([['orders']])
  })

  test('of several statements in one Query are answered up to the first error', async () => {
    const answer = await send(
      query('select relname from pg_class where relname = $$orders$$; select nothing from pg_type'),
    )
    expect([answer.types, answer.error?.code]).toEqual(['TDCE', '42703'])
  })

  test('leave no prepared statement and no portal to the next call, whosever it is', async () => {
    const statement = extended('select current_user', [], 'mine')
    expect((await send(statement)).error).toBeUndefined()
    const bind = (name: string) =>
      Buffer.concat([frame('B', '', name, [0, 0, 0, 0, 0, 0]), frame('E', '', [0, 0, 0, 0]), frame('S')])
    for (const name of ['mine', '']) {
      await send(extended('select current_user', [], name))
      expect((await send(bind(name), sessionOf({ sub: 'bob' }))).error?.code).toBe('26000')
    }
    expect((await send(Buffer.concat([frame('E', '', [0, 0, 0, 0]), frame('S')]))).error?.code).toBe('34000')
  })

  test('of other types are refused, a call of a function above all', async () => {
    for (const type of ['F', 'd', 'X', 'p', '\u0001'])
      expect((await send(frame(type, [0, 0, 0, 0]))).error?.code).toBe('08P01')
  })

  test('that are cut, that lie about their length or that are not UTF-8 are refused', async () => {
    const whole = query('select version()')
    for (let length = 1; length < whole.length; length += 1)
      expect((await send(whole.subarray(0, length))).error?.code).toBe('08P01')
    for (const bytes of [
      [0x51, 0xff, 0xff, 0xff, 0xff, 0],
      [0x51, 0, 0, 0, 0],
      [0x51, 0, 0, 0, 6, 0xff, 0],
      [0x51, 0, 0, 0, 5, 0x61],
    ])
      expect((await send(new Uint8Array(bytes))).error?.code).toBe('08P01')
  })

  test('of any bytes are answered or refused, and the next statement is answered', async () => {
    const sound = Buffer.concat([
      extended('select relname from pg_class where relname = $1 and oid > $2', ['orders', '1'], 'named'),
      query('select current_user'),
    ])
    const cut = fc.record({
      at: fc.nat(sound.length - 1),
      count: fc.integer({ min: 0, max: 4 }),
      by: fc.uint8Array({ maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 3 }), async (cuts) => {
        const bytes = cuts.reduce(
          (whole, { at, count, by }) =>
            Buffer.concat([whole.subarray(0, at), by, whole.subarray(at + count)]),
          Buffer.from(sound),
        )
        const { error, rows: found } = await send(bytes)
        if (!error) expect(JSON.stringify(found)).toMatch(/^\[(?:\["orders"\],?)?(?:\["alice"\])?\]$/)
        expect(await rows('select current_user', sessionOf({ sub: 'bob' }))).toEqual([['bob']])
      }),
      { seed: 9, numRuns: roundsOf(300) },
    )
  })

  test('whose lengths inside are wrong are refused by the database, which lives on', async () => {
    const parse = frame('P', '', 'select current_user, $1::text', [0, 0])
    const numbers = fc.array(fc.constantFrom(0, 1, 2, 3, 127, 128, 255), { maxLength: 24 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('B', 'D', 'E', 'C', 'P'), numbers, async (type, body) => {
        await send(Buffer.concat([parse, frame(type, body), frame('E', '', [0, 0, 0, 0]), frame('S')]))
        expect(await rows('select current_user', sessionOf({ sub: 'bob' }))).toEqual([['bob']])
      }),
      { seed: 9, numRuns: roundsOf(300) },
    )
  })

  test('with errors say severity, code, message and position, and nothing else', async () => {
    const { error } = await send(query('select relnam from pg_class'))
    expect([error?.code, error?.fields]).toEqual(['42703', 'SVCMP'])
  })
})

describe('what is refused', () => {
  test.each([
    ['select * from sales.orders', '0A000'],
    ['select * from pg_class, sales.orders', '0A000'],
    ['select pg_sleep(1) from pg_class', '0A000'],
    ["select set_config('role', 'covenant', true) from pg_class", '0A000'],
    ['drop schema sales cascade', '0A000'],
    ['commit', '0A000'],
    ['reset session authorization', '0A000'],
    ['select version(); commit', '0A000'],
    // A function can be called as if it were a column of a value: the database refuses it too.
    ['select (1).pg_sleep from pg_class', '42501'],
    ['select x.pg_sleep from generate_series(1, 2) x, pg_class', '42501'],
    ["select ('pg_hba.conf'::text).pg_read_file from pg_class", '42501'],
    ["select ('select 1'::text).pg_ls_dir from pg_class", '42501'],
  ])('%s', async (text, expected) => {
    expect(await code(text)).toBe(expected)
    expect((await rows(ownTables)).length).toBe(3)
  })

  test('a statement that takes too long is ended, and the next is answered', async () => {
    const hasty = openCatalogService({
      source: { mark: async () => ({ text: '', tableCount: 0 }), tables: async () => sampleTables },
      activity: () => [],
      ...testCatalogOptions,
      statementMs: 2_000,
    })
    const ask = async (text: string) => readAnswer(await hasty.execute(sessionOf(), query(text)))
    const endless = 'select count(*) from pg_proc a, pg_proc b, pg_proc c'
    expect((await ask(endless)).error?.code).toBe('57014')
    expect((await ask('select version()')).rows.length).toBe(1)
    hasty.close()
  })

  test('an answer that is too large is cut off as an error, and the next is answered', async () => {
    expect(await code(`select repeat('x', 1000000) from generate_series(1, 70) g, pg_class limit 70`)).toBe(
      '54000',
    )
    expect((await rows(ownTables)).length).toBe(3)
  })

  test.each([
    ['memory', '53200', "select length(repeat('x', 1000000000)), current_user"],
    ['temporary files', '53400', 'select count(*), current_user from generate_series(1, 100000000)'],
  ])(
    '%s beyond what a database may take is refused with %s, and the next is answered',
    async (_, sqlState, text) => {
      expect(await code(text)).toBe(sqlState)
      expect((await rows(ownTables)).length).toBe(3)
    },
  )

  test('a catalog with more tables than may be shown is refused whole', async () => {
    const tenant = newTenantId()
    const [table] = foreignTables as [ShadowTable]
    tables = new Map([
      ...tables,
      [
        tenant,
        Array.from({ length: limits.catalogTablesMax + 1 }, (_, i) => ({ ...table, tableName: `t${i}` })),
      ],
    ])
    const kind = await service.execute(sessionOf({ tenant }), query('select version()')).then(
      () => 'an answer',
      (fault) => fault.kind,
    )
    expect(kind).toBe('unprocessable')
  })
})

describe('keys', () => {
  const column = (name: string, type: 'int8' | 'text' = 'int8') => ({ name, type, notNull: false })
  const table = (tableName: string, more: Partial<ShadowTable> = {}): ShadowTable => ({
    schemaName: 's',
    tableName,
    columns: [column('id'), column('other'), column('text', 'text')],
    ...more,
  })
  const refer = (columns: string[], tableName: string, referencedColumns: string[]) => ({
    foreignKeys: [{ columns, schemaName: 's', tableName, referencedColumns }],
  })
  const constraints = async (shown: readonly ShadowTable[]) => {
    const tenant = newTenantId()
    tables = new Map([...tables, [tenant, shown]])
    return rows(
      `select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint
       where conrelid > 16384 and contype <> 'n' order by conrelid::regclass::text, 2`,
      sessionOf({ tenant, searchPath: ['s'] }),
    )
  }

  test('that a contract declares are shown', async () => {
    const shown = await constraints([
      table('a', { primaryKey: ['id', 'other'] }),
      table('b', { primaryKey: ['id'], ...refer(['other', 'id'], 'a', ['id', 'other']) }),
    ])
    expect(shown).toEqual([
      ['a', 'a_pkey', 'PRIMARY KEY (id, other)'],
      ['b', 'b_other_id_fkey', 'FOREIGN KEY (other, id) REFERENCES a(id, other)'],
      ['b', 'b_pkey', 'PRIMARY KEY (id)'],
    ])
  })

  test('that PostgreSQL would not take are left out, and the tables are shown', async () => {
    const shown = await constraints([
      table('missing', { primaryKey: ['nothing'] }),
      table('twice', { primaryKey: ['id', 'id'] }),
      table('good', { primaryKey: ['id'] }),
      table('no_table', refer(['id'], 'elsewhere', ['id'])),
      table('no_key', refer(['id'], 'missing', ['id'])),
      table('no_match', refer(['id'], 'good', ['other'])),
      table('no_column', refer(['nothing'], 'good', ['id'])),
      table('no_type', refer(['text'], 'good', ['id'])),
      table('no_count', refer(['id', 'other'], 'good', ['id'])),
    ])
    expect(shown).toEqual([['good', 'good_pkey', 'PRIMARY KEY (id)']])
  })

  test('get out of the way of tables, whatever these are called', async () => {
    const long = 'x'.repeat(62)
    const shown = await constraints([
      table('a', { primaryKey: ['id'] }),
      table('a_pkey', { primaryKey: ['id'] }),
      table('_a', { primaryKey: ['id'] }),
      table('__a'),
      table(`${long}1`, { primaryKey: ['id'] }),
      table(`${long}2`, { primaryKey: ['id'] }),
    ])
    expect(shown.map(([name]) => name)).toEqual(['_a', 'a', 'a_pkey', `${long}1`, `${long}2`])
  })
})

test('a database that nobody asks is ended, and another answers the next statement', async () => {
  const counts: number[] = []
  const seldom = openCatalogService({
    source: { mark: async () => ({ text: '', tableCount: 0 }), tables: async () => sampleTables },
    activity: () => [],
    ...testCatalogOptions,
    idleMs: 1,
    onDatabases: (count) => counts.push(count),
  })
  const ask = async () => readAnswer(await seldom.execute(sessionOf(), query('select current_user'))).rows
  expect(await ask()).toEqual([['alice']])
  await eventually(async () => seldom.databases === 0)
  expect(await ask()).toEqual([['alice']])
  expect(counts.slice(0, 3)).toEqual([1, 0, 1])
  seldom.close()
})

test('a tenant with too many statements at once is refused the last of them; another is answered', async () => {
  const outcome = (session: CatalogSession) =>
    service.execute(session, query('select version()')).then(
      () => 'answered',
      (fault) => fault.kind,
    )
  const crowd = Array.from({ length: 210 }, () => outcome(sessionOf()))
  const other = outcome(sessionOf({ tenant: foreign }))
  const outcomes = await Promise.all(crowd)
  expect(outcomes.filter((each) => each === 'answered').length).toBe(200)
  expect(outcomes.slice(200)).toEqual(Array(10).fill('unavailable'))
  expect(await other).toBe('answered')
})

test('a catalog that cannot be loaded is refused, and not tried again at once; others are answered', async () => {
  const tenant = newTenantId()
  const columns = [{ name: 'ctid', type: 'text' as const, notNull: false }]
  tables = new Map([...tables, [tenant, [{ schemaName: 's', tableName: 't', columns }]]])
  const kindOf = () =>
    service.execute(sessionOf({ tenant }), query('select version()')).then(
      () => 'an answer',
      (fault) => `${fault.kind}: ${fault.publicMessage}`,
    )
  expect(await kindOf()).toBe('unavailable: The catalog could not be read. Retry.')
  expect(await kindOf()).toBe('unavailable: The catalog could not be loaded. Retry later.')
  expect((await rows(ownTables)).length).toBe(3)
})

test('names of any letters are shown as they are and run nothing', async () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 12 })
    .filter((text) => text.isWellFormed() && !text.includes('\0'))
  const hostile = fc.constantFrom(
    'a"; drop schema sales cascade; --',
    "'",
    "\\'",
    '$$',
    '";',
    '%I',
    'select',
    'Ä"b',
  )
  const tenant = newTenantId()
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.oneof(name, hostile), { minLength: 4, maxLength: 4 }),
      async (names) => {
        const [schemaName, tableName, columnName, comment] = names as [string, string, string, string]
        fc.pre(!/^(?:pg_|information_schema$|public$)/.test(schemaName))
        const columns = [{ name: columnName, type: 'text' as const, notNull: true, comment }]
        tables = new Map([
          ...tables,
          [tenant, [{ schemaName, tableName, comment, columns, primaryKey: [columnName] }]],
        ])
        mark += 1
        const shown = await rows(
          `select n.nspname, c.relname, a.attname, obj_description(c.oid, 'pg_class'), col_description(c.oid, 1)
         from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
         where c.relkind = 'r' and a.attnum = 1 and n.nspname not in ('pg_catalog', 'information_schema')`,
          sessionOf({ tenant }),
        )
        expect(shown).toEqual([[schemaName, tableName, columnName, comment, comment]])
      },
    ),
    { seed: 9, numRuns: roundsOf(40) },
  )
})

test('relations of the catalog may be qualified with the database, and with no other', async () => {
  const text = 'select count(*) > 0 from "lake".pg_catalog.pg_class, "lake".information_schema.tables'
  expect((await send(query(text))).rows).toEqual([['t']])
  const other = await send(query('select 1 from other.pg_catalog.pg_class'))
  expect(other.error).toMatchObject({ code: '0A000' })
})
