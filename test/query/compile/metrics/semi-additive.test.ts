/**
 * A metric that does not add up over time, asked in every way: it is right, or refused as `semi_additive`, and never a
 * sum over the moments.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import type { SemiAdditivity } from '../../../../src/core/metric.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { tableKey } from '../../../../src/core/table-ref.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import { openSubject } from '../../support/duckdb.ts'
import { metric } from './shop.ts'

/** Two accounts, counted on three days; the second one not on the last. */
const counts: GovernedTable = {
  ref: { namespace: ['bank'], name: 'counts' },
  schemaName: 'bank',
  tableName: 'counts',
  relation: { duckdb: ['main', 'counts'], trino: ['lake', 'bank', 'counts'] },
  columns: (
    [
      ['day_id', 'int'],
      ['day', 'date'],
      ['account', 'string'],
      ['branch', 'string'],
      ['held', 'long'],
    ] as const
  ).map(([name, type], index) => ({ name, type, fieldId: index + 1, required: false, masks: [] })),
  rowFilters: [],
  contract: { id: 'counts', version: 1 },
}
const days: GovernedTable = {
  ...counts,
  ref: { namespace: ['bank'], name: 'days' },
  tableName: 'days',
  relation: { duckdb: ['main', 'days'], trino: ['lake', 'bank', 'days'] },
  columns: (
    [
      ['id', 'int'],
      ['date', 'date'],
    ] as const
  ).map(([name, type], index) => ({ name, type, fieldId: index + 1, required: false, masks: [] })),
}
const subject = await openSubject({
  tables: [counts, days],
  searchPath: ['bank'],
  setup: [
    'create table counts (day_id int, day date, account text, branch text, held bigint)',
    `insert into counts values (1, '2024-01-30', 'a', 'x', 10), (1, '2024-01-30', 'b', 'y', 100),
      (2, '2024-01-31', 'a', 'x', 20), (2, '2024-01-31', 'b', 'y', 200), (3, '2024-02-01', 'a', 'x', 30),
      (null, null, 'a', 'x', 7000)`,
    'create table days (id int, date date)',
    `insert into days values (1, '2024-01-30'), (2, '2024-01-31'), (3, '2024-02-01')`,
  ],
})
afterAll(() => subject.close())

const names = { day_id: 1, day: 2, account: 3, branch: 4, held: 5 }
const at = (text: keyof typeof names, kind: 'time' | 'categorical' = 'categorical') =>
  ({ name: text, kind, expression: { text, names: { [text]: names[text] } } }) as const
const model = (semi: Partial<SemiAdditivity> = {}): SemanticModel => {
  const held = metric('held_now', {
    kind: 'simple',
    table: counts.ref,
    expression: { text: 'sum(held)', names: { held: 5 } },
    semiAdditive: { dimension: 'day', take: 'last', over: [], ...semi },
  })
  const rows = metric('rows', {
    kind: 'simple',
    table: counts.ref,
    expression: { text: 'count(*)', names: {} },
  })
  const each = metric('each', { kind: 'ratio', numerator: 'held_now', denominator: 'rows' })
  const soFar = metric('so_far', { kind: 'cumulative', metric: 'held_now' })
  const ofDays = { name: 'date', kind: 'time', expression: { text: 'date', names: { date: 2 } } } as const
  return {
    tables: new Map([
      [
        tableKey(counts.ref),
        {
          ...{ table: counts.ref, number: 1, key: [], timeDimension: 'day' },
          dimensions: [at('day', 'time'), at('account'), at('branch')],
          relationships: [{ name: 'on', to: days.ref, columns: [1], key: [1] }],
        },
      ],
      [tableKey(days.ref), { table: days.ref, number: 1, key: [1], dimensions: [ofDays], relationships: [] }],
    ]),
    metrics: new Map([held, rows, each, soFar].map((one) => [one.name, one])),
    attestations: new Map(),
  }
}

type Tables = readonly GovernedTable[]
const plain = { metrics: ['held_now'], dimensions: [], where: [], orderBy: [], limit: 100 }
async function ask(request: Partial<MetricRequest>, over = model(), tables: Tables = [counts, days]) {
  const { tree, parameters } = compileMetricRequest(over, { ...plain, ...request })
  const expansion = expandMetrics(tree, { model: over, searchPath: [], generated: true })
  return (await subject.run('', parameters, { tables, expansion })).rows.map((row) => row.join('|'))
}
async function sql(text: string, over = model(), tables: Tables = [counts, days]) {
  const expansion = expandMetrics(parseSelect(text), { model: over, searchPath: ['bank'] })
  return (await subject.run(text, [], { tables, expansion })).rows.map((row) => row.join('|'))
}
/** How a program sees the refusal. */
const refusal = async (asked: Promise<unknown>) =>
  await asked.then(
    (rows) => `answered ${JSON.stringify(rows)}`,
    (thrown: unknown) =>
      thrown instanceof SqlError
        ? [thrown.kind, thrown.sqlState, thrown.members?.reason].join()
        : `threw ${thrown}`,
  )
