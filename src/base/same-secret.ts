/** Compares secrets, signatures and digests in constant time, whatever their lengths. */

import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether two secrets are equal. It compares their SHA-256, so that timing reveals neither length nor content. */
export function sameSecret(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other))
}

function digestOf(secret: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
