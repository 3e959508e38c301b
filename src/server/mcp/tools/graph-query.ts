/** Declares graph_query: a subset of openCypher over what the caller may see of the graph. */

import { Type } from '@sinclair/typebox'
import { cleanText } from '../../../base/clean-text.ts'
import { type GraphValue, runGraphQuery } from '../../../graph/run-query.ts'
import { anyObject, described, flag, list, maybe, object, text, wholeNumber } from '../../../http/schemas.ts'
import { textBounds } from '../../../wire/cypher/tokens.ts'
import { fitting, listBytes } from '../fitting.ts'
import { tool } from '../tool.ts'
import { charsMax, untrusted, untrustedMark } from '../untrusted.ts'

const limitDefault = 50

export const graphQuery = tool({
  name: 'graph_query',
  description: `Query the graph of tables, columns, tags and lineage by a read-only part of openCypher: MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN. Each node has a label, each edge a type; 5 hops in sum. (Contract)-[:GOVERNS]->(Table)-[:HAS_COLUMN]->(Column)-[:TAGGED]->(Tag), (Table)-[:IN_NAMESPACE]->(Namespace), (Dataset)-[:STORED_AS]->(Table), (Dataset)-[:LINEAGE_OF*1..3]->(Dataset)-[:PRODUCED_BY]->(Job), (PinEvent)-[:PINS]->(Table), (Snapshot). Most have \`name\`; Table and Dataset \`namespace\`.`,
  hints: {
    bad_request: 'Write the part of openCypher that the description of this tool names.',
  },
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({
    cypher: Type.String({ minLength: 1, maxLength: textBounds.charsMax }),
    parameters: maybe(described(anyObject, 'values of $name')),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 200, default: limitDefault })),
  }),
  output: object({
    result: object({
      ...untrustedMark,
      columns: list(object({ name: text, type: text })),
      rows: list(list(Type.Unsafe<unknown>({}))),
    }),
    row_count: wholeNumber,
    truncated: flag,
    hint: maybe(text),
  }),
  async run({ parts, caller, signal }, { cypher, parameters, limit }) {
    const query = { query: cypher, parameters, limit: limit ?? limitDefault, signal }
    const {
      columns,
      rows,
      truncated: isMore,
    } = await runGraphQuery(parts.store, caller.tenant, query, caller.principal)
    const cleaned = rows.map((row) => row.map(cleanValue))
    const shown = fitting(cleaned, listBytes(limit))
    const truncated = isMore || shown.length < cleaned.length
    return {
      result: { ...untrusted, columns: [...columns], rows: [...shown] },
      row_count: shown.length,
      truncated,
      ...(truncated && { hint: 'There are more rows. Count, filter, or raise the limit.' }),
    }
  },
})

/** The value with every text cleaned. Names of members are ours. */
function cleanValue(value: GraphValue): unknown {
  if (typeof value === 'string') return cleanText(value, charsMax.description)
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) return value.map(cleanValue)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleanValue(inner)]))
}

function isList(value: object): value is readonly GraphValue[] {
  return Array.isArray(value)
}
