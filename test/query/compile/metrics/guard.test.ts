/**
 * Which groups of an attested metric show: large ones, made of whole large parts, that leave out none or many rows. Each
 * case is a try to learn one person's pay from two answers.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import {
  attested,
  maskedColumns,
  openStaff,
  type Payment,
  persons,
  staffModel,
  staffTables,
} from './staff.ts'

interface Group extends Partial<Payment> {
  readonly count: number
  /** Whether all are to one person. */
  readonly same?: boolean
}

/** Payments of 100, 101, and so on. */
const payments = (groups: readonly Group[]): readonly Payment[] => {
  let id = 0
  return groups.flatMap(({ count, same, ...given }) => {
    const first = id + 1
    return Array.from({ length: count }, (): Payment => {
      id++
      const person = same ? first : id
      const plain = { team: 'a', city: 'u', site: 1, kind: 'wage', paid: '2026-01-05', pay: 99 + id }
      return { id, person, ...plain, ...given }
    })
  })
}
const opened: Awaited<ReturnType<typeof openStaff>>[] = []
const staffOf = async (...groups: readonly Group[]) => {
  const staff = await openStaff(payments(groups))
  opened.push(staff)
  return staff
}
afterAll(() => {
  for (const each of opened) each.close()
})
const byTeam = 'SELECT team, MEASURE(pays) FROM staff__metrics GROUP BY 1 ORDER BY 1'
const total = 'SELECT MEASURE(pays) FROM staff__metrics'
const [a3, b3] = [
  { count: 3, team: 'a' },
  { count: 3, team: 'b' },
]

describe('a group of an attested metric', () => {
  test('shows where it and the rest are large', async () => {
    const staff = await staffOf(a3, b3)
    expect(await staff.sql(byTeam, staffModel(attested()))).toEqual([
      ['a', '303'],
      ['b', '312'],
    ])
    expect(await staff.sql(total, staffModel(attested()))).toEqual([['615']])
  })

  test('is NULL where the rest is small, because the total less the group would be the rest', async () => {
    const staff = await staffOf(a3, { count: 1, team: 'b' })
    expect(await staff.sql(byTeam, staffModel(attested()))).toEqual([
      ['a', null],
      ['b', null],
    ])
  })

  test('is NULL where the query drops few rows', async () => {
    const staff = await staffOf(a3, b3, { count: 2, team: 'c' })
    const model = staffModel(attested())
    const where = (condition: string) =>
      staff.sql(`SELECT MEASURE(pays) FROM staff__metrics WHERE ${condition}`, model)
    expect(await where("team <> 'c'")).toEqual([[null]])
    expect(await where("team = 'a'")).toEqual([['303']])
  })

  test('is NULL where it holds a small part, because another answer may be the rest of it', async () => {
    const staff = await staffOf(a3, b3, { count: 2, team: 'c' })
    expect(await staff.sql(total, staffModel(attested()))).toEqual([[null]])
    expect(await staff.sql(total, staffModel(attested({ dimensions: [] })))).toEqual([['828']])
  })

  test('is NULL where another dimension has a small part in it', async () => {
    const staff = await staffOf(a3, b3, { count: 1, team: 'a', city: 'v' })
    const both = attested({ dimensions: [{ name: 'team' }, { name: 'city' }] })
    expect(await staff.sql(byTeam, staffModel(both))).toEqual([
      ['a', null],
      ['b', '312'],
    ])
    expect(await staff.sql(byTeam, staffModel(attested()))).toMatchObject([
      ['a', '409'],
      ['b', '312'],
    ])
  })

  test('counts no row without a value, in itself or in what is left out', async () => {
    const nobody = { count: 5, pay: null }
    const staff = await staffOf(a3, { ...nobody, team: 'b' })
    expect(await staff.sql(byTeam, staffModel(attested()))).toEqual([
      ['a', '303'],
      ['b', null],
    ])
    const few = await staffOf(a3, { ...nobody, team: 'b' }, { count: 2, team: 'b' })
    expect(await few.sql(byTeam, staffModel(attested()))).toEqual([
      ['a', null],
      ['b', null],
    ])
  })

  test('has enough persons in each part and in what is left out', async () => {
    const many = { count: 9, team: 'b', same: true } as const
    const staff = await staffOf(a3, many)
    expect(await staff.sql(byTeam, staffModel(attested()))).toMatchObject([
      ['a', '303'],
      ['b', expect.any(String)],
    ])
    expect(await staff.sql(byTeam, staffModel(attested(persons(2))))).toEqual([
      ['a', null],
      ['b', null],
    ])
    const enough = await staffOf(a3, b3)
    expect(await enough.sql(byTeam, staffModel(attested(persons(3))))).toMatchObject([
      ['a', '303'],
      ['b', '312'],
    ])
    expect(await enough.sql(byTeam, staffModel(attested(persons(4))))).toMatchObject([
      ['a', null],
      ['b', null],
    ])
  })

  test('is not changed by HAVING, an order or a limit', async () => {
    const staff = await staffOf(a3, { count: 1, team: 'b' })
    const model = staffModel(attested())
    for (const end of ["HAVING team = 'a'", 'HAVING count(*) > 2', 'ORDER BY MEASURE(payments) DESC LIMIT 1'])
      expect(
        await staff.sql(`SELECT team, MEASURE(pays) FROM staff__metrics GROUP BY team ${end}`, model),
      ).toEqual([['a', null]])
  })

  test('shows in grouping sets as it does alone', async () => {
    const staff = await staffOf(a3, b3, { count: 2, team: 'c' })
    const text = 'SELECT team, MEASURE(pays) FROM staff__metrics GROUP BY ROLLUP (team) ORDER BY 1'
    expect(await staff.sql(text, staffModel(attested()))).toEqual([
      ['a', '303'],
      ['b', '312'],
      ['c', null],
      [null, null],
    ])
  })

  test('is guarded for each metric of a query by its own attestation', async () => {
    const staff = await staffOf(a3, b3, { count: 2, team: 'a', kind: 'bonus' })
    const model = staffModel(attested(), attested({ metric: 'wages', minGroupSize: 2 }))
    const text = 'SELECT team, MEASURE(pays), MEASURE(wages) FROM staff__metrics GROUP BY 1 ORDER BY 1'
    // Wages alone would show; with both, three wages less five payments are two bonuses.
    expect(await staff.sql(text, model)).toEqual([
      ['a', null, '303'],
      ['b', '312', '312'],
    ])
  })
})

