/** Makes the fingerprint of a statement without its literals, because usage records must not hold any. */

import { createHash } from 'node:crypto'
import { fingerprintSync, type SelectStmt } from 'libpg-query'
import { Lru } from '../../../base/lru.ts'
import { limits } from '../../../limits.ts'
import { checkText } from './parse.ts'

/** By text, on which alone a fingerprint depends. Cached because making one takes as long as parsing twice. */
const cache = new Lru<string, string>(limits.namesCacheBytes)

/**
 * The fingerprint; undefined for text that is not a statement or is refused before parsing.
 * @param source its text, or its tree where the service wrote it
 */
export function fingerprintStatement(source: string | SelectStmt): string | undefined {
  return typeof source === 'string' ? fingerprintText(source) : fingerprintTree(source)
}

/** Of the shape: neither constants nor how many there are in a list. */
function fingerprintTree(tree: SelectStmt): string {
  const shape = JSON.stringify(tree, (key, value: unknown) => {
    if (key === 'A_Const' || key === 'ParamRef') return null
    const isList = (key === 'items' || key === 'valuesLists') && Array.isArray(value)
    return isList ? value.slice(0, 1) : value
  })
  return createHash('sha256').update(shape).digest('hex').slice(0, 16)
}

function fingerprintText(text: string): string | undefined {
  const found = cache.get(text)
  if (found !== undefined) return found
  try {
    checkText(text)
    const fingerprint = fingerprintSync(text)
    // For some texts the library returns the parser's error message, which quotes the text.
    if (!/^[0-9a-f]{16}$/.test(fingerprint)) return undefined
    cache.set(text, fingerprint, text.length + fingerprint.length)
    return fingerprint
  } catch {
    return undefined
  }
}
