/** The embedded database's thread: PGlite with AGE, speaking the PostgreSQL protocol by messages. */

import { PGlite } from '@electric-sql/pglite'
import { age } from '@electric-sql/pglite-age'
import { exchange } from './embedded-exchange.ts'

declare const self: Worker

/** To the worker. */
export type ToWorker =
  | { readonly open: string; readonly wasm: WebAssembly.Module }
  | { readonly data: Uint8Array }
  | { readonly close: true }
/** From the worker. */
export type FromWorker =
  | { readonly opened: true }
  | { readonly data: Uint8Array }
  | { readonly closed: true }
  | { readonly failed: string }

const bytesPerMessageMax = 1 << 20

let db: PGlite | undefined
let pending: Uint8Array = new Uint8Array(0)

const post = (message: FromWorker) => self.postMessage(message)

async function open(dataDir: string, wasm: WebAssembly.Module): Promise<void> {
  const { existsSync } = await import('node:fs')
  const reopened = existsSync(`${dataDir}/PG_VERSION`)
  // The library loads with the session; at the very first start initdb could not find it yet.
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

/** How many bytes from the start are whole protocol messages. */
function wholeBytes(bytes: Uint8Array, started: boolean): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  let first = !started
  for (;;) {
    // The start-up message alone has no type byte.
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
    // Done before the call returns; what is awaited is no other message's turn.
    const answer = await exchange(db, batch)
    for (let at = 0; at < answer.length; at += bytesPerMessageMax) {
      const part = answer.slice(at, at + bytesPerMessageMax)
      self.postMessage({ data: part } satisfies FromWorker, [part.buffer])
    }
  }
}

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data
  try {
    if ('open' in message) await open(message.open, message.wasm)
    else if ('data' in message) await receive(message.data)
    else {
      await db?.close()
      post({ closed: true })
    }
  } catch (error) {
    post({ failed: error instanceof Error ? error.message : String(error) })
  }
}