describe('a part of an attested metric', () => {
  const monthly = attested({ dimensions: [{ name: 'paid', grain: 'month' }] })

  test('is a period of its grain, which a range may not cut', async () => {
    const staff = await staffOf(
      { count: 3 },
      { count: 3, paid: '2026-02-03' },
      { count: 1, paid: '2026-02-28' },
    )
    const model = staffModel(monthly)
    expect(await staff.request({ grain: 'month' }, model)).toEqual([
      ['2026-01-01', '303'],
      ['2026-02-01', '418'],
    ])
    expect(await staff.request({ grain: 'year' }, model)).toEqual([['2026-01-01', '721']])
    expect(await staff.request({ to: new Date('2026-02-01') }, model)).toEqual([['303']])
    expect(await staff.request({ to: new Date('2026-02-28') }, model)).toEqual([[null]])
    expect(await staff.request({ grain: 'day' }, model)).toEqual([
      ['2026-01-05', '303'],
      ['2026-02-03', null],
      ['2026-02-28', null],
    ])
    const sql = "SELECT date_trunc('month', paid), MEASURE(pays) FROM staff__metrics GROUP BY 1 ORDER BY 1"
    expect((await staff.sql(sql, model)).map(([, value]) => value)).toEqual(['303', '418'])
  })

  test('may be told by the dimension of another table', async () => {
    const staff = await staffOf({ count: 3 }, { count: 3, site: 3 }, { count: 1, site: 2 })
    const model = staffModel(attested({ dimensions: [{ name: 'at__country' }] }))
    const text = 'SELECT at__country, MEASURE(pays) FROM staff__metrics GROUP BY 1 ORDER BY 1'
    expect(await staff.sql(text, model)).toEqual([
      ['x', '409'],
      ['y', '312'],
    ])
    expect(await staff.sql(total, model)).toEqual([['721']])
  })

  test('is cut by a condition of any kind', async () => {
    const staff = await staffOf({ count: 6, city: 'u' }, { count: 6, team: 'b' })
    const model = staffModel(attested())
    for (const condition of ['random() < 0.5', "team || random()::text < 'b'"]) {
      const text = `SELECT team, MEASURE(pays) FROM staff__metrics WHERE ${condition} GROUP BY 1`
      const shown = (await staff.sql(text, model)).flatMap(([, value]) => value ?? [])
      expect(shown.every((value) => ['615', '651'].includes(value))).toBe(true)
    }
  })

  test('is told by the dimensions and filters of all attested metrics over the column', async () => {
    const staff = await staffOf(
      a3,
      b3,
      { count: 1, team: 'a', city: 'v' },
      { count: 3, city: 'v', kind: 'x' },
    )
    const wages = attested({ metric: 'wages', dimensions: [{ name: 'city' }] })
    const alone = await staff.sql('SELECT MEASURE(pays) FROM staff__metrics', staffModel(attested()))
    expect(alone).toEqual([['1045']])
    // The wage in the other city is a part of its own: with it two answers could differ by one person.
    expect(await staff.sql(total, staffModel(attested(), wages))).toEqual([[null]])
  })
})

