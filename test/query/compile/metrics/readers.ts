/** Readers of the fixture's tables, and what metrics answer them. */

import { expect } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import type { Principal } from '../../../../src/core/principal.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../../src/query/compile/metrics/request.ts'
import type { openSubject } from '../../support/duckdb.ts'
import { governedTables, principal } from '../../support/fixture.ts'
import type { Reader } from './by-hand.ts'

type Subject = Pick<Awaited<ReturnType<typeof openSubject>>, 'compile' | 'run'>

const open = governedTables.map(
  (table): GovernedTable => ({
    ...table,
    rowFilters: [],
    columns: table.columns.map((column) => ({ ...column, masks: [] })),
  }),
)

export interface Known extends Reader {
  readonly principal: Principal
  readonly tables: readonly GovernedTable[]
}

/** The readers: some rows masked, no row of one table, everything. */
export const readers: readonly Known[] = [
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

const grammar = new TrinoSQL()

/** Answers requests for a reader on the embedded engine. Some of what is written for Trino is held against its grammar. */
export function answering({ compile, run }: Subject, model: SemanticModel, alsoOnTrino = true) {
  let asked = 0
  return async ({ principal: reader, tables }: Known, request: MetricRequest) => {
    const { tree, parameters } = compileMetricRequest(model, request)
    const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
    const instead = { principal: reader, tables, expansion }
    if (alsoOnTrino) {
      const salt = new Uint8Array(16)
      const trino = renderSql(compile('', instead).emit('trino'), 'trino', { salt, parameters })
      // The grammar takes some 30 ms for each: some of them.
      if (asked++ % 10 === 0)
        expect([trino, ...grammar.validate(trino).map(({ message }) => message)]).toEqual([trino])
    }
    return await run('', parameters, instead)
  }
}
