/** Which statements concern the system catalog. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { catalogRelations } from '../../../../src/server/pgwire/catalog/allowed-names.ts'
import { coverageOf } from '../../../../src/server/pgwire/catalog/covers.ts'

const all = (expected: string, texts: readonly string[]) =>
  test.each(texts.map((text) => [text]))(`${expected}: %s`, (text) => {
    expect(coverageOf(text)).toBe(expected as 'data')
  })

describe('a statement is about the catalog', () => {
  all('catalog', [
    'select * from pg_class',
    'select * from pg_catalog.pg_class c join pg_namespace n on n.oid = c.relnamespace',
    'select * from information_schema.tables',
    'select version()',
    'select current_schema(), current_user',
    "select 'sales.orders'::regclass",
    "select has_table_privilege('sales.orders', 'select')",
    'with c as (select * from pg_class) select * from c',
    'with recursive r as (select oid from pg_class union select oid from r) select * from r',
    'select 1 where exists (select from pg_class)',
    'select * from pg_class union select * from pg_class',
    'values (version())',
    'table pg_class',
    'select version(); select * from pg_type',
  ])
})

describe('a statement is about data', () => {
  all('data', [
    'select 1',
    'select now()',
    'select * from sales.orders',
    'select * from orders',
    'select * from tables',
    '',
    ';',
    'not sql',
    'select current_database(), count(*) from sales.orders',
    'select (select count(*) from orders), version()',
    'select current_user, id, current_schema() from orders',
    'select current_catalog, pg_sleep(1)',
    'show server_version',
    "set search_path = 'sales'",
    'begin',
    'explain select * from pg_class',
    'delete from pg_class',
    'create table pg_class (a int)',
    'copy pg_class to stdout',
    'do $$ begin perform pg_sleep(1); end $$',
    "select pg_read_file('/etc/passwd')",
    'select pg_sleep(10)',
    "select set_config('search_path', '', false)",
    'prepare p as select * from pg_class',
    'declare c cursor for select * from pg_class',
  ])
})

describe('a statement is nobody’s, for only some of it may be answered from the catalog', () => {
  all('mixed', [
    'select * from pg_class, sales.orders',
    'select version() from pg_class, sales.orders',
    "select version(), has_table_privilege('a', 'select') from orders",
    'select * from pg_class where oid in (select id from orders)',
    'select * from pg_authid, pg_class',
    'select * from pg_catalog.pg_authid',
    'select * from pg_catalog.pg_shadow',
    "select * from pg_class, pg_ls_dir('.')",
    'select pg_sleep(1) from pg_class',
    "select set_config('a.b', 'c', true) from pg_class",
    "select query_to_xml('select 1', true, true, '') from pg_class",
    "select pg_catalog.lo_import('/etc/passwd') from pg_class",
    'select sales.version() from pg_class',
    'select pg_terminate_backend(pid) from pg_stat_activity',
    'select * into x from pg_class',
    'select * from pg_class for update',
    'select * from pg_class tablesample system (1)',
    'select xmlelement(name a, relname) from pg_class',
    'select version(); select 1',
    'select version(); drop table x',
    'select * from orders, (with orders as (select oid from pg_class) select * from orders) x',
    'with orders as (select * from orders) select * from orders, pg_class',
  ])
})

test('whatever surrounds it, a table outside of the catalog keeps a statement from being answered there', () => {
  const relation = fc.constantFrom(...[...catalogRelations].slice(0, 20))
  const select = fc.letrec<{ query: string }>((tie) => ({
    query: fc.oneof(
      { depthSize: 'small' },
      fc.constant('select 1 as a from hidden'),
      fc.tuple(relation, tie('query')).map(([name, inner]) => `select 1 from ${name} where 1 in (${inner})`),
      fc.tuple(relation, tie('query')).map(([name, inner]) => `select 1 from ${name}, (${inner}) x`),
      fc
        .tuple(relation, tie('query'))
        .map(([name, inner]) => `with hidden2 as (${inner}) select 1 from ${name}`),
      tie('query').map((inner) => `with hidden as (${inner}) select 1 from pg_class`),
      fc.tuple(relation, tie('query')).map(([name, inner]) => `(select 1 from ${name}) union (${inner})`),
      tie('query').map((inner) => `select case when exists (${inner}) then version() end`),
      tie('query').map((inner) => `select array(${inner}), current_user`),
      tie('query').map((inner) => `select 1 from pg_class left join lateral (${inner}) x on true`),
    ),
  }))
  fc.assert(
    fc.property(select.query, (text) => {
      expect(coverageOf(text)).not.toBe('catalog')
    }),
    { seed: 9, numRuns: 2_000 },
  )
})
