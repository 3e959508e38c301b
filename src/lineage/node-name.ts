/**
 * Writes and reads the names of lineage nodes in the API: the kind, then its percent-encoded parts, joined by slashes.
 * For example `dataset/s3%3A%2F%2Flake/sales.orders`. Levels of a table's namespace are joined by %1F, as in paths:
 * `table/sales%1Feu/orders`.
 */

import { Fault } from '../base/fault.ts'
import { namespaceKey } from '../core/table-ref.ts'
import type { LineageNode } from '../store/lineage/graph.ts'

/** Writes the name of a node. A client can send it back as the parameter `node`. */
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
 * @throws Fault `bad_request` that describes the valid forms
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
