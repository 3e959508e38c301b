/** Commands that read a tenant's graph, within the bounds of docs/reference/limits.md 2.1. */

import { tableKey } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import { edgeLabels, nodeId, vertexLabels } from '../store/database/names.ts'
import type { Command } from './command.ts'
import { UsageError } from './exit-status.ts'
import { type Flags, parseTableName } from './flags.ts'

const directions = ['out', 'in', 'both'] as const

export const graphCommands: readonly Command[] = [
  {
    words: 'graph traverse',
    usage: `--tenant ID --label LABEL --id ID [--hops ${limits.graphHopsDefault}] [--direction ${directions.join('|')}] [--edges A,B]`,
    summary: `Lists the nodes within reach of a node, nearest first; at most ${limits.graphHopsMax} hops. A Table’s id is ns.table.`,
    prepare(flags) {
      const label = flags.requiredChoice('label', vertexLabels)
      const input = {
        tenant: flags.tenant(),
        label,
        id: label === 'Table' ? tableId(flags) : flags.required('id'),
        hops: flags.integer('hops', 1, limits.graphHopsMax),
        direction: flags.choice('direction', directions),
        edges: flags.choices('edges', edgeLabels),
        limit: 1000,
      }
      return { operation: 'traverse_graph', input, everyItem: true }
    },
  },
  {
    words: 'graph match',
    usage: "--tenant ID --query 'MATCH (t:Table) RETURN t'",
    summary: 'Runs a read-only Cypher query: MATCH with labelled nodes and relationships of fixed length.',
    prepare(flags) {
      const input = { tenant: flags.tenant(), query: flags.required('query') }
      return { operation: 'match_graph', input, everyItem: true }
    },
  },
]

/** Converts `namespace.table` to the node id, which has U+001F instead of dots. */
function tableId(flags: Flags): string {
  const table = parseTableName(flags.required('id'))
  if (table === undefined) throw new UsageError('--id of a Table must be `namespace.table`')
  return nodeId(tableKey(table))
}
