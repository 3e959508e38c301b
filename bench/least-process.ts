/**
 * The least gateway with a durable audit. It writes one row, forwards the commit, writes one row, and returns the reply.
 * It loads no table, as a gateway that pins its commits does not. It has no session, policy, graph or recovery. Its
 * overhead is what the machine and the database cost any gateway.
 */

import postgres from 'postgres'
import { benchPoolMax } from './bench-store.ts'
import { type Opened, obeyParent } from './child.ts'
import type { UpstreamAddress } from './upstream.ts'

export interface LeastOrder {
  readonly kind: 'open'
  readonly upstream: UpstreamAddress
  /** The gateway's own database, in which this process creates a table. */
  readonly databaseUrl: string
}

export interface LeastResults {
  /** The base address. Requests have the form of requests to the upstream. */
  readonly open: { readonly url: string }
}

async function open({ upstream, databaseUrl }: LeastOrder): Promise<Opened<LeastOrder>> {
  const sql = postgres(databaseUrl, { max: benchPoolMax, onnotice: () => {} })
  await sql`create table least_commit (id bigint generated always as identity primary key, body bytea not null)`
  const { origin } = new URL(upstream.endpoint)
  const write = async (body: Uint8Array) => {
    await sql`insert into least_commit (body) values (${Buffer.from(body)})`
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const target = `${origin}${pathname}`
      const headers = Object.fromEntries(
        ['content-type', 'accept-encoding', 'authorization'].flatMap((name) => {
          const value = request.headers.get(name)
          return value === null ? [] : [[name, value]]
        }),
      )
      const body = await request.bytes()
      await write(body)
      const response = await fetch(target, { method: 'POST', headers, body })
      const answer = await response.bytes()
      if (response.ok) await write(body)
      const etag = response.headers.get('etag')
      return new Response(answer, { status: response.status, headers: etag === null ? {} : { etag } })
    },
  })
  return {
    result: { url: server.url.href } satisfies LeastResults['open'],
    serve: async () => undefined,
    async close() {
      await server.stop(true)
      await sql.end()
    },
  }
}

if (import.meta.main) obeyParent<LeastOrder>(open)
