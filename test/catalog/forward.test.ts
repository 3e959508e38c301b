import { describe, expect, test } from 'bun:test'
import type { Fault } from '../../src/base/fault.ts'
import type { Catalog, ForwardRequest } from '../../src/catalog/catalog.ts'
import { type OpenOptions, openTestCatalog, rejection, startUpstream } from './upstream.ts'

const encoder = new TextEncoder()

async function withUpstream(
  handle: (request: Request, path: string) => Response | Promise<Response>,
  run: (catalog: Catalog, seen: readonly string[]) => Promise<void>,
  options: OpenOptions = {},
  config: unknown = {},
): Promise<void> {
  const upstream = startUpstream(handle, config)
  const catalog = openTestCatalog(upstream.url, options)
  try {
    await run(catalog, upstream.seen)
  } finally {
    catalog.close()
    await upstream.stop()
  }
}

const list: ForwardRequest = { method: 'GET', path: ['namespaces'], mutates: false, subject: 'the catalog' }
const drop: ForwardRequest = {
  method: 'DELETE',
  path: ['namespaces', ['a', 'b'], 'tables', 't'],
  mutates: true,
  subject: 'Table a.b.t',
}
/** A response whose connection closes before a byte of it was sent. */
const dropped = () => new Response(new ReadableStream({ pull: (controller) => controller.error(undefined) }))

describe('a forwarded request', () => {
  test('goes to the address that its parts make, with the parts encoded again', async () => {
    await withUpstream(
      () => new Response('{}'),
      async (catalog, seen) => {
        await catalog.forward({ ...list, query: { parent: 'a\u001fb', pageToken: 'x&y=1' } })
        await catalog.forward(drop)
        expect(seen.slice(1)).toEqual([
          'GET /v1/namespaces?parent=a%1Fb&pageToken=x%26y%3D1',
          'DELETE /v1/namespaces/a%1Fb/tables/t',
        ])
      },
    )
  })

  test.each([['..'], ['.'], ['a/b'], ['a?b'], ['%2e'], [''], ['é'], [['a', '..']], [['a/b']], [[]]])(
    'with the part %p is refused before anything is sent',
    async (part) => {
      await withUpstream(
        () => new Response('{}'),
        async (catalog, seen) => {
          const fault = (await rejection(catalog.forward({ ...list, path: ['namespaces', part] }))) as Fault
          expect(fault.kind).toBe('bad_request')
          expect(seen).toEqual([])
        },
      )
    },
  )

  test('with a namespace deeper than the kind allows is refused', async () => {
    await withUpstream(
      () => new Response('{}'),
      async (catalog) => {
        expect(((await rejection(catalog.forward(drop))) as Fault).kind).toBe('bad_request')
      },
      { kind: 'beta' },
    )
  })

  test('carries the key of idempotency, and the wish for credentials only where the kind vends', async () => {
    for (const [kind, wish] of [
      ['alpha', 'vended-credentials'],
      ['beta', null],
    ] as const)
      await withUpstream(
        (request) => {
          expect(request.headers.get('idempotency-key')).toBe('k')
          expect(request.headers.get('x-iceberg-access-delegation')).toBe(wish)
          return new Response('{}')
        },
        async (catalog) => {
          const headers = { idempotencyKey: 'k', accessDelegation: 'vended-credentials' }
          await catalog.forward({ ...list, ...headers })
        },
        { kind },
      )
  })

  test('is answered with the upstream’s bytes and headers by allow-list', async () => {
    await withUpstream(
      () =>
        new Response('{ "namespaces":[] }', { headers: { etag: '"e"', 'set-cookie': 'a=b', server: 'x' } }),
      async (catalog) => {
        const { status, headers, body } = await catalog.forward(list)
        expect(status).toBe(200)
        expect(Object.keys(headers).toSorted()).toEqual(['content-type', 'etag'])
        expect(await new Response(body as ReadableStream).text()).toBe('{ "namespaces":[] }')
      },
    )
  })

  test('that reads is cut off where the answer grows beyond the bound', async () => {
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(encoder.encode('x'.repeat(1024))),
        }),
      )
    await withUpstream(
      endless,
      async (catalog) => {
        const { body } = await catalog.forward(list)
        expect(String(await rejection(new Response(body as ReadableStream).text()))).toContain(
          'sent more than',
        )
      },
      { responseBytesMax: 10_000 },
    )
  })
})

describe('a refusal', () => {
  test.each([
    [400, 'bad_request', 'bad_request'],
    [403, 'upstream_forbidden', 'upstream_forbidden'],
    [404, 'not_found', 'not_found'],
    [406, 'not_acceptable', 'not_acceptable'],
    [408, 'upstream_failed', 'commit_unknown'],
    [409, 'conflict', 'conflict'],
    [422, 'unprocessable', 'unprocessable'],
    [429, 'upstream_failed', 'upstream_failed'],
    [302, 'upstream_failed', 'commit_unknown'],
    [500, 'upstream_failed', 'commit_unknown'],
    [501, 'not_implemented', 'not_implemented'],
    [503, 'upstream_failed', 'commit_unknown'],
  ])('of %d is %s for a read and %s for a change', async (status, read, change) => {
    await withUpstream(
      () =>
        status === 302
          ? new Response(null, { status, headers: { location: 'http://127.0.0.1:9/' } })
          : Response.json({ error: { message: 'no', type: 'SomeException', code: status } }, { status }),
      async (catalog) => {
        expect(((await rejection(catalog.forward(list))) as Fault).kind).toBe(read as Fault['kind'])
        expect(((await rejection(catalog.forward(drop))) as Fault).kind).toBe(change as Fault['kind'])
      },
    )
  })

  test('of the token is ErrCredentialsExpired', async () => {
    await withUpstream(
      () => new Response('', { status: 401 }),
      async (catalog) => {
        expect(await rejection(catalog.forward(list))).toMatchObject({ code: 'ErrCredentialsExpired' })
      },
    )
  })

  test('of a missing branch by a beta upstream is not_found', async () => {
    const type = 'NoSuchReferenceException'
    await withUpstream(
      () => Response.json({ error: { message: 'no', type, code: 400 } }, { status: 400 }),
      async (catalog) => {
        expect(((await rejection(catalog.forward(list))) as Fault).kind).toBe('not_found')
      },
      { kind: 'beta' },
    )
  })
})

test('a DELETE whose connection drops is sent once and its outcome is unknown', async () => {
  let deletes = 0
  await withUpstream(
    (request) => {
      if (request.method !== 'DELETE') return new Response('{}')
      deletes++
      return dropped()
    },
    async (catalog) => {
      // The connection that this leaves is one that could be used again.
      await new Response((await catalog.forward(list)).body as ReadableStream).text()
      expect(((await rejection(catalog.forward(drop))) as Fault).kind).toBe('commit_unknown')
      expect(deletes).toBe(1)
    },
  )
})

test('what the upstream offers is read of its configuration, asked for once', async () => {
  const config = { endpoints: ['GET /v1/{prefix}/namespaces', 7] }
  await withUpstream(
    () => new Response('{}'),
    async (catalog, seen) => {
      for (let i = 0; i < 3; i++)
        expect(await catalog.offer()).toEqual({ endpoints: ['GET /v1/{prefix}/namespaces'] })
      expect(seen).toHaveLength(1)
    },
    {},
    config,
  )
})
