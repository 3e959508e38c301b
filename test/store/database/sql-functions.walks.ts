/** The baseline and the SQL functions: a newer version applies changed texts again, an older version never does. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import type { Fault } from '../../../src/base/fault.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { embeddedBackend } from '../../../src/store/database/embedded.ts'
import { readFunctions } from '../../../src/store/database/migration-files.ts'
import { migrate, migrationStatus } from '../../../src/store/database/migrations.ts'
import { openStore } from '../../../src/store/store.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { answering, migrationCopies } from '../../support/migration-files.ts'
import { tenantTemplate, testStoreOptions } from '../../support/store.ts'

// Each test opens an embedded database of its own, which takes seconds on a busy machine.
setDefaultTimeout(300_000)

const migrations = new URL('../../../migrations/', import.meta.url)
const files = migrationCopies()
const folder = mkdtempSync(join(tmpdir(), 'covenant-functions-'))
const quiet = () => {}
/** A data directory at the baseline, with a tenant and a commit on record. */
let baseline: string

beforeAll(async () => {
  const { path, tenant } = await tenantTemplate()
  const dataDirectory = join(folder, 'baseline')
  const store = await openStore({ ...testStoreOptions, dataDirectory, template: path })
  await recordVerdict(store, tenant, approvedOf(intentOf()))
  await store.close()
  baseline = join(dataDirectory, 'pg')
})
afterAll(() => {
  files[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.publicMessage,
  )

interface Database extends AsyncDisposable {
  readonly sql: postgres.Sql
}

/** A database of the test's own, a copy of the baseline or an empty one. */
async function openDatabase(template: string | undefined = baseline): Promise<Database> {
  const dataDirectory = mkdtempSync(join(folder, 'database-'))
  const engine = await embeddedBackend({ dataDirectory, statementMs: 300_000, ...(template && { template }) })
  const link = await engine.open('connecting')
  return {
    sql: link.sql,
    async [Symbol.asyncDispose]() {
      await link.close()
      await engine.close()
    },
  }
}

async function one<T>(sql: postgres.Sql, expression: string): Promise<T> {
  const [row] = await sql.unsafe<{ value: T }[]>(`select ${expression} as value`)
  return row?.value as T
}

const auditRows = (sql: postgres.Sql) => one<string>(sql, '(select count(*) from svc.audit_log)')
const answer = (sql: postgres.Sql) => one<string>(sql, `svc.canonical_location('s3a://lake/x')`)

/** Every function of svc with its text, owner, rights and settings. */
function functionsOf(sql: postgres.Sql, schema = 'svc') {
  return sql<{ name: string; body: string | null; owner: string; public: boolean; definition: string }[]>`
    select p.proname as name, p.prosrc as body, p.proowner::regrole::text as owner, p.proacl::text as rights,
      p.prosecdef as definer, p.proconfig::text as settings, pg_get_functiondef(p.oid) as definition,
      has_function_privilege('public', p.oid, 'EXECUTE') as public
    from pg_proc p where p.pronamespace = ${schema}::regnamespace order by p.proname, p.oid::regprocedure::text`
}

const sqlFiles = (directory: string) =>
  readdirSync(new URL(directory, migrations))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(new URL(directory + name, migrations), 'utf8'))

describe('the text of a SQL function', () => {
  test('stands in one place: once in migrations/functions, and in no migration', () => {
    const defined = sqlFiles('functions/').flatMap((text) => [
      ...text.matchAll(/^create or replace function svc\.(\w+)/gm),
    ])
    const names = defined.map(([, name]) => name)
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    for (const text of [...sqlFiles('control/'), ...sqlFiles('tenant/')])
      expect(text).not.toMatch(/create (?:or replace )?(?:function|procedure)/i)
  })

  test('is what a fresh database runs, with no function beside them, none of them open to everyone', async () => {
    await using database = await openDatabase()
    const texts = sqlFiles('functions/').join('\n')
    const rows = await functionsOf(database.sql)
    expect(rows.map(({ name }) => name)).toEqual(
      [...texts.matchAll(/^create or replace function svc\.(\w+)/gm)].map(([, name]) => name ?? '').sort(),
    )
    // A body that is one expression is stored parsed.
    for (const { name, body } of rows) expect([name, texts.includes(body ?? '')]).toEqual([name, true])
    expect(rows.filter((row) => row.public).map(({ name }) => name)).toEqual([])
    const elsewhere = `(select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('svc') and n.nspname !~ '^t_' and p.proowner = 'svc_owner'::regrole)`
    expect(await one<string>(database.sql, elsewhere)).toBe('0')
  })

  test('is what each tenant runs: in its copies, which call each other, with the same rights and settings', async () => {
    await using database = await openDatabase()
    const schema = await one<string>(database.sql, `(select nspname from pg_namespace where nspname ~ '^t_')`)
    const copies = await functionsOf(database.sql, schema)
    const names = copies.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(20)
    const originals = (await functionsOf(database.sql)).filter(({ name }) => names.includes(name))
    const called = new RegExp(`svc\\.(?=(?:${names.join('|')})\\()`, 'g')
    expect([...copies]).toEqual(
      originals.map(({ body, definition, ...rest }) => ({
        ...rest,
        body: body?.replace(called, `${schema}.`) ?? null,
        definition: definition.replace(called, `${schema}.`),
      })),
    )
  })

  test('is under the checksum in VERSION: a change of a text raises the number there and replaces the checksum', () => {
    const { version, checksum } = readFunctions(new URL('functions/', migrations))
    expect(readFileSync(new URL('functions/VERSION', migrations), 'utf8')).toBe(`${version} ${checksum}\n`)
  })
})

describe('a database at the baseline', () => {
  test('gets the functions of a newer version, which verify demands first, and keeps its data', async () => {
    await using database = await openDatabase()
    const newer = files.version(1, answering('newer'))
    const before = await functionsOf(database.sql)
    expect(await answer(database.sql)).toBe('s3://lake/x')
    expect(await auditRows(database.sql)).toBe('1')

    const pending = (await migrationStatus(database.sql, newer)).flatMap((scope) => scope.pending)
    expect(pending).toEqual([`functions_${readFunctions(new URL('functions/', newer)).version}`])
    expect(await failure(migrate(database.sql, 'verify', quiet, newer))).toContain('lacks migrations')
    await migrate(database.sql, 'apply', quiet, newer)
    await migrate(database.sql, 'verify', quiet, newer)

    expect(await answer(database.sql)).toBe('newer')
    expect(await auditRows(database.sql)).toBe('1')
    const changed = ({ name }: { name: string }) => name === 'canonical_location'
    const after = await functionsOf(database.sql)
    // Owners, rights, SECURITY DEFINER and settings included.
    expect(after.filter((row) => !changed(row))).toEqual(before.filter((row) => !changed(row)))
    const rights = ({ owner, public: open }: (typeof after)[number]) => ({ owner, open })
    expect(after.filter(changed).map(rights)).toEqual(before.filter(changed).map(rights))
  })

  test('takes a function with another signature where a migration drops the former one', async () => {
    await using database = await openDatabase()
    const newer = files.version(1, {
      'control/1999_locations.sql': () => 'drop function svc.canonical_location(text);',
      'functions/detection.sql': (text) =>
        text.replace(
          'svc.canonical_location(location text) returns',
          () => 'svc.canonical_location(location text, ignored int default 0) returns',
        ),
    })
    await migrate(database.sql, 'apply', quiet, newer)
    expect(await answer(database.sql)).toBe('s3://lake/x')
    const signatures = `(select string_agg(oid::regprocedure::text, ' ') from pg_proc where proname = 'canonical_location')`
    expect(await one<string>(database.sql, signatures)).toBe('svc.canonical_location(text,integer)')
  })

  test('gives each tenant the functions of a newer version, and takes away those of the former', async () => {
    await using database = await openDatabase()
    const newer = files.version(1, {
      'control/1999_intents.sql': () =>
        'drop function svc.open_intent(uuid, uuid, text, text, bytea, float8, float8);',
      'functions/commits.sql': (text) =>
        text.replace(
          'svc.open_intent(tenant uuid, commit_id uuid,',
          () => 'svc.open_intent(tenant uuid, more int, commit_id uuid,',
        ),
    })
    const signatures = `(select string_agg(regexp_replace(p.oid::regprocedure::text, '^t_.*?\\.', ''), ' ')
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname ~ '^t_' and p.proname = 'open_intent')`
    const former = 'open_intent(uuid,uuid,text,text,bytea,double precision,double precision)'
    expect(await one<string>(database.sql, signatures)).toBe(former)
    await migrate(database.sql, 'apply', quiet, newer)
    expect(await one<string>(database.sql, signatures)).toBe(former.replace('uuid', 'uuid,integer'))
  })

  test('is not opened by a version with older functions, whether it applies, verifies or makes a tenant', async () => {
    const dataDirectory = mkdtempSync(join(folder, 'newer-'))
    const store = await openStore({ ...testStoreOptions, dataDirectory, template: baseline })
    const { id } = await createTenant(store, { name: 'before' })
    await store.ownerTransaction(id, (tx) =>
      tx.query(
        `insert into svc.migration (scope, version, name, checksum) values ('functions', 9999, 'newer', '')`,
      ),
    )
    expect(await failure(createTenant(store, { name: 'after' }))).toContain('does not have')
    await store.close()
    for (const options of [{ migrate: true }, { migrate: false }])
      expect(await failure(openStore({ ...testStoreOptions, ...options, dataDirectory }))).toContain(
        'does not have',
      )
  })

  test('is refused by a version that changed a function and not its number', async () => {
    await using database = await openDatabase()
    const forgetful = files.version(0, answering('forgotten'))
    for (const mode of ['apply', 'verify'] as const)
      expect(await failure(migrate(database.sql, mode, quiet, forgetful))).toContain('raise the number')
    expect(await answer(database.sql)).toBe('s3://lake/x')
  })

  test('keeps nothing of a run whose functions fail: tables and functions change together', async () => {
    await using database = await openDatabase()
    const broken = files.version(1, {
      ...answering('newer'),
      'control/1999_more.sql': () => 'create table svc.more (a int);',
      'functions/verdicts.sql': (text) => `${text}\nselect 1 / 0;`,
    })
    expect(await failure(migrate(database.sql, 'apply', quiet, broken))).toBe(
      'Migration verdicts.sql of control failed.',
    )
    expect(await one(database.sql, `to_regclass('svc.more')::text`)).toBeNull()
    expect(await answer(database.sql)).toBe('s3://lake/x')
    await migrate(database.sql, 'verify', quiet)
  })

  test('is completed by the next run where one ended between the control schema and a tenant', async () => {
    await using database = await openDatabase()
    const more = { 'tenant/1999_more.sql': () => 'create table {{schema}}.more (a int);' }
    const control = { 'control/1999_more.sql': () => 'create table svc.more (a int);', ...answering('newer') }
    const ending = files.version(1, { ...control, 'tenant/1999_more.sql': () => 'select 1 / 0;' })
    expect(await failure(migrate(database.sql, 'apply', quiet, ending))).toContain('failed')
    const whole = files.version(1, { ...control, ...more })
    const pending = (await migrationStatus(database.sql, whole)).map((scope) => scope.pending)
    expect(pending).toEqual([[], ['1999_more']])
    await migrate(database.sql, 'apply', quiet, whole)
    await migrate(database.sql, 'verify', quiet, whole)
    expect(await answer(database.sql)).toBe('newer')
    expect(await one<string>(database.sql, `(select count(*) from pg_class where relname = 'more')`)).toBe(
      '2',
    )
  })
})

test('a database that is older than the baseline is refused by a sentence that says what to do, and not changed', async () => {
  await using database = await openDatabase('')
  const old = files.copy()
  for (const directory of ['control/', 'tenant/'])
    for (const name of readdirSync(new URL(directory, old))) rmSync(new URL(directory + name, old))
  writeFileSync(new URL('control/0001_control.sql', old), 'create table svc.old (a int);')
  for (const name of readdirSync(new URL('functions/', old)))
    if (name.endsWith('.sql')) writeFileSync(new URL(`functions/${name}`, old), '')
  // The program of that time knew no baseline: what it left is the record of its first file.
  await migrate(database.sql, 'apply', quiet, old)
  await database.sql`delete from svc.migration where scope = 'functions'`

  const sentence =
    'The database is older than the baseline of the migrations and cannot be upgraded: use an empty database, or an empty SVC_DATA_DIR.'
  expect(await failure(migrate(database.sql, 'apply', quiet))).toBe(sentence)
  expect(await failure(migrate(database.sql, 'verify', quiet))).toBe(sentence)
  expect(await failure(migrationStatus(database.sql))).toBe(sentence)
  const recorded = `(select string_agg(name, ' ') from svc.migration)`
  expect(await one<string>(database.sql, recorded)).toBe('0001_control')
  expect(await one(database.sql, `to_regclass('svc.tenant')::text`)).toBeNull()
})
