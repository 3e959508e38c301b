/**
 * What a node of the lineage graph is called in the API: its kind, then its parts, each percent-encoded,
 * joined by slashes. `dataset/s3%3A%2F%2Flake/sales.orders`; a table's namespace with its levels joined by %1F, as in
 * paths: `table/sales%1Feu/orders`.
 */

import { Fault } from '../base/fault.ts'
import { namespaceKey } from '../core/table-ref.ts'
import type { LineageNode } from '../store/lineage/graph.ts'

/** The name of a node, for answers and as the `node` of the next question. */
export function nodeName(node: LineageNode): string {
  const parts = {
    dataset: () => [node.namespace, node.name],
    job: () => [node.namespace, node.name],
    column: () => [node.namespace, node.name, node.kind === 'column' ? node.column : ''],
    table: () => [node.kind === 'table' ? namespaceKey(node.namespace) : '', node.name],
  }[node.kind]()
  return [node.kind, ...parts.map((part) => encodeURIComponent(String(part)))].join('/')
}

const forms =
  '`dataset/{namespace}/{name}`, `job/{namespace}/{name}`, `column/{namespace}/{name}/{column}` or ' +
  '`table/{namespace}/{table}`, each part percent-encoded'

/**
 * Reads a node's name.
 * @throws Fault `bad_request` saying what a name looks like
 */
export function parseNodeName(text: string): LineageNode {
  const [kind, ...parts] = text.split('/').map(decodePart)
  const [first = '', second = '', third = ''] = parts
  if (kind === 'dataset' && parts.length === 2) return { kind, namespace: first, name: second }
  if (kind === 'job' && parts.length === 2) return { kind, namespace: first, name: second }
  if (kind === 'column' && parts.length === 3) return { kind, namespace: first, name: second, column: third }
  if (kind === 'table' && parts.length === 2) return { kind, namespace: first.split('\u001f'), name: second }
  throw new Fault('bad_request', `node must be ${forms}.`)
}

function decodePart(part: string): string {
  try {
    const decoded = decodeURIComponent(part)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new Fault('bad_request', `node must be ${forms}.`)
}
