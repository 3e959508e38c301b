/** Declares lineage and lineage_path: where data comes from and goes to, past tables that the caller may read. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import { type LineageEventType, lineageEventTypes } from '../../../core/lineage.ts'
import {
  described,
  flag,
  list,
  maybe,
  object,
  oneOf,
  ordinal,
  text,
  time,
  wholeNumber,
} from '../../../http/schemas.ts'
import { limits } from '../../../limits.ts'
import { findPaths } from '../../../lineage/find-paths.ts'
import { nodeName, parseNodeName } from '../../../lineage/node-name.ts'
import {
  type LineageEdge,
  type LineageNode,
  type LineageStart,
  lineageAround,
  lineageDirections,
  lineageEdgeLabels,
} from '../../../store/lineage/graph.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { tableRefOf } from './tables.ts'

const nodeInput = Type.String({
  maxLength: 4_096,
  description:
    'namespace.table, or a `node` of an earlier answer: dataset/…, column/…, job/…, table/…; or table/{namespace}/{table}/{column}',
})
const hops = maybe(
  Type.Integer({ minimum: 1, maximum: limits.graphHopsMax, default: limits.graphHopsDefault }),
)
const nodeMembers = {
  ...untrustedMark,
  node: text,
  kind: oneOf(['dataset', 'job', 'column', 'table']),
  name: text,
}
const missing = 'There is no lineage of such a node, or it may not be read.'
const limitDefault = 50
const columnsShown = 10

export const lineage = tool({
  name: 'lineage',
  description:
    'Lineage around a table, dataset, column or job: nodes, and edges nearest first. Data flows from `from` to `to`.',
  hints: {
    not_found: 'Find tables with find_datasets, and columns with describe_columns.',
  },
  scope: 'mcp:read',
  gives: { visible: ['existence', 'columns'] },
  input: object({
    of: nodeInput,
    direction: maybe(oneOf(lineageDirections, { default: 'both' })),
    hops,
    as_of: maybe(described(time, 'the edges that there were at this time')),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 200, default: limitDefault })),
    cursor: cursorInput,
  }),
  output: object({
    nodes: list(object({ id: ordinal, ...nodeMembers, state: maybe(oneOf(lineageEventTypes)) })),
    edges: list(
      object({
        from: Type.Integer({ description: 'id of a node' }),
        to: Type.Integer(),
        label: oneOf(lineageEdgeLabels),
        hops: wholeNumber,
        in_place: maybe(flag),
        state: maybe(oneOf(lineageEventTypes, { description: 'of the run that said it last' })),
        stale: maybe(flag),
        columns: maybe(object({ ...untrustedMark, items: list(list(text)) })),
      }),
    ),
    total: wholeNumber,
    truncated: flag,
    next_cursor: maybe(text),
  }),
  async run(context, { of, direction = 'both', hops: depth, as_of: asOf, limit, cursor }) {
    const { parts, caller, signal } = context
    const cursors = await cursorsOf(context, 'lineage', { of, direction, depth, asOf })
    const after = cursors.open(cursor)
    const bytesMax = listBytes(limit)
    let count = limit ?? limitDefault
    for (;;) {
      const page = await lineageAround(parts.store, caller.tenant, {
        ...{ start: nodeOf(of), direction, depth, asOf, limit: count, signal, readableOnly: true },
        ...(after !== undefined && { after }),
      })
      if (page === undefined) throw new Fault('not_found', missing)
      const walked = walkView(page.items)
      const bytes = Buffer.byteLength(JSON.stringify(walked))
      if (bytes > bytesMax && count > 1) {
        // Names are long: fewer edges are shown, and the cursor goes on behind them.
        count = Math.max(1, Math.min(count - 1, Math.floor((page.items.length * bytesMax) / bytes)))
        continue
      }
      return {
        ...{ ...walked, total: page.total },
        truncated: page.next !== undefined,
        next_cursor: cursors.seal(page.next),
      }
    }
  },
})

/** The nodes of edges, each once with a number, and the edges between these numbers. */
function walkView(items: readonly LineageEdge[]) {
  const ids = new Map<string, number>()
  const nodes: (ReturnType<typeof nodeView> & { readonly id: number; readonly state?: LineageEventType })[] =
    []
  const idOf = (node: LineageNode): number => {
    const name = nodeName(node)
    const known = ids.get(name)
    if (known !== undefined) return known
    const state = node.kind === 'job' && node.state !== undefined ? { state: node.state } : {}
    nodes.push({ id: ids.size + 1, ...nodeView(node), ...state })
    ids.set(name, ids.size + 1)
    return ids.size
  }
  const edges = items.map(({ label, from, to, hops: distance, columns = [], inPlace, evidence }) => ({
    ...{ from: idOf(from), to: idOf(to), label, hops: distance },
    ...(inPlace === true && { in_place: true }),
    ...(evidence?.state !== undefined && evidence.state !== 'COMPLETE' && { state: evidence.state }),
    ...(evidence?.stale === true && { stale: true }),
    ...(columns.length > 0 && {
      columns: {
        ...untrusted,
        items: columns
          .slice(0, columnsShown)
          .map(({ input, output }) => [input, output ?? '*'].map(cleanName)),
      },
    }),
  }))
  return { nodes, edges }
}

export const lineagePath = tool({
  name: 'lineage_path',
  description: 'The shortest paths (up to 10) along which data flows from one node to another.',
  hints: {
    not_found: 'Find tables with find_datasets; lineage shows what each reaches.',
  },
  scope: 'mcp:read',
  gives: { visible: ['existence', 'columns'] },
  input: object({ from: nodeInput, to: nodeInput, hops }),
  output: object({ paths: list(list(object(nodeMembers))), truncated: flag, hint: maybe(text) }),
  async run({ parts, caller, signal }, { from, to, hops: depth }) {
    const query = { from: nodeOf(from), to: nodeOf(to), depth, signal }
    const found = await findPaths(parts.store, caller.tenant, query)
    if (found === undefined) throw new Fault('not_found', missing)
    const { paths, truncated } = found
    const views = paths.map((path) => path.map(nodeView))
    const shown = fitting(views, listBytes(undefined))
    return {
      paths: [...shown],
      truncated: truncated || shown.length < views.length,
      ...(paths.length === 0 && {
        hint: 'No path within these hops that you may see. Try more hops, or the other direction.',
      }),
    }
  },
})

function nodeOf(given: string): LineageStart {
  return given.includes('/') ? parseNodeName(given) : { kind: 'table', ...tableRefOf(given) }
}

function nodeView(node: LineageNode) {
  const { kind, namespace, name } = node
  const parts = typeof namespace === 'string' ? [namespace] : namespace
  const column = kind === 'column' ? [node.column] : []
  return {
    ...untrusted,
    // A name may hold what must not be shown, but a client sends it back unchanged: it is percent-encoded.
    node: nodeName(node),
    kind,
    name: cleanName([...parts, name, ...column].join('.')),
  }
}
