/** A table's identity: namespace and name (docs/reference/policies.md 4.2). Policies attach to it, never to a {prefix}. */

const identifierPattern = /^[a-zA-Z0-9_-]+$/

export interface TableRef {
  /** At least one level. */
  readonly namespace: readonly string[]
  readonly name: string
}

/** Whether `text` is valid as {prefix}, {namespace} or {table} in a path (docs/reference/gateway.md 1.3). */
export function isPathIdentifier(text: string): boolean {
  return identifierPattern.test(text)
}

const levelSeparator = '\u001f'

/** The namespace as one string, levels joined by U+001F as in the Iceberg REST specification. */
export function namespaceKey(namespace: readonly string[]): string {
  return namespace.join(levelSeparator)
}

/** One string per table: namespace levels and name joined by U+001F. Also the table's graph `id`. */
export function tableKey(table: TableRef): string {
  return `${namespaceKey(table.namespace)}${levelSeparator}${table.name}`
}

/** `a.b.table`, for people. */
export function tableName(table: TableRef): string {
  return [...table.namespace, table.name].join('.')
}
