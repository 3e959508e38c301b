/** Reads through what a request came: its session, and what its client says of itself. Judges nothing. */

import { cleanText } from '../base/clean-text.ts'
import type { ChangeOrigin } from '../core/commit.ts'
import type { IdentifiedPrincipal } from '../core/principal.ts'

/** UTF-16 units that are kept of a text. */
const textCharsMax = 500

/** The origin that a request has before its body is read. */
export function requestOrigin(identified: IdentifiedPrincipal, headers: Headers): ChangeOrigin {
  const { session } = identified
  const client = saidText(headers.get('user-agent'))
  return {
    ...(session && { session: { id: session.id, name: session.sub } }),
    ...(client !== undefined && { client }),
  }
}

/** A text as it can be stored and shown; undefined for none. */
export function saidText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = cleanText(value, textCharsMax).trim()
  return text === '' ? undefined : text
}
