/** The one comparison of secrets, signatures and digests: constant in time, whatever their lengths. */

import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether two secrets are equal, compared by their SHA-256 so that neither length nor content shows in time. */
export function sameSecret(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other))
}

function digestOf(secret: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
