/** Reads the Idempotency-Key of a request. What a key is for is said in docs/reference/gateway.md 8.4. */

import { Fault } from '../../base/fault.ts'
import type { KeyedRequest } from '../../core/idempotency.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { CommitBody } from './body.ts'

/** A UUID of version 7 in the form of RFC 9562, as the Iceberg REST specification has it. */
const keyPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/**
 * The key of a request, with what the request asks for. Another principal's request is another one.
 * @returns undefined without a key
 * @throws Fault `bad_request` for a malformed key
 */
export function keyedRequest(
  { method, url, headers }: Request,
  { principal }: Pick<IdentifiedPrincipal, 'principal'>,
  body: CommitBody,
): KeyedRequest | undefined {
  const sent = headers.get('idempotency-key')
  if (sent === null) return undefined
  const key = sent.toLowerCase()
  if (!keyPattern.test(key))
    throw new Fault('bad_request', 'Idempotency-Key must be a UUID of version 7, in the form of RFC 9562.')
  const { pathname, search } = new URL(url)
  const asked = JSON.stringify([method, pathname, search, principal.sub, body.sha256])
  return { key, sha256: new Bun.CryptoHasher('sha256').update(asked).digest('hex') }
}
