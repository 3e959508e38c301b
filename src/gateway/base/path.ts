/** Defines what the paths of both surfaces share: their root, their prefix and the pattern of identifiers. */

import { Fault } from '../../base/fault.ts'
import { isPathIdentifier } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'

/** Every path of the gateway starts with this. */
export const icebergRoot = '/v1/iceberg/'

/** The {prefix} of a path under /v1/iceberg, unchecked. */
export function prefixOf(pathname: string): string {
  return pathname.slice(icebergRoot.length).split('/', 1)[0] ?? ''
}

/** Throws a Fault `bad_request` if `text` is not an identifier of docs/reference/gateway.md 1.3. */
export function assertName(what: string, text: string): void {
  if (isPathIdentifier(text) && text.length <= limits.identifierLengthMax) return
  throw new Fault(
    'bad_request',
    `The ${what} must match ^[a-zA-Z0-9_-]+$ and have at most ${limits.identifierLengthMax} characters.`,
  )
}