const refused = 'unprocessable,0A000,semi_additive'

describe('a metric that does not add up over time is solved', () => {
  test('without a dimension: the last moment, and never the sum of all', async () => {
    expect(await ask({})).toEqual(['30'])
    expect(await ask({}, model({ take: 'first' }))).toEqual(['110'])
    expect(await sql('SELECT MEASURE(held_now) FROM counts__metrics')).toEqual(['30'])
    expect(await sql('SELECT sum(held_now) FROM counts__metrics')).toEqual(['30'])
  })

  test('in each period: the last moment of each', async () => {
    expect(await ask({ grain: 'month' })).toEqual(['2024-01-01|220', '2024-02-01|30', '|'])
    expect(await ask({ grain: 'day' })).toEqual(['2024-01-30|110', '2024-01-31|220', '2024-02-01|30', '|'])
    expect(await ask({ grain: 'year' })).toEqual(['2024-01-01|30', '|'])
  })

  test('for each of what it is held over: the last moment of each', async () => {
    expect(await ask({}, model({ over: ['account'] }))).toEqual(['230'])
    expect(await ask({ dimensions: [{ name: 'branch' }] }, model({ over: ['account'] }))).toEqual([
      'x|30',
      'y|200',
    ])
    expect(await ask({ dimensions: [{ name: 'branch' }] })).toEqual(['x|30', 'y|200'])
  })

  test('within a filter and a range: the last moment of what is left', async () => {
    const where = [{ dimension: 'account', operator: '=' as const, values: ['b'] }]
    expect(await ask({ where })).toEqual(['200'])
    expect(await ask({ to: new Date('2024-01-31') })).toEqual(['110'])
  })

  test('below a ratio', async () => {
    expect(await ask({ metrics: ['each'] })).toEqual(['5'])
  })

  test('by a moment in a joined table', async () => {
    expect(await ask({}, model({ dimension: 'on__date' }))).toEqual(['30'])
  })
})

describe('a metric that does not add up over time is refused', () => {
  test('in grouping sets', async () => {
    const text = 'SELECT branch, MEASURE(held_now) FROM counts__metrics GROUP BY ROLLUP (branch)'
    expect(await refusal(sql(text))).toBe(refused)
  })

  test('as part of a cumulative one', async () => {
    const range = { from: new Date('2024-01-01'), to: new Date('2024-03-01') }
    expect(await refusal(ask({ metrics: ['so_far'], grain: 'month', ...range }))).toBe(refused)
  })

  test.each(['truncate-to-month', 'mask-to-fixed-value', 'replace-with-null'])(
    'for a reader to whom a mask makes its moments one (%s)',
    async (action) => {
      const masked = (fieldId: number): Tables => [
        {
          ...counts,
          columns: counts.columns.map((column) => ({
            ...column,
            masks: column.fieldId === fieldId ? [{ policyId: 'm', origin: { kind: 'column' }, action }] : [],
          })),
        },
        days,
      ]
      expect(await refusal(ask({}, model(), masked(2)))).toBe(refused)
      expect(await refusal(sql('SELECT MEASURE(held_now) FROM counts__metrics', model(), masked(2)))).toBe(
        refused,
      )
      // What adds up is asked for as before.
      expect(await ask({ metrics: ['rows'] }, model(), masked(2))).toEqual(['6'])
      if (action === 'truncate-to-month') return
      expect(await refusal(ask({}, model({ over: ['account'] }), masked(3)))).toBe(refused)
    },
  )

  test('with NULL where the joined table holds a moment twice', async () => {
    await subject.runSql(`insert into days values (3, '2024-02-01')`)
    try {
      expect(await ask({}, model({ dimension: 'on__date' }))).toEqual([''])
      expect(await ask({})).toEqual(['30'])
    } finally {
      await subject.runSql('delete from days where id = 3')
      await subject.runSql(`insert into days values (3, '2024-02-01')`)
    }
  })
})
