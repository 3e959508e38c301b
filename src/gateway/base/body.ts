/** A request's body with its digest. The only place of the gateway that uses the HTTP kit to read one. */

import { bodyOf, type RequestBody, readBody } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'

export type CommitBody = RequestBody

/**
 * Reads a body under the cap of docs/reference/limits.md 1 and computes its SHA-256.
 * @throws Fault `payload_too_large`; `bad_request` where the client stopped in the middle
 */
export function readCommitBody(request: Request): Promise<CommitBody> {
  return readBody(request, limits.commitBodyBytesMax)
}

/**
 * Reads the form that asks for a token, under its own cap.
 * @throws Fault as readCommitBody
 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const { bytes } = await readBody(request, limits.apiBodyBytesMax)
  return new URLSearchParams(Buffer.from(bytes).toString('utf8'))
}

/** A body that the gateway writes itself, for a change that did not come with one of its own. */
export function bodyOfText(text: string): Promise<CommitBody> {
  return bodyOf(Buffer.from(text))
}

/** Of a request that brings none. */
export const noBody: CommitBody = {
  bytes: new Uint8Array(0),
  sha256: new Bun.CryptoHasher('sha256').digest('hex'),
}
