/**
 * What is hidden stays hidden behind metrics: masked and filtered values never show in a number, a member, an order, an
 * error or a count; keys that are none count nothing twice; an attestation opens what it names and nothing else.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import type { AttachedMask, GovernedTable } from '../../../../src/core/governed-table.ts'
import type { Attestation } from '../../../../src/core/metric.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { tableKey } from '../../../../src/core/table-ref.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import { openSubject } from '../../support/duckdb.ts'
import { canary, governedTables } from '../../support/fixture.ts'
import { bound, metric, shop } from './shop.ts'

const subject = await openSubject()
afterAll(() => subject.close())

const employees = { namespace: ['hr'], name: 'employees' }
const salary = 5
const covered = { fieldId: salary, policyId: 'mask-sha-256-global', action: 'sha-256-global' }
const attested = (over: Partial<Attestation> = {}): Attestation => ({
  ...{ id: 'a', metric: 'salaries', sha256: 'salaries', tags: [], masks: [covered], minGroupSize: 2 },
  // Groups by dimensions: guard.test.ts.
  dimensions: [],
  untilMs: Number.POSITIVE_INFINITY,
  ...over,
})

async function ask(text: string, model: SemanticModel = shop(), tables = governedTables) {
  const expansion = expandMetrics(parseSelect(text), { model, searchPath: ['sales', 'hr'] })
  return (await subject.run(text, [], { tables, expansion })).rows
}

const failure = (asked: Promise<unknown>) =>
  asked.then(
    (rows) => `answered ${JSON.stringify(rows)}`,
    (thrown: unknown) =>
      thrown instanceof SqlError ? `${thrown.sqlState} ${thrown.message}` : `threw ${thrown}`,
  )

describe('masked and filtered values', () => {
  const attempts = [
    'SELECT customer__email, MEASURE(orders) FROM orders__metrics GROUP BY 1',
    'SELECT note, MEASURE(notes) FROM orders__metrics GROUP BY 1 ORDER BY note',
    "SELECT MEASURE(orders) FROM orders__metrics WHERE note LIKE 'CANARY%'",
    "SELECT status, MEASURE(orders) FROM orders__metrics WHERE region = 'SECRET' GROUP BY 1",
    'SELECT customer__city, MEASURE(orders) FROM orders__metrics GROUP BY 1',
    'SELECT dept, MEASURE(salaries) FROM employees__metrics GROUP BY 1',
    'SELECT name, MEASURE(heads) FROM employees__metrics GROUP BY 1',
    'SELECT manager__name, MEASURE(heads) FROM employees__metrics GROUP BY 1',
    'SELECT * FROM orders__metrics',
    "SELECT MEASURE(orders) FROM orders__metrics WHERE CAST(customer__email AS int) = 1 OR region = 'EU'",
    'SELECT (SELECT max(x.status) FROM orders__metrics x WHERE x.region = m.region) FROM orders__metrics m',
  ]
  test.each(attempts)('do not show in %s', async (text) => {
    const found = await failure(ask(text))
    expect(found).not.toContain(canary)
    expect(found).not.toContain('31337')
  })

  test('are not counted', async () => {
    expect(await ask('SELECT MEASURE(orders) FROM orders__metrics')).toEqual([['8']])
    expect(await ask("SELECT MEASURE(orders) FROM orders__metrics WHERE note LIKE 'CANARY%'")).toEqual([
      ['0'],
    ])
  })

  test('do not show by an error of a cast that only hidden values fail', async () => {
    const text = 'SELECT MEASURE(orders) FROM orders__metrics WHERE CAST(note AS int) IS NULL'
    expect(await ask(text)).toEqual([['8']])
  })
})

describe('keys', () => {
  /** Items lead to orders by a column that is no key there. */
  const wrong = (): SemanticModel => {
    const model = shop()
    const key = tableKey({ namespace: ['sales'], name: 'items' })
    const items = model.tables.get(key)
    if (items === undefined) throw new Error('no items')
    const relationships = items.relationships.map((each) =>
      each.name === 'order' ? { ...each, key: [2] } : each,
    )
    return { ...model, tables: new Map(model.tables).set(key, { ...items, relationships }) }
  }

  test('that hold a value twice give NULL and never a number that is too large', async () => {
    const text = 'SELECT MEASURE(pieces) FROM items__metrics'
    const all = await ask(text, wrong())
    expect(all).toEqual([['30']])
    const joined = await ask('SELECT order__region, MEASURE(pieces) FROM items__metrics GROUP BY 1', wrong())
    expect(joined.length).toBeGreaterThan(0)
    expect(joined.every(([, pieces]) => pieces === null)).toBe(true)
  })

  test('let a table with several rows for one of another be counted apart', async () => {
    const model = shop()
    const request = { where: [], orderBy: [], limit: 10, dimensions: [], metrics: ['orders', 'pieces'] }
    const { tree, parameters } = compileMetricRequest(model, request)
    const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
    expect((await subject.run('', parameters, { expansion })).rows).toEqual([['8', '30']])
  })

  test('are needed: a dimension that two tables do not share is refused', () => {
    const request = { where: [], orderBy: [], limit: 10, metrics: ['orders', 'pieces'] }
    expect(() => compileMetricRequest(shop(), { ...request, dimensions: [{ name: 'sku' }] })).toThrow(
      'there is no dimension "sku"',
    )
  })
})

