/**
 * One reader asks random pairs of queries over random people, to learn from two answers what few of them are paid. The
 * oracle finds by the rows themselves which rows are behind each number, and knows nothing of the compiler: numbers that
 * differ by the rows of fewer than so many persons are never both answered, and what is answered is right.
 */

import { describe, expect, test } from 'bun:test'
import type { Attestation } from '../../../../src/core/metric.ts'
import { generator } from '../../../support/generator.ts'
import { attested, openStaff, type Payment, persons, staffModel, staffTables } from './staff.ts'

const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_129)
const rounds = 4
const queriesOfRound = 40
const few = 4

type Random = () => number
const below = (random: Random, end: number) => Math.floor(random() * end)
function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)] as T
}

const teams = ['a', 'b', 'c']
const cities = ['u', 'v']
const months = ['2026-01', '2026-02', '2026-03']

/** Cities go with teams but for few people, as where differences tell most. Some get several payments, or none. */
function randomPayments(random: Random): readonly Payment[] {
  const count = 40 + below(random, 160)
  const exceptions = pick(random, [0, 0.02, 0.15])
  const strays = pick(random, [0, 0.05])
  return Array.from({ length: count }, (_, index): Payment => {
    const person = pick(random, [index, index, index, below(random, count)])
    const at = random() < strays / 4 ? 2 : below(random, 2)
    const home = random() < exceptions ? 1 - (at % 2) : at % 2
    return {
      ...{ id: index + 1, person, team: teams[at] as string, city: cities[home] as string },
      ...{ site: 1 + below(random, 3), kind: random() < 0.85 ? 'wage' : 'bonus' },
      paid: `${pick(random, random() < strays ? months : months.slice(0, 2))}-${random() < 0.9 ? '01' : pick(random, ['15', '28'])}`,
      pay: random() < 0.05 ? null : 1000 + below(random, 1_000_000),
    }
  })
}

interface Condition {
  readonly sql: string
  readonly keeps: (row: Payment) => boolean
}

function randomCondition(random: Random, depth = 0): Condition {
  const shape = below(random, depth < 2 ? 7 : 5)
  if (shape >= 5) {
    const [one, other] = [randomCondition(random, depth + 1), randomCondition(random, depth + 1)]
    return shape === 5
      ? { sql: `(${one.sql} AND ${other.sql})`, keeps: (row) => one.keeps(row) && other.keeps(row) }
      : { sql: `(${one.sql} OR ${other.sql})`, keeps: (row) => one.keeps(row) || other.keeps(row) }
  }
  const not = random() < 0.5
  if (shape >= 3) {
    const moment = `${pick(random, months)}-${pick(random, ['01', '01', '02', '28'])}`
    return not
      ? { sql: `paid >= DATE '${moment}'`, keeps: ({ paid }) => paid >= moment }
      : { sql: `paid < DATE '${moment}'`, keeps: ({ paid }) => paid < moment }
  }
  const name = shape === 0 ? 'city' : 'team'
  const value = pick(random, shape === 0 ? cities : teams)
  return { sql: `${name} ${not ? '<>' : '='} '${value}'`, keeps: (row) => (row[name] === value) !== not }
}

const keys = {
  team: { sql: 'team', of: (row: Payment) => row.team },
  city: { sql: 'city', of: (row: Payment) => row.city },
  month: { sql: "to_char(paid, 'YYYY-MM')", of: ({ paid }: Payment) => paid.slice(0, 7) },
  day: { sql: "to_char(paid, 'YYYY-MM-DD')", of: ({ paid }: Payment) => paid },
  paired: { sql: "team = 'a' OR city = 'u'", of: (row: Payment) => row.team === 'a' || row.city === 'u' },
} as const
const metrics = {
  pays: () => true,
  wages: ({ kind }: Payment) => kind === 'wage',
} as const

interface Query {
  readonly metric: keyof typeof metrics
  readonly keys: readonly (keyof typeof keys)[]
  readonly condition: Condition | undefined
  readonly text: string
}

function randomQuery(random: Random): Query {
  const metric = random() < 0.8 ? 'pays' : 'wages'
  const by = (Object.keys(keys) as (keyof typeof keys)[]).filter(() => random() < 0.25)
  const condition = random() < 0.7 ? randomCondition(random) : undefined
  const select = [...by.map((key) => keys[key].sql), `MEASURE(${metric})`].join(', ')
  const where = condition ? ` WHERE ${condition.sql}` : ''
  const group = by.length > 0 ? ` GROUP BY ${by.map((_, index) => index + 1).join(', ')}` : ''
  const text = `SELECT ${select} FROM staff__metrics${where}${group}`
  return { metric, keys: by, condition, text }
}

