/** What a statement is without its literals: for usage records, which must not hold any. */

import { fingerprintSync } from 'libpg-query'
import { Lru } from '../base/lru.ts'
import { limits } from '../limits.ts'
import { admit } from './parse.ts'

/** By text: a fingerprint depends on nothing else, and takes as long as parsing twice. */
const known = new Lru<string, string>(limits.namesCacheBytes)

/** The fingerprint of a statement without its literals; undefined for text that is no statement, or is never parsed. */
export function fingerprintStatement(text: string): string | undefined {
  const found = known.get(text)
  if (found !== undefined) return found
  try {
    admit(text)
    const fingerprint = fingerprintSync(text)
    // Of some texts the parser's complaint comes in its place, and quotes them.
    if (!/^[0-9a-f]{16}$/.test(fingerprint)) return undefined
    known.set(text, fingerprint, text.length + fingerprint.length)
    return fingerprint
  } catch {
    return undefined
  }
}
