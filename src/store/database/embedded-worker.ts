/** Runs PGlite with AGE in a Worker. PostgreSQL protocol bytes go in and out as messages. */

import { PGlite } from '@electric-sql/pglite'
import { age } from '@electric-sql/pglite-age'
import { exchange } from './embedded-exchange.ts'
import { describeFailure } from './embedded-failure.ts'

declare const self: Worker

/** To the worker. */
export type ToStoreWorker =
  | { readonly open: string; readonly wasm: WebAssembly.Module }
  | { readonly data: Uint8Array }
  | { readonly close: true }
/** From the worker. */
export type FromStoreWorker =
  | { readonly opened: true }
  | { readonly data: Uint8Array }
  | { readonly closed: true }
  | { readonly failed: string }

const bytesPerMessageMax = 1 << 20

let db: PGlite | undefined
let pending: Uint8Array = new Uint8Array(0)

const post = (message: FromStoreWorker) => self.postMessage(message)

async function open(dataDir: string, wasm: WebAssembly.Module): Promise<void> {
  const { existsSync } = await import('node:fs')
  const reopened = existsSync(`${dataDir}/PG_VERSION`)
  // The library is loaded with the session, but not at the first start, because initdb cannot find it yet.
  const startParams = [
    ...PGlite.defaultStartParams,
    ...(reopened ? ['-c', 'session_preload_libraries=age'] : []),
  ]
  db = await PGlite.create({
    dataDir,
    extensions: { age },
    startParams,
    relaxedDurability: false,
    pgliteWasmModule: wasm,
  })
  post({ opened: true })
}

/** How many bytes from the start form whole protocol messages. */
function wholeBytes(bytes: Uint8Array, started: boolean): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  let first = !started
  for (;;) {
    // Only the start-up message has no type byte.
    const typeBytes = first ? 0 : 1
    if (at + typeBytes + 4 > bytes.length) return at
    const end = at + typeBytes + view.getUint32(at + typeBytes)
    if (end > bytes.length) return at
    at = end
    if (first) return at
    first = false
  }
}

let started = false

async function receive(data: Uint8Array): Promise<void> {
  if (db === undefined) throw new Error('not open')
  pending = pending.length === 0 ? data : Buffer.concat([pending, data])
  for (;;) {
    const whole = wholeBytes(pending, started)
    if (whole === 0) return
    started = true
    const batch = pending.subarray(0, whole)
    pending = pending.subarray(whole)
    // PGlite runs the batch before the call returns, so no other message is handled during the await.
    const result = await exchange(db, batch)
    for (let at = 0; at < result.length; at += bytesPerMessageMax) {
      const part = result.slice(at, at + bytesPerMessageMax)
      self.postMessage({ data: part } satisfies FromStoreWorker, [part.buffer])
    }
  }
}

self.onmessage = async (event: MessageEvent<ToStoreWorker>) => {
  const message = event.data
  try {
    if ('open' in message) await open(message.open, message.wasm)
    else if ('data' in message) await receive(message.data)
    else {
      await db?.close()
      post({ closed: true })
    }
  } catch (error) {
    post({ failed: describeFailure(error) })
  }
}
