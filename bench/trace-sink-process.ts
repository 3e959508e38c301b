/** Takes spans as a receiver of OTLP would, in a process of its own, and counts their bytes. It keeps nothing. */

import { obeyParent } from './child.ts'

export type SinkOrder = { readonly kind: 'open' } | { readonly kind: 'report' }

export interface SinkResults {
  readonly open: { readonly url: string }
  readonly report: { readonly bytes: number; readonly requests: number }
}

if (import.meta.main)
  obeyParent<SinkOrder>(async () => {
    const taken = { bytes: 0, requests: 0 }
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        taken.bytes += (await request.bytes()).length
        taken.requests += 1
        return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } })
      },
    })
    return {
      result: { url: server.url.origin },
      serve: async () => ({ ...taken }),
      close: async () => await server.stop(true),
    }
  })
