/** Inflates a request's body that was sent with `Content-Encoding: gzip`. It never holds more than its limit. */

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Fault } from '../base/fault.ts'
import { parsedBeyond } from '../base/parsed-size.ts'
import { limits } from '../limits.ts'
import { aboutRequest } from './about-request.ts'
import { heldFor, tooLarge } from './read-body.ts'

const inflate = promisify(gunzip)

/**
 * The inflated bytes of a body, reserved in the budget of the process as a body that arrives so.
 * @param compressed one gzip member or several (RFC 1952)
 * @throws Fault `payload_too_large` where it inflates to more, `bad_request` where it is no gzip or not whole,
 *   `overloaded` where the process has no memory left for it
 */
export async function inflateBody(
  request: Request,
  compressed: Uint8Array,
  bytesMax: number,
): Promise<Uint8Array> {
  // Its size is not known before, and what the body says of it is not to be believed.
  const { signal } = request
  const reservation = await aboutRequest(request).budget?.reserveInTurn({ body: bytesMax }, signal)
  try {
    const bytes = await inflateUpTo(compressed, bytesMax)
    const parse = await parsedBeyond(bytes, bytes.length * limits.parsedBytesPerByte)
    const { body = 0, parse: expected = 0 } = heldFor(bytes.length)
    await reservation?.become({ body, parse: expected + parse }, signal)
    reservation?.leave()
    return bytes
  } catch (thrown) {
    reservation?.release()
    throw thrown
  }
}

async function inflateUpTo(compressed: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await inflate(compressed, { maxOutputLength: bytesMax })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(bytesMax)
    throw new Fault('bad_request', 'The body is not valid gzip.', { cause })
  }
}
