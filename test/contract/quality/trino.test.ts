/** The statements of every library metric, as Trino is given them: its grammar takes each. */

import { expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import { metricOf } from '../../../src/contract/quality/measure.ts'
import { scanText } from '../../../src/contract/quality/quality-kind.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'

const grammar = new TrinoSQL()
const types = ['string', 'long', 'decimal(10,2)', 'double', 'boolean', 'date', 'timestamptz', 'uuid']
const columns = types.map((type, index) => ({ name: `Column "${index}"`, fieldId: index + 1, type }))
const relation = '"sales"."orders"'
const table: GovernedTable = {
  ...{ ref: { namespace: ['sales'], name: 'orders' }, schemaName: 'sales', tableName: 'orders' },
  relation: { trino: ['sales', 'orders'], duckdb: ['sales', 'orders'] },
  columns: columns.map((column) => ({ ...column, required: false, masks: [] })),
  ...{ rowFilters: [], readableWithoutContract: true },
}

function emitted(text: string, dialect: 'trino' | 'duckdb'): string {
  const principal = { sub: 'covenant', roles: [] }
  const compiled = compileQuery({ text, principal, tables: [table], searchPath: ['sales'] })
  return renderSql(compiled.emit(dialect), dialect)
}

const given = [
  ...types.flatMap((type, index) => [
    { type, index, metric: 'nullValues', arguments: {} },
    { type, index, metric: 'duplicateValues', arguments: {} },
    { type, index, metric: 'missingValues', arguments: { missingValues: ['', "it's", 7, -1.5, true, null] } },
    { type, index, metric: 'invalidValues', arguments: { validValues: ['a', 1, 2.5, false] } },
  ]),
  { type: 'string', index: 0, metric: 'invalidValues', arguments: { pattern: String.raw`^\d{2,4}-[A-Z]+$` } },
  { type: 'string', index: 0, metric: 'rowCount', arguments: {} },
]
/** A marker that is no value of the type is an error of the rule, alike on both engines. */
const refusedTypes = ['date', 'timestamptz', 'uuid']

test.each(given.map((one) => [`${one.metric} of ${one.type}`, one] as const))('%s', (_, one) => {
  const [column] = [columns[one.index]].filter((found) => found !== undefined)
  if (column === undefined) throw new Error('no column')
  const metric = metricOf(one.metric, [column], one.arguments, relation)
  const text = metric.kind === 'scan' ? scanText([metric.expression], relation) : metric.text
  if (refusedTypes.includes(one.type) && /missing|invalid/.test(one.metric)) {
    for (const dialect of ['trino', 'duckdb'] as const)
      expect(() => emitted(text, dialect)).toThrow(/invalid input syntax/)
    return
  }
  expect(grammar.validate(emitted(text, 'trino'))).toEqual([])
  expect(emitted(text, 'duckdb')).not.toBe('')
})

test('a pattern that the engines would read differently is refused when it is planned', () => {
  const [column] = columns
  for (const pattern of ['(?=a)b', String.raw`(a)\1`, '(?i)a'])
    for (const dialect of ['trino', 'duckdb'] as const) {
      const metric = metricOf('invalidValues', column ? [column] : [], { pattern }, relation)
      const text = metric.kind === 'scan' ? scanText([metric.expression], relation) : ''
      expect(() => emitted(text, dialect)).toThrow()
    }
})
