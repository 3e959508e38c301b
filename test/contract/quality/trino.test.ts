/** The statements of every library metric, as Trino is given them: its grammar takes each. */

import { expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import { metricOf } from '../../../src/contract/quality/measure.ts'
import { declaredMetric } from '../../../src/contract/quality/measure-declared.ts'
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

/** What a schema may declare of each type; the text of a moment is in the form of its type. */
const declarable = types.flatMap((type, index) => {
  const bound = { date: '2024-01-31', timestamptz: '2024-01-31T12:00:00Z' }[type] ?? 5
  const isText = type === 'string' || type === 'uuid'
  const isNumber = /^(long|decimal|double)/.test(type)
  const words: readonly (readonly [word: string, value?: unknown])[] = [
    ['required'],
    ['unique'],
    ['enum', [{ boolean: true, uuid: '00000000-0000-0000-0000-000000000001' }[type] ?? bound]],
    ...(isText
      ? ([
          ['minLength', 2],
          ['maxLength', 9],
          ['pattern', '^[a-z]+$'],
        ] as const)
      : []),
    ...(isNumber || typeof bound === 'string'
      ? ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((word) => [word, bound] as const)
      : []),
    ...(isNumber && type !== 'double' ? ([['multipleOf', 0.5]] as const) : []),
  ]
  return words.map(([word, value]) => ({ type, index, word, value }))
})

test.each(declarable.map((one) => [`${one.word} of ${one.type}`, one] as const))('declared: %s', (_, one) => {
  const declared = {
    word: one.word,
    paths: [[columns[one.index]?.name ?? '']],
    value: one.value,
    options: {},
  }
  const { measure } = declaredMetric(declared, { columns, relation })
  const text = measure.kind === 'scan' ? scanText([measure.expression], relation) : measure.text
  expect(grammar.validate(emitted(text, 'trino'))).toEqual([])
  expect(emitted(text, 'duckdb')).not.toBe('')
})
