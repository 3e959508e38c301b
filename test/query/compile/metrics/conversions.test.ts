/**
 * Conversions, beside the same numbers by hand: for each bonus the last wage of the person before it, row by row. Readers
 * see all rows, some of them, and masked ones.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { generator } from '../../../support/generator.ts'
import { attested, maskedColumns, openStaff, type Payment, staffModel, staffTables } from './staff.ts'

const dayMs = 86_400_000
const random = generator(20_261_129)
const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
const payments = Array.from({ length: 80 }, (_, index): Payment => {
  const paid = new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 60) * dayMs).toISOString().slice(0, 10)
  const person = 1 + Math.floor(random() * 6)
  return {
    ...{ id: index + 1, person, paid, pay: 10, site: pick([1, 2]), team: pick(['a', 'b', 'c']) },
    ...{ city: pick(['u', 'v']), kind: pick(['wage', 'wage', 'bonus']) },
  }
})
const staff = await openStaff(payments)
afterAll(() => staff.close())

interface ByHand {
  readonly group: (wage: Payment) => string
  readonly isSeen?: ((row: Payment) => boolean) | undefined
  readonly isAsked?: ((wage: Payment) => boolean) | undefined
  readonly isSame?: ((wage: Payment, bonus: Payment) => boolean) | undefined
  readonly days?: number | undefined
}

/** The wages, and the bonuses that follow them, of each group. Wages of one moment lie in the order of their groups. */
function byHand({ group, isSeen = () => true, isAsked = () => true, isSame = () => true, days }: ByHand) {
  const rows = payments.filter(isSeen)
  const wages = rows.filter(({ kind }) => kind === 'wage')
  const groups = new Map<string, { all: number; some: number }>()
  const at = ({ paid }: Payment) => Date.parse(paid)
  for (const wage of wages.filter(isAsked)) {
    const found = groups.get(group(wage)) ?? { all: 0, some: 0 }
    groups.set(group(wage), { ...found, all: found.all + 1 })
  }
  for (const bonus of rows.filter(({ kind }) => kind === 'bonus')) {
    const before = wages
      .filter((wage) => wage.person === bonus.person && at(wage) <= at(bonus) && isSame(wage, bonus))
      .sort(
        (a, b) => at(a) - at(b) || Number(isAsked(a)) - Number(isAsked(b)) || (group(a) < group(b) ? -1 : 1),
      )
    const last = before.at(-1)
    if (last === undefined || !isAsked(last)) continue
    if (days !== undefined && at(bonus) - at(last) >= days * dayMs) continue
    const found = groups.get(group(last))
    if (found) found.some += 1
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}

const model = staffModel()
const ask = (
  metrics: readonly string[],
  request: Partial<MetricRequest>,
  tables?: readonly GovernedTable[],
) => staff.request({ metrics, ...request }, model, tables)

const allButA = { policyId: 'f', origin: { kind: 'table' }, expression: "team <> 'a'" } as const
const readers = [
  { name: 'sees all rows', tables: staffTables(), isSeen: undefined },
  {
    name: 'sees some rows',
    tables: staffTables({ rowFilters: [allButA] }),
    isSeen: ({ team }: Payment) => team !== 'a',
  },
]

describe.each(readers)('for a reader who $name', ({ tables, isSeen }) => {
  test('a bonus follows the last wage of its person within the window, in that wage’s group', async () => {
    const actual = await ask(
      ['bonus_count', 'bonus_rate', 'wages_paid'],
      { dimensions: [{ name: 'team' }] },
      tables,
    )
    const expected = byHand({ group: ({ team }) => team, isSeen, days: 10 })
    expect(expected.some(([, { some }]) => some > 0)).toBe(true)
    expect(actual.map(([team, count, , all]) => [team, Number(count), Number(all)])).toEqual(
      expected.map(([team, { some, all }]) => [team, some, all]),
    )
    for (const [, count, rate, all] of actual)
      expect(Number(rate)).toBeCloseTo(Number(count) / Number(all), 12)
  })

  test('a property that must stay the same keeps it from following another wage, at any time', async () => {
    const actual = await ask(['bonus_at_home'], { dimensions: [{ name: 'team' }] }, tables)
    const expected = byHand({
      group: ({ team }) => team,
      isSeen,
      isSame: (wage, bonus) => wage.city === bonus.city,
    })
    expect(actual.map(([team, count]) => [team, Number(count)])).toEqual(
      expected.map(([team, { some }]) => [team, some]),
    )
  })

  test('it is told by the time of the wage, and a filter drops wages with what follows them', async () => {
    const actual = await ask(
      ['bonus_count'],
      {
        ...{ grain: 'month', from: new Date('2026-01-10'), to: new Date('2026-02-20') },
        where: [{ dimension: 'city', operator: '=', values: ['u'] }],
      },
      tables,
    )
    const expected = byHand({
      group: ({ paid }) => `${paid.slice(0, 7)}-01`,
      isAsked: ({ city, paid }) => city === 'u' && paid >= '2026-01-10' && paid < '2026-02-20',
      ...{ isSeen, days: 10 },
    })
    expect(actual.map(([month, count]) => [month, Number(count)])).toEqual(
      expected.map(([month, { some }]) => [month, some]),
    )
  })

  test('groups of a joined table are those of the wage', async () => {
    const actual = await ask(
      ['bonus_count'],
      { dimensions: [{ name: 'at__country' }, { name: 'site' }] },
      tables,
    )
    const expected = byHand({ group: ({ site }) => `x|${site}`, isSeen, days: 10 })
    expect(actual.map(([country, site, count]) => [`${country}|${site}`, Number(count)])).toEqual(
      expected.map(([key, { some }]) => [key, some]),
    )
  })
})

describe('a masked column', () => {
  test('of the entity leads nowhere where the mask is NULL', async () => {
    const masked = staffTables({ columns: maskedColumns('pay', 'person') })
    expect(await ask(['bonus_count', 'bonus_rate'], {}, masked)).toEqual([['0', '0']])
  })

  test('stays masked whatever is attested', async () => {
    const masked = staffTables({ columns: maskedColumns('pay', 'person') })
    const everything = staffModel(
      attested({ metric: 'bonus_count' }),
      attested({ metric: 'wages_paid' }),
      attested({ metric: 'bonuses_paid' }),
    )
    expect(await staff.request({ metrics: ['bonus_count'] }, everything, masked)).toEqual([['0']])
  })
})

test('a conversion is asked for in requests, not in SQL, where its rows are of two times', async () => {
  const text = 'SELECT MEASURE(bonus_count) FROM staff__metrics'
  expect(staff.sql(text, model)).rejects.toThrow('there is no metric "bonus_count" in this relation')
  const own = "SELECT count(*) FROM staff__metrics WHERE metric_counts('wages_paid')"
  expect(staff.sql(own, model)).rejects.toThrow('metric_counts')
})

test('what is written for Trino is in its grammar', () => {
  const request = {
    metrics: ['bonus_rate'],
    dimensions: [{ name: 'team' }],
    where: [],
    orderBy: [],
    limit: 10,
  }
  const { tree, parameters } = compileMetricRequest(model, request)
  const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
  const compiled = staff.compile('', { expansion, tables: staffTables() })
  const trino = renderSql(compiled.emit('trino'), 'trino', { salt: new Uint8Array(16), parameters })
  expect(new TrinoSQL().validate(trino)).toEqual([])
})
