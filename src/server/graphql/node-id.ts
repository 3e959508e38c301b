/** The opaque ids of nodes: the type and our own id, in base64url. An id grants nothing: whose it names is checked. */

const nodeTypes = [
  'Table',
  'Column',
  'Contract',
  'ContractVersion',
  'Policy',
  'WriteEvent',
  'GlossaryTerm',
  'Metric',
  'QualityRun',
  'QualityCheck',
] as const
export type NodeType = (typeof nodeTypes)[number]

export type NodeKey = readonly (string | number)[]

/** The id of a node. */
export function nodeIdOf(type: NodeType, ...key: NodeKey): string {
  return Buffer.from(`${type}:${JSON.stringify(key)}`).toString('base64url')
}

/** @returns undefined for what is no id of ours */
export function parseNodeId(id: string): { readonly type: NodeType; readonly key: NodeKey } | undefined {
  const [, name, json = ''] = /^(\w+):(.*)$/s.exec(Buffer.from(id, 'base64url').toString()) ?? []
  const type = nodeTypes.find((one) => one === name)
  if (type === undefined) return undefined
  try {
    const key: unknown = JSON.parse(json)
    const isKey =
      Array.isArray(key) &&
      key.length > 0 &&
      key.every((one) => typeof one === 'string' || Number.isSafeInteger(one))
    return isKey ? { type, key: key as NodeKey } : undefined
  } catch {
    return undefined
  }
}
