/** Which expressions can fail, by types alone. What the engines do is tested behind the barrier. */

import { describe, expect, test } from 'bun:test'
import type { NumericSize, SqlType } from '../../../../src/core/sql-type.ts'
import type { Expr, Query } from '../../../../src/query/compile/base/ir.ts'
import { jsonOfRow } from '../../../../src/query/compile/functions/collections.ts'
import { functions } from '../../../../src/query/compile/functions/registry.ts'
import * as special from '../../../../src/query/compile/functions/special.ts'
import {
  canFail,
  decimalsCanFail,
  expressionCanFail,
  nodeCanFail,
} from '../../../../src/query/compile/protect/fallible.ts'

const column = (type: SqlType, size?: NumericSize): Expr =>
  ({ kind: 'column', relation: 't', index: 0, levelsUp: 0, type, ...(size && { size }) }) as Expr
const literal = (type: SqlType, size?: NumericSize): Expr =>
  ({ kind: 'literal', value: '1', type, ...(size && { size }) }) as Expr
const cast = (arg: Expr, type: SqlType, size?: NumericSize): Expr => ({
  ...{ kind: 'cast', arg, type },
  ...(size && { size }),
})

describe('a cast', () => {
  const scalars: readonly SqlType[] = [
    ...(['bool', 'bytea', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar'] as const),
    ...(['date', 'time', 'timestamp', 'timestamptz', 'uuid', 'jsonb'] as const),
  ]
  const safeFrom = (from: SqlType) => scalars.filter((to) => !nodeCanFail(cast(column(from), to)))

  test.each<[SqlType, readonly SqlType[]]>([
    ['int2', ['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar']],
    ['int4', ['int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar']],
    ['int8', ['int8', 'float4', 'float8', 'numeric', 'text', 'varchar']],
    ['float8', ['float8', 'text', 'varchar']],
    ['numeric', ['float8', 'numeric', 'text', 'varchar']],
    // A text may be no number, and no moment.
    ['text', ['text', 'varchar']],
    // A moment may lie in a year that has no text, and a date beyond all moments.
    ['timestamp', ['float8', 'date', 'timestamp', 'timestamptz']],
    ['timestamptz', ['float8', 'date', 'timestamp', 'timestamptz']],
    ['date', ['float8', 'text', 'varchar', 'date']],
  ])('of %s fails for no value where it goes to %j', (from, to) => {
    expect(safeFrom(from)).toEqual([...to])
  })

  test('to a numeric with a size can fail, also from one', () => {
    expect(nodeCanFail(cast(column('int2'), 'numeric', [3, 0]))).toBe(true)
    expect(nodeCanFail(cast(column('numeric', [5, 2]), 'numeric', [3, 0]))).toBe(true)
  })

  test('of an array fails where its elements change', () => {
    expect(nodeCanFail(cast(column('int4[]'), 'int4[]'))).toBe(false)
    expect(nodeCanFail(cast(column('int4[]'), 'int8[]'))).toBe(true)
    expect(nodeCanFail(cast(column('numeric[]'), 'numeric[]', [3, 0]))).toBe(true)
  })
})

describe('decimals in one place', () => {
  const numeric = (precision: number, scale: number) => column('numeric', [precision, scale])
  test.each<[string, readonly Expr[], boolean]>([
    ['one decimal', [numeric(38, 0)], false],
    ['two that fit 38 digits', [numeric(38, 10), numeric(28, 0)], false],
    ['two that need one digit more', [numeric(38, 10), numeric(29, 0)], true],
    ['the whole digits of one, the fraction of the other', [numeric(30, 0), numeric(20, 10)], true],
    ['two of unknown size', [column('numeric'), column('numeric')], true],
    ['one of unknown size beside a whole literal', [column('numeric'), literal('numeric')], false],
    [
      'one of unknown size beside a literal with a fraction',
      [column('numeric'), literal('numeric', [2, 1])],
      true,
    ],
    ['one beside a cast of an int8', [numeric(30, 19), cast(column('int8'), 'numeric')], false],
    [
      'one beside a cast of an int8 that needs a digit more',
      [numeric(30, 20), cast(column('int8'), 'numeric')],
      true,
    ],
    ['one beside a cast of an int4', [numeric(30, 28), cast(column('int4'), 'numeric')], false],
    [
      'one beside a cast of an int4 that needs a digit more',
      [numeric(30, 29), cast(column('int4'), 'numeric')],
      true,
    ],
    ['one beside a cast of a text', [numeric(3, 0), cast(column('text'), 'numeric')], true],
    ['other types', [column('int8'), column('float8')], false],
    ['arrays of decimals', [column('numeric[]', [38, 10]), column('numeric[]', [38, 0])], true],
  ])('%s', (_, exprs, fails) => {
    expect(decimalsCanFail(exprs)).toBe(fails)
    expect(nodeCanFail({ kind: 'array', type: 'numeric[]', elements: exprs } as unknown as Expr)).toBe(fails)
  })
})

test('JSON that is written of a moment can fail as its text can, and of other values cannot', () => {
  const written = ['to_json', 'to_jsonb', 'json_build_array', 'jsonb_build_array', 'jsonb_build_object']
  const defs = [
    ...written.flatMap((name) => functions.get(name)?.filter(({ args }) => args.length > 0) ?? []),
    ...Object.values(jsonOfRow),
  ]
  const failing = (type: SqlType) =>
    defs.filter((def) => nodeCanFail({ kind: 'call', def, type: 'jsonb', args: [column(type)] }))
  for (const type of ['timestamp', 'timestamptz', 'timestamptz[]'] as const)
    expect(failing(type)).toEqual(defs)
  for (const type of ['int4', 'text', 'date', 'text[]', 'jsonb'] as const) expect(failing(type)).toEqual([])
})

test('a pattern can fail unless it is a literal, which the compiler has checked', () => {
  const matched = (def: typeof special.like, pattern: Expr) =>
    nodeCanFail({ kind: 'call', def, args: [column('text'), pattern], type: 'bool' } as unknown as Expr)
  for (const def of [special.like, special.iLike]) {
    expect(matched(def, literal('text'))).toBe(false)
    expect(matched(def, column('text'))).toBe(true)
  }
})

const harmful = cast(column('text'), 'int4')
const plain = column('text')
const select = (given: object, columns: readonly Expr[] = [plain]): Query =>
  ({
    ...{ ctes: [], orderBy: [], columns },
    body: { ...{ kind: 'select', from: [], targets: columns, groupBy: [] }, ...given },
  }) as unknown as Query

describe('a statement whose results the client alone reads', () => {
  test('can fail by its conditions, not by its results', () => {
    expect(canFail(select({ targets: [harmful] }))).toBe(false)
    for (const where of ['where', 'having']) expect(canFail(select({ [where]: harmful }))).toBe(true)
    expect(canFail(select({ where: plain }))).toBe(false)
  })

  test('can fail by results of a query inside of it', () => {
    const inner = select({ targets: [harmful] })
    const asValue = (query: Query) =>
      select({ targets: [{ kind: 'subquery', type: 'int4', args: [], query }] })
    expect(canFail(asValue(select({})))).toBe(false)
    expect(canFail(asValue(inner))).toBe(true)
    const from = [{ kind: 'subquery', query: inner, alias: 's' }]
    expect(canFail(select({ from }))).toBe(true)
    expect(canFail({ ...select({}), ctes: [{ query: inner }] } as unknown as Query)).toBe(true)
  })

  test('can fail by the condition of a join, on either side of it, and by a function among tables', () => {
    const table = { kind: 'table' }
    const join = (changes: object) => ({ kind: 'join', left: table, right: table, on: plain, ...changes })
    const fails = (item: object) => canFail(select({ from: [item] }))
    expect(fails(join({}))).toBe(false)
    expect(fails(join({ on: undefined }))).toBe(false)
    expect(fails(join({ on: harmful }))).toBe(true)
    expect(fails(join({ left: join({ on: harmful }) }))).toBe(true)
    expect(fails(join({ right: join({ on: harmful }) }))).toBe(true)
    expect(fails({ kind: 'function' })).toBe(true)
  })

  test('can fail by either part of a set, and by decimals that meet in one that is inside', () => {
    const [left, right] = [[column('numeric', [38, 10])], [column('numeric', [38, 0])]]
    const union = (changes: object) =>
      select({ kind: 'set', left: select({}, left), right: select({}, right), ...changes })
    expect(canFail(union({}))).toBe(false)
    expect(canFail(union({ left: select({ where: harmful }) }))).toBe(true)
    expect(canFail(union({ right: select({ where: harmful }) }))).toBe(true)
    const inside = (query: Query) => canFail(select({ from: [{ kind: 'subquery', query, alias: 's' }] }))
    expect(inside(union({}))).toBe(true)
    // One column in which they meet is enough, and the others may be alike.
    const both = (first: readonly Expr[], second: readonly Expr[]) =>
      inside(select({ kind: 'set', left: select({}, first), right: select({}, second) }))
    expect(both([plain, ...left], [plain, ...right])).toBe(true)
    expect(both([plain, ...left], [plain, ...left])).toBe(false)
  })
})

test('an expression can fail by any of its parts, but not by what an aggregate computes', () => {
  const logic = { kind: 'logic', op: 'AND', type: 'bool', args: [plain, harmful] } as unknown as Expr
  expect(expressionCanFail(logic)).toBe(true)
  expect(expressionCanFail(plain)).toBe(false)
  const def = { fallible: false }
  const aggregate = { kind: 'aggregate', type: 'int8', def, args: [harmful], distinct: false, orderBy: [] }
  expect(expressionCanFail(aggregate as unknown as Expr)).toBe(false)
})

test('decimals meet in the results of a case, in a list and in what else a case gives', () => {
  const [wide, long] = [column('numeric', [38, 0]), column('numeric', [38, 10])]
  const of = (results: readonly Expr[], otherwise?: Expr) =>
    nodeCanFail({
      ...{ kind: 'case', type: 'numeric', otherwise },
      whens: results.map((result) => ({ condition: plain, result })),
    } as unknown as Expr)
  expect(of([wide])).toBe(false)
  expect(of([wide, long])).toBe(true)
  expect(of([wide], long)).toBe(true)
  expect(of([wide], wide)).toBe(false)
  const inList = (arg: Expr, list: readonly Expr[]) =>
    nodeCanFail({ kind: 'in', type: 'bool', arg, list, negated: false } as unknown as Expr)
  expect(inList(wide, [wide])).toBe(false)
  expect(inList(wide, [long])).toBe(true)
  expect(inList(column('text'), [wide, long])).toBe(true)
})
