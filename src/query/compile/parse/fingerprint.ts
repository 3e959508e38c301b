/** Makes the fingerprint of a statement without its literals, because usage records must not hold any. */

import { fingerprintSync } from 'libpg-query'
import { Lru } from '../../../base/lru.ts'
import { limits } from '../../../limits.ts'
import { checkText } from './parse.ts'

/** By text, on which alone a fingerprint depends. Cached because making one takes as long as parsing twice. */
const cache = new Lru<string, string>(limits.namesCacheBytes)

/** The fingerprint; undefined for text that is not a statement or is refused before parsing. */
export function fingerprintStatement(text: string): string | undefined {
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
