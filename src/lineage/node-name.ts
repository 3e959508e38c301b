/**
 * Writes and reads the names of lineage nodes in the API: the kind, then its percent-encoded parts, joined by slashes.
 * For example `dataset/s3%3A%2F%2Flake/sales.orders`. Levels of a table's namespace are joined by %1F, as in paths:
 * `table/sales%1Feu/orders`.
 */

import { Fault } from '../base/fault.ts'
import { namespaceKey } from '../core/table-ref.ts'
import type { LineageStart } from '../store/lineage/graph.ts'

/** Writes the name of a node. A client can send it back as the parameter `node`. */
export function nodeName(node: LineageStart): string {
  const [kind, ...parts] = partsOf(node)
  return [kind, ...parts.map((part) => encodeURIComponent(part))].join('/')
}

function partsOf(node: LineageStart): readonly string[] {
  switch (node.kind) {
    case 'dataset':
    case 'job':
      return [node.kind, node.namespace, node.name]
    case 'column':
      return [node.kind, node.namespace, node.name, node.column]
    case 'table':
      return [node.kind, namespaceKey(node.namespace), node.name]
    case 'table-column':
      return ['table', namespaceKey(node.namespace), node.name, node.column]
    case 'contract':
      return [node.kind, node.id]
  }
}

const forms =
  '`dataset/{namespace}/{name}`, `job/{namespace}/{name}`, `column/{namespace}/{name}/{column}`, ' +
  '`table/{namespace}/{table}`, `table/{namespace}/{table}/{column}` or `contract/{id}`, each part percent-encoded, ' +
  'or the name of a table, of a column or of a contract: `sales.orders`, `sales.orders.id`'

/**
 * What a name given by a person may mean, the likeliest first: a node's name, or without a slash the name of a table, of
 * a column of a table, or of a contract.
 * @throws Fault `bad_request` that describes the valid forms
 */
export function possibleStarts(text: string): readonly LineageStart[] {
  if (text === '' || text.includes('/')) return [parseNodeName(text)]
  const levels = text.split('.').map(decodePart)
  const [last = '', ...before] = levels.toReversed()
  const [table = '', ...above] = before
  return [
    ...(before.length > 0 ? [{ kind: 'table', namespace: before.toReversed(), name: last } as const] : []),
    ...(above.length > 0
      ? [{ kind: 'table-column', namespace: above.toReversed(), name: table, column: last } as const]
      : []),
    { kind: 'contract', id: decodePart(text) },
  ]
}

/**
 * Reads a node's name.
 * @throws Fault `bad_request` that describes the valid forms
 */
export function parseNodeName(text: string): LineageStart {
  const [kind, ...parts] = text.split('/').map(decodePart)
  const [first = '', second = '', third = ''] = parts
  if (kind === 'dataset' && parts.length === 2) return { kind, namespace: first, name: second }
  if (kind === 'job' && parts.length === 2) return { kind, namespace: first, name: second }
  if (kind === 'column' && parts.length === 3) return { kind, namespace: first, name: second, column: third }
  if (kind === 'table' && parts.length === 2) return { kind, namespace: first.split('\u001f'), name: second }
  if (kind === 'table' && parts.length === 3)
    return { kind: 'table-column', namespace: first.split('\u001f'), name: second, column: third }
  if (kind === 'contract' && parts.length === 1) return { kind, id: first }
  throw new Fault('bad_request', `node must be ${forms}.`)
}

function decodePart(part: string): string {
  try {
    const decoded = decodeURIComponent(part)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new Fault('bad_request', `node must be ${forms}.`)
}
