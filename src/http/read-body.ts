/** Reads a request's body up to its size limit, and computes its SHA-256 (docs/reference/gateway.md 1.5). */

import type { ByteAmounts } from '../base/byte-work.ts'
import { Fault } from '../base/fault.ts'
import { parsedBeyond } from '../base/parsed-size.ts'
import { nextTurn } from '../base/turn.ts'
import { limits } from '../limits.ts'
import { aboutRequest } from './about-request.ts'

export interface RequestBody {
  readonly bytes: Uint8Array
  /** Hex. */
  readonly sha256: string
}

/** Above this many bytes an inline digest would block the HTTP thread for too long. */
const inlineDigestBytesMax = 256 * 1024

/**
 * Reads a request's body and never holds more than `bytesMax`. A body of declared length waits for room in the budget of
 * the process before any of it is read; any other as it arrives. Until then it stays with its client.
 * @throws Fault `payload_too_large` above the limit, `overloaded` where the process has no memory left for the body in
 *   time, `bad_request` where the client stopped in the middle
 */
export async function readBody(request: Request, bytesMax: number): Promise<RequestBody> {
  const { budget, onBodyRead } = aboutRequest(request)
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > bytesMax) throw tooLarge(bytesMax)
  const isDeclared = !Number.isNaN(declared)
  const { signal } = request
  const reservation = budget?.reserve({})
  try {
    if (isDeclared) await reservation?.addInTurn(heldFor(declared), signal)
    const revoked = Promise.withResolvers<never>()
    const hold = (length: number) => reservation?.addInTurn(heldFor(length), signal)
    const reading = isDeclared ? readWhole(request) : readStream(request, bytesMax, hold, revoked.promise)
    reservation?.revocable(revoked.reject)
    const bytes = await Promise.race([reading, revoked.promise])
    reservation?.revocable(undefined)
    if (bytes.length > bytesMax) throw tooLarge(bytesMax)
    onBodyRead?.()
    const parse = await parsedBeyond(bytes, bytes.length * limits.parsedBytesPerByte)
    if (parse > 0) await reservation?.addInTurn({ parse }, signal)
    const body = await bodyOf(bytes)
    reservation?.leave()
    return body
  } catch (thrown) {
    reservation?.release()
    throw signal.aborted ? unfinished(thrown) : thrown
  }
}

/** What a body takes once it is parsed. */
export function heldFor(bytes: number): ByteAmounts {
  return { body: bytes, parse: bytes * limits.parsedBytesPerByte }
}

/**
 * As `readBody`, for a caller who was already checked. If the body was not there yet, it checks the caller again once
 * the body is whole, because a session may end while a body arrives slowly.
 * @param again throws where the caller has lost access
 */
export async function readBodyOf(
  request: Request,
  bytesMax: number,
  again: () => Promise<unknown>,
): Promise<RequestBody> {
  const reading = readBody(request, bytesMax)
  const hadArrived = await Promise.race([reading.then(() => true), nextTurn().then(() => false)])
  const body = await reading
  if (!hadArrived) await again()
  return body
}

/** Bytes with their digest. */
export async function bodyOf(bytes: Uint8Array): Promise<RequestBody> {
  return { bytes, sha256: await sha256Hex(bytes) }
}

async function readWhole(request: Request): Promise<Uint8Array> {
  try {
    return await request.bytes()
  } catch (cause) {
    throw unfinished(cause)
  }
}

function unfinished(cause: unknown): Fault {
  return new Fault('bad_request', 'The request body could not be read to its end.', { cause })
}

/**
 * @param hold called with the length of each part before it is kept; may wait, and throw
 * @param revoked rejects where the body is given up
 */
async function readStream(
  request: Request,
  bytesMax: number,
  hold: (length: number) => Promise<void> | undefined,
  revoked: Promise<never>,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body.getReader()
  revoked.catch(() => reader.cancel()).catch(() => {})
  for (;;) {
    let next: Awaited<ReturnType<typeof reader.read>>
    try {
      next = await reader.read()
    } catch (cause) {
      throw unfinished(cause)
    }
    if (next.done) return Buffer.concat(chunks, length)
    length += next.value.length
    try {
      if (length > bytesMax) throw tooLarge(bytesMax)
      await hold(next.value.length)
    } catch (refusal) {
      await reader.cancel().catch(() => {})
      throw refusal
    }
    chunks.push(next.value)
  }
}

async function sha256Hex(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= inlineDigestBytesMax) return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

/** Says that a body is larger than its limit. */
export function tooLarge(bytesMax: number): Fault {
  return new Fault('payload_too_large', `The request body is larger than ${bytesMax} bytes.`)
}