/** The rows behind each number of a query, by its keys. */
function groupsOf(rows: readonly Payment[], { metric, keys: by, condition }: Query) {
  const counted = rows.filter(
    (row) => row.pay !== null && metrics[metric](row) && (condition === undefined || condition.keeps(row)),
  )
  return Map.groupBy(counted, (row) => JSON.stringify(by.map((key) => keyText(keys[key].of(row)))))
}
const keyText = (value: string | boolean) => (typeof value === 'boolean' ? (value ? 't' : 'f') : value)

interface Shown {
  readonly text: string
  readonly key: string
  readonly rows: ReadonlySet<Payment>
}

function difference(one: Shown, other: Shown): readonly Payment[] {
  const only = (a: Shown, b: Shown) => [...a.rows].filter((row) => !b.rows.has(row))
  return [...only(one, other), ...only(other, one)]
}

const attestations: readonly (readonly [string, readonly Attestation[]])[] = [
  ['by teams', [attested({ minGroupSize: few })]],
  ['by months', [attested({ minGroupSize: few, dimensions: [{ name: 'paid', grain: 'month' }] })]],
  [
    'by teams and months',
    [attested({ minGroupSize: few, dimensions: [{ name: 'team' }, { name: 'paid', grain: 'month' }] })],
  ],
  [
    'by teams and cities',
    [attested({ minGroupSize: few, dimensions: [{ name: 'team' }, { name: 'city' }] })],
  ],
  [
    'two metrics by other dimensions',
    [
      attested({ minGroupSize: few }),
      attested({ metric: 'wages', minGroupSize: few, dimensions: [{ name: 'city' }] }),
    ],
  ],
]

describe.each(attestations)('attested %s', (_, given) => {
  test.each([
    ['payments', false],
    ['persons', true],
  ])(`two answers differ by none or by many %s (seed ${seed})`, async (_unit, arePersons) => {
    const random = generator(seed)
    const model = staffModel(...given.map((one) => ({ ...one, ...(arePersons && persons(few)) })))
    // The reader sees no row of the third site, so nothing of it may count.
    const filter = { policyId: 'sites', origin: { kind: 'table' }, expression: 'site < 3' } as const
    const tables = staffTables({ rowFilters: [filter] })
    let answered = 0
    for (let round = 0; round < rounds; round++) {
      const payments = randomPayments(random)
      const visible = payments.filter(({ site }) => site < 3)
      await using staff = await openStaff(payments)
      const shown: Shown[] = []
      for (let asked = 0; asked < queriesOfRound; asked++) {
        const query = randomQuery(random)
        const groups = groupsOf(visible, query)
        for (const row of await staff.sql(query.text, model, tables)) {
          const value = row.at(-1)
          if (value === null || value === undefined) continue
          const key = JSON.stringify(row.slice(0, -1))
          const rows = groups.get(key) ?? []
          expect([query.text, key, value]).toEqual([query.text, key, String(sum(rows))])
          shown.push({ text: query.text, key, rows: new Set(rows) })
        }
      }
      answered += shown.length
      expect(tooNear(shown, arePersons)).toEqual([])
    }
    // Else it would hold for a layer that answers nothing.
    expect(answered).toBeGreaterThan(0)
  })
})

function sum(rows: readonly Payment[]): number {
  return rows.reduce((all, { pay }) => all + Number(pay ?? 0), 0)
}

/** Pairs of numbers, and single ones, that are those of few. */
function tooNear(shown: readonly Shown[], arePersons: boolean): readonly unknown[] {
  const sizeOf = (rows: readonly Payment[]) =>
    arePersons ? new Set(rows.map(({ person }) => person)).size : rows.length
  const isFew = (rows: readonly Payment[]) => rows.length > 0 && sizeOf(rows) < few
  return shown.flatMap((one, index) => {
    const alone = isFew([...one.rows]) ? [[one.text, one.key]] : []
    const pairs = shown
      .slice(0, index)
      .filter((other) => isFew(difference(one, other)))
      .map((other) => [one.text, one.key, other.text, other.key])
    return [...alone, ...pairs]
  })
}
