/** Reads request bodies and computes their digests. Nothing else in the gateway reads a body through the HTTP kit. */

import { bodyOf, type RequestBody, readBody } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'

export type CommitBody = RequestBody

/**
 * Reads a body under the cap of docs/reference/limits.md 1 and computes its SHA-256.
 * @throws Fault `payload_too_large`; `bad_request` if the client stopped before the end
 */
export function readCommitBody(request: Request): Promise<CommitBody> {
  return readBody(request, limits.commitBodyBytesMax)
}

/**
 * Reads the form of a token request, under its own cap.
 * @throws Fault as `readCommitBody` does
 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const { bytes } = await readBody(request, limits.apiBodyBytesMax)
  return new URLSearchParams(Buffer.from(bytes).toString('utf8'))
}

/** A body that the gateway writes itself, for a change that has none of its own. */
export function bodyOfText(text: string): Promise<CommitBody> {
  return bodyOf(Buffer.from(text))
}

/** The body of a request without one. */
export const noBody: CommitBody = {
  bytes: new Uint8Array(0),
  sha256: new Bun.CryptoHasher('sha256').digest('hex'),
}
