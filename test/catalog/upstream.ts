/** Upstreams for adapter tests: one whose every reply a test decides, and one that sends raw bytes. */

import type { Catalog } from '../../src/catalog/catalog.ts'
import { openCatalog } from '../../src/catalog/open-catalog.ts'
import type { RestCatalogOptions } from '../../src/catalog/rest-session.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'
import { allowing } from '../support/address-rules.ts'

const loopback = allowing('127.0.0.0/8')
export const table = { namespace: ['n'], name: 't' }

/** The least LoadTableResult that is one; `snapshotId` as its current snapshot. */
export function tableResult(snapshotId = 9_007_199_254_740_993n): string {
  return `{"metadata-location":"s3://b/t/metadata/1.json","metadata":{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","current-snapshot-id":${snapshotId}},"config":{"uri":"http://169.254.169.254/"}}`
}

export interface OpenOptions extends Partial<RestCatalogOptions> {
  readonly kind?: CatalogKind
  readonly config?: Record<string, unknown>
}

/** An adapter for the upstream at `endpoint`, which may be on the loopback address. */
export function openTestCatalog(
  endpoint: string,
  { kind = 'alpha', config, ...options }: OpenOptions = {},
): Catalog {
  return openCatalog(
    { id: 'c1', version: 1, kind, nickname: 'lake', endpoint, config: { warehouse: 'dev', ...config } },
    { addressRules: loopback, ...options },
  )
}

export interface TestUpstream {
  readonly url: string
  /** `METHOD path?query` of every request, in order. */
  readonly seen: string[]
  stop(): Promise<void>
}

/** Answers `config` (without a prefix) and tokens by itself; everything else is the test's. */
export function startUpstream(
  handle: (request: Request, path: string) => Response | Promise<Response>,
  config: unknown = {},
): TestUpstream {
  const seen: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      seen.push(`${request.method} ${pathname}${search}`)
      return pathname === '/v1/config' ? Response.json(config) : handle(request, pathname)
    },
  })
  return { url: server.url.href, seen, stop: () => server.stop(true) }
}

export interface RawUpstream {
  readonly url: string
  connections(): number
  requests(): number
  stop(): void
}

/** Writes `answers(n)` to the n-th request (from 1, config excluded); undefined keeps silent, '' hangs up. */
export function startRawUpstream(answer: (n: number) => string | readonly string[] | undefined): RawUpstream {
  let connections = 0
  let requests = 0
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open() {
        connections++
      },
      data(socket, data) {
        const text = data.toString('latin1')
        if (!/^(GET|POST) /.test(text)) return
        if (text.startsWith('GET /v1/config')) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
          return
        }
        const bytes = answer(++requests)
        if (bytes === undefined) return
        for (const part of typeof bytes === 'string' ? [bytes] : bytes) socket.write(part)
        if (
          bytes.length === 0 ||
          !/content-length|chunked/i.test(String(bytes)) ||
          String(bytes).includes('X-Hang-Up')
        )
          socket.end()
      },
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    connections: () => connections,
    requests: () => requests,
    stop: () => server.stop(true),
  }
}

/** What a call is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (thrown) {
    return thrown
  }
  throw new Error('expected a rejection')
}