describe('an attestation lifts nothing', () => {
  test.each([
    ['a dimension that it does not name', 'city'],
    ['the key', 'id'],
    ['the attested column', 'pay'],
    ['a time that it does not name', 'paid'],
  ])('for %s, in a group or a filter', async (_, name) => {
    const staff = await staffOf(a3, b3)
    const model = staffModel(attested())
    const grouped = await staff.sql(`SELECT ${name}, MEASURE(pays) FROM staff__metrics GROUP BY 1`, model)
    expect(grouped.every(([, value]) => value === null)).toBe(true)
    const where = `SELECT MEASURE(pays) FROM staff__metrics WHERE ${name} IS NOT NULL OR team = 'a'`
    expect(await staff.sql(where, model)).toEqual([[null]])
  })

  test('for a dimension that the reader sees masked, covered or not', async () => {
    const staff = await staffOf(a3, b3)
    const tables = staffTables({ columns: maskedColumns('team', 'pay') })
    const model = staffModel(attested())
    expect(await staff.sql(byTeam, model, tables)).toEqual([[null, null]])
    const where = 'SELECT MEASURE(pays) FROM staff__metrics WHERE team IS NULL'
    expect(await staff.sql(where, model, tables)).toEqual([[null]])
    expect(await staff.sql(total, model, tables)).toEqual([['615']])
  })

  test('for a dimension to which a masked column leads', async () => {
    const staff = await staffOf(a3, b3)
    const tables = staffTables({ columns: maskedColumns('site', 'pay') })
    const model = staffModel(attested({ dimensions: [{ name: 'at__country' }] }))
    const text = 'SELECT at__country, MEASURE(pays) FROM staff__metrics GROUP BY 1'
    expect(await staff.sql(text, model, tables)).toEqual([[null, null]])
  })

  test('where it names a dimension that is gone', async () => {
    const staff = await staffOf(a3, b3)
    const model = staffModel(attested({ dimensions: [{ name: 'gone' }] }))
    expect(await staff.sql(total, model)).toEqual([[null]])
  })

  test('of a metric that does not add up over time, whose rows are others for each group', async () => {
    const staff = await staffOf(a3, b3)
    const model = staffModel(attested({ metric: 'held' }))
    expect(await staff.sql('SELECT MEASURE(held) FROM staff__metrics', model)).toEqual([[null]])
  })

  test('of what older attestations do not name: by plain dimensions only, all of them together', async () => {
    const staff = await staffOf(a3, b3)
    const model = staffModel(attested({ dimensions: undefined, ...persons(2) }))
    expect(await staff.sql(byTeam, model)).toMatchObject([
      ['a', '303'],
      ['b', '312'],
    ])
    const cut = await staffOf(a3, b3, { count: 1, site: 2 })
    expect(await cut.sql(byTeam, model)).toMatchObject([
      ['a', null],
      ['b', '312'],
    ])
  })
})

test('an attested metric whose filter reads a joined table reads masked values, and changes no other', async () => {
  const staff = await staffOf(a3, b3)
  const model = staffModel(attested(), attested({ metric: 'pays_in_x' }))
  const by = (metric: string) =>
    staff.sql(`SELECT team, MEASURE(${metric}) FROM staff__metrics GROUP BY 1 ORDER BY 1`, model)
  expect(await by('pays_in_x')).toEqual([
    ['a', null],
    ['b', null],
  ])
  expect(await by('pays')).toEqual([
    ['a', '303'],
    ['b', '312'],
  ])
})

