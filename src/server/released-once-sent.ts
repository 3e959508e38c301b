/**
 * Releases what a request holds once its response was sent, or its client has gone. The bytes of a large response stay
 * in memory until its client has read them.
 */

import type { ByteWork } from '../base/byte-work.ts'

/** Bytes of a request from which they are held until its response was sent. */
const heldUntilSentBytesMin = 1024 * 1024

/** Bytes that are passed on at once. */
const partBytes = 64 * 1024

/**
 * The response, whose sending releases the work's bytes. A request that holds few releases them at once.
 * @param gone aborted when the client disconnects
 */
export function releasedOnceSent(response: Response, work: ByteWork, gone: AbortSignal): Response {
  const { body } = response
  if (body === null || work.bytes < heldUntilSentBytesMin) {
    work.release()
    return response
  }
  gone.addEventListener('abort', () => work.release(), { once: true })
  if (gone.aborted) work.release()
  return new Response(
    watched(body, () => work.release()),
    response,
  )
}

/** The same bytes in parts, pulled as they are sent. */
function watched(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let rest: Uint8Array = new Uint8Array(0)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (rest.length === 0) {
            const next = await reader.read()
            if (next.done) {
              ended()
              controller.close()
              return
            }
            rest = next.value
          }
        } catch (thrown) {
          ended()
          throw thrown
        }
        controller.enqueue(rest.subarray(0, partBytes))
        rest = rest.subarray(partBytes)
      },
      async cancel(reason) {
        ended()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
