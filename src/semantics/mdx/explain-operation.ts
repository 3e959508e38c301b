/**
 * POST /api/v1/xmla/{catalog}/explain: which statements an MDX query asks the read path for, and what filters and masks
 * apply to each. It runs the query as the caller, because sets decide what is read, and returns no values.
 */

import { requestReader } from '../../auth/request-reader.ts'
import { operationsOf } from '../../http/declare.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  ordinal,
  tableIdentifier,
  text,
  uuid,
} from '../../http/schemas.ts'
import { type ExplainParts, explain } from '../../query/explain/explain.ts'
import { explainedPolicies } from '../../query/explain/operation.ts'
import type { QueryService } from '../../query/query-service.ts'
import { parseMdx } from '../../wire/mdx/parse.ts'
import { printMdx } from '../../wire/mdx/print.ts'
import type { MdxEvaluator } from './evaluator.ts'
import { runMdx } from './run.ts'

interface Parts extends ExplainParts {
  readonly queries: QueryService
  readonly evaluator: MdxEvaluator
}

const operation = operationsOf<Parts>()

const explained = object({
  query_id: uuid,
  statement: described(text, 'over metric relations; values of the query are parameters'),
  sql: maybe(described(text, 'for the engine; only for stewards')),
  columns: list(object({ name: text, type: text })),
  tables: list(
    object({
      table: tableIdentifier,
      contract: maybe(object({ id: text, version: ordinal })),
      columns: list(text),
    }),
  ),
  policies: explainedPolicies,
})

export const mdxOperations = [
  operation({
    name: 'explain_mdx',
    tag: 'metrics',
    summary: 'Shows which statements an MDX query runs, with their filters and masks; returns no values',
    method: 'POST',
    path: '/api/v1/xmla/{catalog}/explain',
    access: { scope: 'read', capability: 'xmla' },
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({ catalog: described(nonEmpty, 'nickname of a catalog credential'), statement: nonEmpty }),
    output: object({
      read_as: described(text, 'the query in the form that was read'),
      statements: list(explained),
    }),
    status: 200,
    faults: {
      bad_request: 'The query is malformed, or something in it is not supported, unknown or hidden.',
      forbidden: 'The session lacks the scope `read`, there is no license, or a table may not be read.',
      not_found: 'There is no such catalog.',
      unprocessable: 'The query is beyond a bound.',
      conflict: 'A pinned snapshot is gone, or governance changed meanwhile.',
      upstream_failed: 'The upstream catalog did not reply.',
    },
    examples: [{ input: { statement: 'SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]' } }],
    run: async ({ parts, caller, signal }, { catalog, statement }) => {
      const { tenant, principal, principalSource, ...reader } = requestReader(parts.store, caller)
      const on = {
        ...{ tenant, principal, principalSource, reader, catalog },
        surface: 'rest' as const,
        searchPath: [],
        purpose: caller.purpose,
      }
      const answer = await runMdx(
        parts,
        on,
        { statement, format: 'multidimensional', session: [] },
        { signal },
      )
      const isSteward = principal.roles.includes('steward')
      const statements = []
      for (const read of answer.kind === 'empty' ? [] : answer.reads) {
        const input = {
          ...{ statement: read.text, target: { catalog }, searchPath: [], principal },
          parameters: read.parameters,
          generated: true as const,
        }
        const { sql, columns, reads, policies } = await explain(parts, tenant, input, isSteward, signal)
        statements.push({
          ...{ query_id: read.queryId, statement: read.text, columns, policies },
          ...(sql !== undefined && { sql }),
          tables: reads.map(({ table, contract, columns: read }) => ({
            ...{ table, columns: read },
            contract: contract && { id: contract.id, version: contract.version },
          })),
        })
      }
      return { read_as: printMdx(parseMdx(statement)), statements }
    },
  }),
]
