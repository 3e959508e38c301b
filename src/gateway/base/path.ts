/** What the paths of both surfaces have in common: their root, their prefix, and what an identifier may be. */

import { Fault } from '../../base/fault.ts'
import { isPathIdentifier } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'

/** Where every path of the gateway begins. */
export const root = '/v1/iceberg/'

/** The {prefix} of a path under /v1/iceberg, unchecked. */
export function prefixOf(pathname: string): string {
  return pathname.slice(root.length).split('/', 1)[0] ?? ''
}

/** @throws Fault `bad_request` where `text` is no identifier of docs/reference/gateway.md 1.3 */
export function assertName(what: string, text: string): void {
  if (isPathIdentifier(text) && text.length <= limits.identifierLengthMax) return
  throw new Fault(
    'bad_request',
    `The ${what} must match ^[a-zA-Z0-9_-]+$ and have at most ${limits.identifierLengthMax} characters.`,
  )
}
