/**
 * Compares metrics with SQL that is written by hand for PostgreSQL, over security-barrier views of the same rows: random
 * requests, for readers who see all, some and nothing. What is written for Trino is held against Trino's own grammar.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import type { Principal } from '../../../../src/core/principal.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import { generator } from '../../../support/generator.ts'
import { isLongForm } from '../../../support/long-form.ts'
import { normal } from '../../support/compare.ts'
import { openSubject } from '../../support/duckdb.ts'
import { canary, governedTables, postgresSetup, principal } from '../../support/fixture.ts'
import { askOracle, startOracle } from '../../support/postgres.ts'
import { byHand, type Reader, randomRequest } from './by-hand.ts'
import { shop } from './shop.ts'

const oracle = await startOracle()
for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
const subject = await openSubject()
afterAll(async () => {
  subject.close()
  await oracle?.stop()
})

const open = governedTables.map(
  (table): GovernedTable => ({
    ...table,
    rowFilters: [],
    columns: table.columns.map((column) => ({ ...column, masks: [] })),
  }),
)

interface Known extends Reader {
  readonly principal: Principal
  readonly tables: readonly GovernedTable[]
}

const readers: readonly Known[] = [
  { name: 'who sees some rows, masked', principal, tables: governedTables, from: (table) => table },
  {
    name: 'without the role that the filter wants',
    principal: { sub: 'ann', roles: [] },
    tables: governedTables,
    from: (table) => (table === 'sales.orders' ? '(select * from sales.orders where false)' : table),
  },
  {
    name: 'whom no filter or mask concerns',
    principal: { sub: 'bob', roles: ['officer'] },
    tables: open,
    from: (table) => table.replace(/^\w+\./, 'base.'),
  },
]

const model = shop()
const grammar = new TrinoSQL()
let asked = 0

async function answer({ principal: reader, tables }: Known, request: MetricRequest) {
  const { tree, parameters } = compileMetricRequest(model, request)
  const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
  const instead = { principal: reader, tables, expansion }
  // The grammar takes some 30 ms for each: some of them.
  const trino = renderSql(subject.compile('', instead).emit('trino'), 'trino', {
    salt: new Uint8Array(16),
    parameters,
  })
  if (asked++ % 10 === 0)
    expect([trino, ...grammar.validate(trino).map(({ message }) => message)]).toEqual([trino])
  return await subject.run('', parameters, instead)
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined)('against PostgreSQL', () => {
  describe.each(readers)('for a reader $name', (reader) => {
    const seed = 20_261_123
    test(`random requests give what hand-written SQL gives (seed ${seed})`, async () => {
      const random = generator(seed)
      let rowsSeen = 0
      for (let round = 0; round < (isLongForm ? 500 : 60); round++) {
        const request = randomRequest(random)
        const sql = byHand(request, reader)
        const expected = oracle && (await askOracle(oracle.admin, sql))
        if (expected === undefined || typeof expected === 'string')
          throw new Error(`PostgreSQL refuses ${expected}: ${sql}`)
        const actual = await answer(reader, request).catch((cause: unknown) => {
          throw new Error(`${JSON.stringify(request)}`, { cause })
        })
        const types = actual.columns.map(({ type }) => type)
        const shown = { request, rows: normal(actual.rows, types, false) }
        expect(shown).toEqual({ request, rows: normal(expected.rows, types, false) })
        if (reader === readers[0]) expect(JSON.stringify(actual)).not.toContain(canary)
        rowsSeen += actual.rows.length
      }
      if (reader.name !== 'without the role that the filter wants') expect(rowsSeen).toBeGreaterThan(100)
    })
  })
})