describe('a cumulative metric', () => {
  const monthly = { dimensions: [{ name: 'paid', grain: 'month' }] } as const
  const of = { metric: 'pays', sha256: 'pays' }
  const soFar = attested({ metric: 'so_far', ...monthly, of })
  const asked = {
    ...({ metrics: ['so_far'], grain: 'month' } as const),
    ...{ from: new Date('2026-01-01'), to: new Date('2026-04-01') },
  } as const
  const february = { count: 3, paid: '2026-02-03' }
  const march = { count: 3, paid: '2026-03-03' }

  test('reads without masks by an attestation of its own, not by that of what it adds up', async () => {
    const staff = await staffOf({ count: 3 }, february, march)
    const shown = await staff.request(asked, staffModel(soFar))
    expect(shown.map(([, value]) => value)).toEqual(['303', '615', '936'])
    const masked = await staff.request(asked, staffModel(attested(monthly)))
    expect(masked.map(([, value]) => value)).toEqual([null, null, null])
  })

  test('is NULL from the period on that adds few rows', async () => {
    const staff = await staffOf({ count: 3 }, { count: 1, paid: '2026-02-03' }, march)
    const shown = await staff.request(asked, staffModel(soFar))
    expect(shown.map(([, value]) => value)).toEqual(['303', null, null])
  })

  test('is NULL where what is to come is small', async () => {
    const staff = await staffOf({ count: 3 }, february, { ...march, count: 2 })
    const shown = await staff.request(asked, staffModel(soFar))
    expect(shown.map(([, value]) => value)).toEqual(['303', null, null])
  })

  test('reads masked values once what it adds up is another', async () => {
    const staff = await staffOf({ count: 3 }, february, march)
    const changed = { ...soFar, of: { ...of, sha256: 'before' } }
    const shown = await staff.request(asked, staffModel(changed))
    expect(shown.map(([, value]) => value)).toEqual([null, null, null])
  })
})

describe('a metric of a period before', () => {
  const monthly = { dimensions: [{ name: 'paid', grain: 'month' }] } as const
  const asked = (metric: string) =>
    ({
      ...({ metrics: [metric], grain: 'month' } as const),
      ...{ from: new Date('2026-02-01'), to: new Date('2026-04-01') },
    }) as const

  test.each(['month_before', 'so_far_before'])(
    '%s reads masked values whatever is attested of what it is made of, and of itself',
    async (metric) => {
      const months = [{ count: 3 }, { count: 3, paid: '2026-02-03' }, { count: 3, paid: '2026-03-03' }]
      const staff = await staffOf(...months)
      const everything = staffModel(
        attested(monthly),
        attested({ metric: 'so_far', ...monthly, of: { metric: 'pays', sha256: 'pays' } }),
        attested({ metric, ...monthly, of: { metric: 'pays', sha256: 'pays' } }),
      )
      const shown = await staff.request(asked(metric), everything)
      expect(shown.map(([, value]) => value)).toEqual([null, null])
    },
  )

  test('shows its numbers where no mask hides them', async () => {
    const staff = await staffOf({ count: 3 }, { count: 3, paid: '2026-02-03' })
    const [{ columns } = { columns: [] }] = staffTables()
    const open = staffTables({ columns: columns.map((column) => ({ ...column, masks: [] })) })
    const shown = await staff.request(asked('month_before'), staffModel(), open)
    expect(shown.map(([, value]) => value)).toEqual(['303', '312'])
  })
})

test('a ratio shows where each of its parts does', async () => {
  const staff = await staffOf(a3, { count: 4, team: 'b' }, { count: 1, team: 'c' })
  const text = 'SELECT team, MEASURE(each) FROM staff__metrics GROUP BY 1 ORDER BY 1'
  expect(await staff.sql(text, staffModel(attested()))).toMatchObject([
    ['a', '101'],
    ['b', '104.5'],
    ['c', null],
  ])
  const both = 'SELECT team, MEASURE(beside_wages) FROM staff__metrics GROUP BY 1 ORDER BY 1'
  expect(await staff.sql(both, staffModel(attested()))).toMatchObject([
    ['a', null],
    ['b', null],
    ['c', null],
  ])
})

test('what is written for Trino is in its grammar', async () => {
  const staff = await staffOf(a3, b3)
  const model = staffModel(
    attested({ ...persons(2), dimensions: [{ name: 'team' }, { name: 'at__country' }] }),
  )
  const expansion = expandMetrics(parseSelect(byTeam), { model, searchPath: ['hr'] })
  const sql = renderSql(staff.compile(byTeam, { expansion }).emit('trino'), 'trino')
  expect(new TrinoSQL().validate(sql)).toEqual([])
})
