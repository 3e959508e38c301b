/**
 * Runs object storage that answers as late as published times say: a proxy in front of an S3 emulator, in a process of
 * its own, so that its work is not the measuring process's. What the emulator itself takes comes on top.
 */

import { type Opened, obeyParent } from './child.ts'
import { type StorageName, storageTimes } from './storage-times.ts'

export interface StorageOrder {
  readonly kind: 'open'
  readonly storage: StorageName
  /** Base address of the emulator. */
  readonly url: string
}

export interface StorageResults {
  readonly open: { readonly url: string }
}

async function open({ storage, url }: StorageOrder): Promise<Opened<StorageOrder>> {
  const times = storageTimes(storage)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 ** 30,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' || method === 'HEAD' ? undefined : await request.bytes()
      const waits = times[body === undefined ? 'get' : 'put']
      const waited = Bun.sleep(waits[Math.floor(Math.random() * waits.length)] ?? 0)
      const answer = await fetch(url + pathname + search, { method, headers, body, decompress: false })
      const bytes = await answer.bytes()
      await waited
      return new Response(method === 'HEAD' ? null : bytes, {
        status: answer.status,
        headers: answer.headers,
      })
    },
  })
  return {
    result: { url: `http://127.0.0.1:${server.port}` } satisfies StorageResults['open'],
    serve: async () => undefined,
    close: async () => await server.stop(true),
  }
}

if (import.meta.main) obeyParent<StorageOrder>(open)
