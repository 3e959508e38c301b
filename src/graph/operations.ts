/** Declares the graph query (docs/reference/graph.md 2): a subset of openCypher over what the caller may see. */

import { Type } from '@sinclair/typebox'
import { operationsOf } from '../http/declare.ts'
import { anyObject, described, flag, list, maybe, object, text } from '../http/schemas.ts'
import type { Store } from '../store/store.ts'
import { textBounds } from '../wire/cypher/tokens.ts'
import { runGraphQuery } from './run-query.ts'

const operation = operationsOf<{ readonly store: Store }>()

const limitDefault = 100

export const graphQueryOperations = [
  operation({
    name: 'query_graph',
    tag: 'graph',
    summary: 'Runs a read-only graph query: a subset of openCypher',
    description:
      'MATCH, OPTIONAL MATCH, WHERE, UNWIND of a parameter, CALL of a listed procedure, WITH, RETURN. Each node has a label, each edge a type; at most 5 hops in sum. Tables that may not be read are not there, nor what belongs to them.',
    method: 'POST',
    path: '/api/v1/graph/query',
    access: { scope: 'read', capability: 'mcp' },
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({
      query: Type.String({ minLength: 1, maxLength: textBounds.charsMax }),
      parameters: maybe(
        described(anyObject, 'the `$name` of the query: texts, numbers, booleans, or lists of such'),
      ),
      limit: maybe(Type.Integer({ minimum: 1, maximum: 1_000, default: limitDefault, description: 'rows' })),
    }),
    output: object({
      columns: list(object({ name: text, type: text })),
      rows: described(
        list(list(Type.Unsafe<unknown>({}))),
        'a node is {label, properties}, an edge {type, properties}, a path {nodes, relationships}',
      ),
      truncated: described(flag, 'whether there were more rows'),
    }),
    faults: {
      bad_request: 'The query is outside of the subset; the message names what.',
      unprocessable: 'The query visits too many rows, or its answer is too long.',
    },
    run: async ({ parts, caller, signal }, { query, parameters, limit = limitDefault }) =>
      await runGraphQuery(parts.store, caller.tenant, { query, parameters, limit, signal }, caller.principal),
  }),
]