describe('an attestation', () => {
  const text = 'SELECT MEASURE(salaries) FROM employees__metrics'
  // Three salaries in four visible rows.
  const raw = [['424241']]

  test('lifts the mask inside the aggregate of the metric', async () => {
    expect(await ask(text, shop([attested()]))).toEqual(raw)
  })

  test('gives NULL for groups that are too small, or of too few subjects', async () => {
    expect(await ask(text, shop([attested({ minGroupSize: 3 })]))).toEqual(raw)
    expect(await ask(text, shop([attested({ minGroupSize: 4 })]))).toEqual([[null]])
    // Only one of those with a salary has a manager.
    expect(await ask(text, shop([attested({ anonymity: { k: 2, fieldId: 3 } })]))).toEqual([[null]])
    expect(await ask(text, shop([attested({ anonymity: { k: 2, fieldId: 2 } })]))).toEqual(raw)
  })

  const withMask = (masks: readonly AttachedMask[]): readonly GovernedTable[] =>
    governedTables.map((table) =>
      table.tableName === 'employees'
        ? {
            ...table,
            columns: table.columns.map((one) => (one.fieldId === salary ? { ...one, masks } : one)),
          }
        : table,
    )

  test.each([
    ['another mask', [{ policyId: 'new', origin: { kind: 'column' }, action: 'replace-with-null' }]],
    [
      'the same mask with another action',
      [{ policyId: 'mask-sha-256-global', origin: { kind: 'column' }, action: 'replace-with-null' }],
    ],
  ] as const)('does not lift %s', async (_, masks) => {
    expect(await ask(text, shop([attested()]), withMask(masks))).toEqual([[null]])
  })

  test('lifts nothing for other metrics, dimensions and statements of the same text', async () => {
    const model = shop([attested()])
    const other = metric('sum_of_salaries', {
      kind: 'simple',
      table: employees,
      expression: bound('employees', 'sum(salary)'),
    })
    const both = { ...model, metrics: new Map(model.metrics).set(other.name, other) }
    const [row] = await ask(
      'SELECT MEASURE(salaries), MEASURE(sum_of_salaries), (SELECT sum(e.salary) FROM hr.employees e) FROM employees__metrics',
      both,
    )
    expect(row?.[0]).toBe('424241')
    expect(row?.[1]).not.toBe('424241')
    expect(row?.[2]).toBe(row?.[1] ?? '')
  })

  test.each([
    'SELECT MEASURE(salaries), (SELECT max("^5") FROM hr.employees AS "\u0001x") FROM employees__metrics',
    'SELECT MEASURE(salaries), max("\u0001r5") FROM employees__metrics',
    `SELECT MEASURE(salaries), '\u0001' FROM employees__metrics`,
  ])('is not reached by names of the compiler: %s', async (attempt) => {
    expect(await failure(ask(attempt, shop([attested()])))).toStartWith('0A000')
  })

  const withDimension = (column: string, text: string): SemanticModel => {
    const dimensions = [{ name: 'dept' }, { name: 'probe' }]
    const model = shop([attested({ dimensions, anonymity: { k: 1, fieldId: 3 } })])
    const key = tableKey(employees)
    const table = model.tables.get(key)
    if (table === undefined) throw new Error('there are no employees')
    const added = { name: 'probe', kind: 'categorical', expression: bound('employees', text) } as const
    expect(Object.keys(added.expression.names)).toEqual([column])
    const changed = { ...table, dimensions: [...table.dimensions, added] }
    return { ...model, tables: new Map(model.tables).set(key, changed) }
  }
  const expansionOf = (sql: string, model: SemanticModel) =>
    expandMetrics(parseSelect(sql), { model, searchPath: ['hr'] })

  test.each([
    ['id', 'id'],
    ['id', 'id % 2'],
    ['salary', 'salary'],
    ['manager_id', 'manager_id'],
  ])('lifts nothing where %s is a dimension or a filter, as %s', (column, text) => {
    const model = withDimension(column, text)
    const by = 'SELECT probe, MEASURE(salaries) FROM employees__metrics GROUP BY 1'
    const where = 'SELECT MEASURE(salaries) FROM employees__metrics WHERE probe IS NOT NULL'
    expect(expansionOf(by, model).lifted).toEqual([])
    expect(expansionOf(where, model).lifted).toEqual([])
    expect(expansionOf(where, model).liftedUntilMs).toBeUndefined()
  })

  test('still lifts where a dimension of many rows is named', () => {
    const sql = 'SELECT dept, MEASURE(salaries) FROM employees__metrics GROUP BY 1'
    expect(expansionOf(sql, withDimension('id', 'id')).lifted.length).toBeGreaterThan(0)
  })

  test('is not passed on where the relation is joined to periods, as for a cumulative metric', () => {
    const tree = parseSelect(
      'SELECT MEASURE(salaries) FROM (SELECT 1 AS n) p JOIN employees__metrics ON true',
    )
    const { lifted } = expandMetrics(tree, {
      model: shop([attested()]),
      searchPath: ['hr'],
      generated: true,
    })
    expect(lifted).toEqual([])
  })

  test('keeps row filters: the board is not in the sum', async () => {
    const [row] = await ask('SELECT MEASURE(salaries) FROM employees__metrics', shop([attested()]))
    expect(row).toEqual(['424241'])
  })
})

describe('a column', () => {
  const changed = (change: (table: GovernedTable) => GovernedTable) =>
    governedTables.map((table) => (table.tableName === 'items' ? change(table) : table))

  test('that was renamed stays what the metric is computed over', async () => {
    const renamed = changed((table) => ({
      ...table,
      columns: table.columns.map((one) => (one.name === 'order_id' ? { ...one, name: 'qty_old' } : one)),
    }))
    // Its dimensions are bound by field id, so another column's name changes nothing.
    expect(await ask('SELECT MEASURE(pieces) FROM items__metrics', shop(), renamed)).toEqual([['30']])
  })

  test('that was dropped refuses the metric, and says so', async () => {
    const dropped = changed((table) => ({
      ...table,
      columns: table.columns.filter(({ name }) => name !== 'qty'),
    }))
    expect(await failure(ask('SELECT MEASURE(pieces) FROM items__metrics', shop(), dropped))).toBe(
      '55000 A metric or dimension reads a column that the table no longer has.',
    )
  })
})
