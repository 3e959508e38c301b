/** Requests for metrics become trees, which no parser reads: their names and their number of values. */

import { expect, test } from 'bun:test'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { tableKey } from '../../../../src/core/table-ref.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { fingerprintStatement } from '../../../../src/query/compile/parse/fingerprint.ts'

const long = 'o'.repeat(60)
const ref = { namespace: ['shop'], name: long }
const model: SemanticModel = {
  tables: new Map([
    [
      tableKey(ref),
      {
        ...{ table: ref, number: 1, key: [1], relationships: [] },
        dimensions: ['region', 'note'].map((name, index) => ({
          ...{ name, kind: 'categorical' as const, expression: { text: name, names: { [name]: index + 2 } } },
        })),
      },
    ],
  ]),
  metrics: new Map(
    ['orders', 'rows'].map((name) => [
      name,
      {
        ...{ name, number: 1, state: 'active' as const, sha256: '' },
        definition: {
          computation: { kind: 'simple' as const, table: ref, expression: { text: 'count(*)', names: {} } },
        },
      },
    ]),
  ),
  attestations: new Map(),
}
const request: MetricRequest = {
  ...{ metrics: ['orders'], dimensions: [{ name: 'region' }], where: [], orderBy: [], limit: 10 },
}
const among = (count: number) =>
  ({
    dimension: 'note',
    operator: 'in',
    values: Array.from({ length: count }, (_, index) => String(index)),
  }) as const

test('a table is asked for whose relation has a longer name than PostgreSQL keeps of an identifier', () => {
  const { tree } = compileMetricRequest(model, request)
  const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
  const tables = [
    {
      ...{
        ref,
        schemaName: 'shop',
        tableName: long,
        relation: { duckdb: [long], trino: ['i', 'shop', long] },
      },
      columns: ['id', 'region', 'note'].map((name, index) => ({
        ...{ name, fieldId: index + 1, type: 'string' as const, required: false, masks: [] },
      })),
      ...{ rowFilters: [], contract: { id: 'c', version: 1 } },
    },
  ]
  const principal = { sub: 'ann', roles: [] }
  const compiled = compileQuery({ text: '', principal, tables, searchPath: [], expansion })
  expect(compiled.columns.map(({ name }) => name)).toEqual(['region', 'orders'])
  expect(compiled.reads.map(({ table }) => table.ref)).toEqual([ref])
})

test('a request of very many values is refused before they are compiled', () => {
  expect(compileMetricRequest(model, { ...request, where: [among(100_000)] }).parameters.length).toBe(100_000)
  expect(() => compileMetricRequest(model, { ...request, where: [among(100_001)] })).toThrow(
    'The request has too many values.',
  )
})

test('requests that differ in values alone have one fingerprint, and no other has it', () => {
  const printOf = (change: Partial<MetricRequest>) =>
    fingerprintStatement(compileMetricRequest(model, { ...request, ...change }).tree)
  const some = printOf({ where: [among(2)] })
  expect(some).toMatch(/^[0-9a-f]{16}$/)
  expect([printOf({ where: [among(9)] }), printOf({ where: [among(2)], limit: 5 })]).toEqual([some, some])
  const others = [
    printOf({}),
    printOf({ where: [{ ...among(2), dimension: 'region' }] }),
    printOf({ where: [{ ...among(2), operator: 'not in' }] }),
    printOf({ where: [among(2)], metrics: ['rows'] }),
  ]
  expect(new Set([some, ...others]).size).toBe(5)
})
