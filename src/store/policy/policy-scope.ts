/** The nodes to which policies are bound: tables, namespaces and tags (docs/reference/policies.md 4.2). */

import { Fault } from '../../base/fault.ts'
import type { NamespaceScope, PolicyScope, TagScope } from '../../core/policy.ts'
import { isPathIdentifier, namespaceKey, tableKey } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import { nodeId } from '../database/names.ts'
import type { Properties } from '../graph/graph.ts'

const tagPattern = /^[A-Za-z0-9_.:-]{1,255}$/

/** Throws `bad_request` for a scope that no table can be in. */
export function checkScope(scope: PolicyScope): void {
  if ('tag' in scope) {
    if (!tagPattern.test(scope.tag))
      throw new Fault('bad_request', '`tag` must have 1 to 255 characters: letters, digits and _ . : -')
    return
  }
  const { namespace, name } = scope
  for (const level of name === undefined ? namespace : [...namespace, name])
    if (!isPathIdentifier(level) || level.length > limits.identifierLengthMax)
      throw new Fault(
        'bad_request',
        name === undefined
          ? '`namespace` must be named by letters, digits, _ and -.'
          : '`table` must be named by letters, digits, _ and -.',
      )
}

/** A scope by name, as records of changes have it. */
export function namedScope(scope: PolicyScope) {
  if ('tag' in scope) return { tag: scope.tag }
  const { namespace, name } = scope
  return name === undefined ? { namespace } : { table: { namespace, name } }
}

/** The parameter `scope` of svc.put_policy. */
export function scopeNode(scope: PolicyScope) {
  const name = namedScope(scope)
  if ('tag' in scope)
    return { label: 'Tag', id: nodeId(scope.tag), properties: { name: scope.tag }, edge: name, name }
  const { namespace, name: table } = scope
  if (table !== undefined) {
    const properties = { namespace, name: table }
    return { label: 'Table', id: nodeId(tableKey({ namespace, name: table })), properties, edge: {}, name }
  }
  const properties = { name: namespace.at(-1) ?? '' }
  return { label: 'Namespace', id: nodeId(namespaceKey(namespace)), properties, edge: name, name }
}

/** The ids of the namespaces that hold what is in this one, from the root namespace down. */
export function namespaceIds(namespace: readonly string[]): readonly string[] {
  return [[], ...namespace.map((_, index) => namespace.slice(0, index + 1))].map((levels) =>
    nodeId(namespaceKey(levels)),
  )
}

/** The scope that an edge's properties name; undefined for the edge of a table. */
export function edgeScope(properties: Properties): NamespaceScope | TagScope | undefined {
  const { namespace, tag } = properties
  if (typeof tag === 'string') return { tag }
  if (Array.isArray(namespace)) return { namespace: namespace.map(String) }
  return undefined
}

/** Orders the scopes of one policy: the table itself, the innermost namespace, then tags by name. */
export function compareScopes(
  a: NamespaceScope | TagScope | undefined,
  b: NamespaceScope | TagScope | undefined,
): number {
  const rank = (scope: typeof a) => (scope === undefined ? 0 : 'tag' in scope ? 2 : 1)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (a !== undefined && b !== undefined && !('tag' in a) && !('tag' in b))
    return b.namespace.length - a.namespace.length
  return a !== undefined && b !== undefined && 'tag' in a && 'tag' in b ? (a.tag < b.tag ? -1 : 1) : 0
}
