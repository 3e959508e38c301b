/** Values inside a cell that holds JSON, each under its dotted path; bounded in size, number and nesting. */

/** Characters of one cell. */
const cellCharsMax = 64 * 1024
const leavesMax = 500
const depthMax = 16
const keyCharsMax = 128

export interface JsonLeaf {
  /** Keys joined by dots; a list adds none. */
  readonly path: string
  readonly value: string
}

/**
 * The strings and whole numbers of a cell that is a JSON object or list, also of JSON inside those strings.
 * @returns undefined where the cell is no such JSON, or too long to be read
 */
export function readJsonLeaves(cell: string): readonly JsonLeaf[] | undefined {
  const root = parseContainer(cell)
  if (root === undefined) return undefined
  const leaves: JsonLeaf[] = []
  const open: { readonly path: string; readonly depth: number; readonly value: unknown }[] = [
    { path: '', depth: 0, value: root },
  ]
  for (let next = open.pop(); next !== undefined && leaves.length < leavesMax; next = open.pop()) {
    const { path, depth } = next
    const value = (typeof next.value === 'string' && parseContainer(next.value)) || next.value
    if (typeof value === 'string') leaves.push({ path, value })
    else if (typeof value === 'number' && Number.isSafeInteger(value))
      leaves.push({ path, value: String(value) })
    else if (typeof value === 'object' && value !== null && depth < depthMax)
      for (const [key, inner] of Object.entries(value).slice(0, leavesMax))
        open.push({ path: Array.isArray(value) ? path : join(path, key), depth: depth + 1, value: inner })
  }
  return leaves
}

function join(path: string, key: string): string {
  const short = key.slice(0, keyCharsMax)
  return path === '' ? short : `${path}.${short}`
}

function parseContainer(text: string): object | undefined {
  if (text.length > cellCharsMax) return undefined
  const trimmed = text.trim()
  if (
    !(trimmed.startsWith('{') && trimmed.endsWith('}')) &&
    !(trimmed.startsWith('[') && trimmed.endsWith(']'))
  )
    return undefined
  try {
    // Not base/json.ts: what a strict reader refuses, as duplicate keys, is data here all the same.
    return JSON.parse(trimmed) as object
  } catch {
    return undefined
  }
}
