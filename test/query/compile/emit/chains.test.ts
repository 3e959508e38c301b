/**
 * Chains of one operator make a text for the engine that grows with their length and no faster. Functions that write an
 * argument twice are refused where they are nested too deep, and are not compared here.
 */

import { expect, test } from 'bun:test'
import type { ScalarType } from '../../../../src/core/sql-type.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const columns: Partial<Record<ScalarType, string>> = {
  int4: 'id::int4',
  int8: 'id',
  float8: 'amount::float8',
  numeric: 'amount',
  text: 'status',
  date: 'created_at::date',
  bool: 'id = 1',
}
const signs = ['+', '-', '*', '/', '%', '||', '#', '&', '|']

/** A call of a call of a call, by its operand. */
type Chain = (operand: string, depth: number) => string

const operators: [string, Chain][] = signs.map((sign) => [
  sign,
  (operand, depth) =>
    Array(depth + 1)
      .fill(`(${operand})`)
      .join(` ${sign} `),
])
const rightward: [string, Chain][] = signs.map((sign) => [
  `${sign}, from the right`,
  (operand, depth) => `${`(${operand}) ${sign} (`.repeat(depth)}${operand}${')'.repeat(depth)}`,
])
const forms: [string, Chain][] = [
  [
    'case',
    (operand, depth) =>
      `${`case when true then ${operand} else `.repeat(depth)}${operand}${' end'.repeat(depth)}`,
  ],
  ...['coalesce', 'greatest', 'least'].map((name): [string, Chain] => [
    name,
    (operand, depth) => `${`${name}(`.repeat(depth)}${operand}${`, ${operand})`.repeat(depth)}`,
  ]),
]

/** Of numerics, in which each operation asks for the shape of what is below it. */
const numerics: [string, Chain][] = [
  ...['/ 3', '% 3', '* 3', '+ 3', '- 3'].map((tail): [string, Chain] => [
    tail,
    (operand, depth) => `(${operand})${` ${tail}`.repeat(depth)}`,
  ]),
  ...['/ 3 *', '/ 3 +', '/ 3 -', '% 3 /'].map((join): [string, Chain] => [
    join,
    (operand, depth) => Array(depth).fill(`(${operand})`).join(` ${join} `),
  ]),
  ...['(', 'round(', 'abs(', '+(', '-(', 'trunc('].map((open): [string, Chain] => [
    `${open}…) / 3`,
    (operand, depth) => `${open.repeat(depth)}${operand}${') / 3'.repeat(depth)}`,
  ]),
  ['cast', (operand, depth) => `${'('.repeat(depth)}${operand}${' / 3)::numeric'.repeat(depth)}`],
  ['round', (operand, depth) => `${'round('.repeat(depth)}${operand}${' * 3, 2)'.repeat(depth)}`],
  ['nullif', (operand, depth) => `${'nullif('.repeat(depth)}${operand}${' * 3, 0)'.repeat(depth)}`],
  [
    'coalesce of a quotient',
    (operand, depth) => `${'coalesce('.repeat(depth)}${operand}${' / 3, 0)'.repeat(depth)}`,
  ],
  [
    'case of a quotient',
    (operand, depth) => `${'case when true then '.repeat(depth)}${operand}${' / 3 else 0 end'.repeat(depth)}`,
  ],
]

function lengths(text: string): readonly number[] | undefined {
  try {
    const query = compileQuery({ text, principal, tables: governedTables, searchPath: ['sales'] })
    return (['duckdb', 'trino'] as const).map((engine) => {
      try {
        return renderSql(query.emit(engine), engine).length
      } catch {
        return 0
      }
    })
  } catch {
    return undefined
  }
}

test.each([...operators, ...rightward, ...forms])('%s', (_, chain) => {
  for (const operand of Object.values(columns)) {
    const [short, long] = [24, 48].map((depth) => lengths(`select ${chain(operand, depth)} from orders`))
    if (short === undefined) continue
    for (const [at, length] of short.entries())
      expect(long?.[at] ?? Infinity).toBeLessThan(Math.max(3 * length, 1))
  }
})

test.each(numerics)('numerics: %s', (_, chain) => {
  const [short, long] = [30, 60].map((depth) => lengths(`select ${chain('amount', depth)} from orders`))
  expect(long).toBeDefined()
  for (const [at, length] of (short ?? []).entries())
    expect(long?.[at] ?? Infinity).toBeLessThan(Math.max(5 * length, 1))
})
