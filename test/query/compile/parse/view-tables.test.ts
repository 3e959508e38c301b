/** Which tables the text of a view reads, in the dialects that engines write. */

import { expect, test } from 'bun:test'
import { tablesOfView } from '../../../../src/query/compile/parse/view-tables.ts'

const place = { namespace: ['n'], catalogs: ['lake'] }
const read = (text: string) =>
  tablesOfView(text, place)?.map(({ namespace, name }) => [...namespace, name].join('.'))

test.each([
  ['SELECT a FROM t', ['n.t']],
  ['SELECT a FROM m.t JOIN u ON true', ['m.t', 'n.u']],
  ['SELECT a FROM lake.m.t', ['m.t']],
  // Another catalog, or a namespace of two levels: not the table of the last two names.
  ['SELECT a FROM x.m.t', ['x.m.t']],
  ["SELECT a FROM `m`.`odd name` WHERE b = '`u`'", ['m.odd name']],
  ['SELECT (SELECT max(x) FROM u) FROM t WHERE EXISTS (SELECT 1 FROM v)', ['n.u', 'n.t', 'n.v']],
  ['WITH c AS (SELECT * FROM t) SELECT * FROM c', ['n.t']],
  // A query of the name of a table reads the table, and hides it from then on.
  ['WITH t AS (SELECT * FROM t) SELECT * FROM t', ['n.t']],
  ['SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) x, t', ['n.t']],
  ['SELECT 1 UNION ALL SELECT a FROM t', ['n.t']],
  ['SELECT 1', []],
])('%s', (text, tables) => {
  expect(read(text)).toEqual(tables)
})

test.each([
  'SELECT a FROM t LATERAL VIEW explode(b) x AS c',
  'DROP TABLE t',
  '',
  'SELECT a FROM t; SELECT b FROM u',
])('is not answered for what is not understood: %p', (text) => {
  expect(read(text)).toBeUndefined()
})
