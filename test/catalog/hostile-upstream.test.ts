/** Violations of the protocol by an upstream, and their effect on a commit and on a load. */

import { describe, expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { allowing } from '../support/address-rules.ts'
import {
  type OpenOptions,
  openTestCatalog,
  type RawUpstream,
  rejection,
  startRawUpstream,
  startUpstream,
  type TestUpstream,
  table,
  tableResult,
} from './upstream.ts'

const body = new TextEncoder().encode('{"requirements":[],"updates":[]}')

async function withUpstream<U extends TestUpstream | RawUpstream>(
  upstream: U,
  options: OpenOptions,
  run: (catalog: Catalog, upstream: U) => Promise<void>,
): Promise<void> {
  const catalog = openTestCatalog(upstream.url, options)
  try {
    await run(catalog, upstream)
  } finally {
    catalog.close()
    await upstream.stop()
  }
}

/** The kinds of Fault that a commit and then a load end with. */
async function outcomes(catalog: Catalog): Promise<unknown[]> {
  const kinds = []
  for (const call of [() => catalog.commitTable(table, body), () => catalog.loadTable(table)]) {
    const thrown = (await rejection(call())) as { kind?: string; code?: string }
    kinds.push(thrown.kind ?? thrown.code)
  }
  return kinds
}

const ok = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`

describe('on the wire', () => {
  const broken: [string, string | readonly string[]][] = [
    ['hangs up without an answer', ''],
    ['breaks off its headers', 'HTTP/1.1 200 OK\r\nConte'],
    [
      'breaks off a body of declared length',
      `HTTP/1.1 200 OK\r\nX-Hang-Up: 1\r\nContent-Length: 9999\r\n\r\n${tableResult()}`,
    ],
    [
      'breaks off a chunked body',
      `HTTP/1.1 200 OK\r\nX-Hang-Up: 1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"met\r\n`,
    ],
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    [
      'encodes what was to be plain',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}',
    ],
  ]
  test.each(broken)('an upstream that %s', async (_, bytes) => {
    await withUpstream(
      startRawUpstream(() => bytes),
      {},
      async (catalog) => {
        expect(await outcomes(catalog)).toEqual(['commit_unknown', 'upstream_failed'])
      },
    )
  })

  test('an upstream that answers in small pieces is understood', async () => {
    const pieces = [...ok(tableResult())]
    await withUpstream(
      startRawUpstream(() => pieces),
      {},
      async (catalog) => {
        const { body: echoed } = await catalog.commitTable(table, body)
        expect(new TextDecoder().decode(echoed)).toBe(tableResult())
      },
    )
  })

  test('a commit on a connection that the upstream had just closed is not sent twice', async () => {
    const answers = [ok(tableResult()), '']
    await withUpstream(
      startRawUpstream((n) => answers[n - 1] ?? ok(tableResult())),
      {},
      async (catalog, upstream) => {
        await catalog.commitTable(table, body)
        expect(await rejection(catalog.commitTable(table, body))).toMatchObject({ kind: 'commit_unknown' })
        expect(upstream.requests()).toBe(2)
      },
    )
  })

  test('connections are kept and used again', async () => {
    await withUpstream(
      startRawUpstream(() => ok(tableResult())),
      {},
      async (catalog, upstream) => {
        for (let i = 0; i < 5; i++) await catalog.loadTable(table)
        for (let i = 0; i < 5; i++) await catalog.commitTable(table, body)
        expect(upstream.connections()).toBe(1)
      },
    )
  })

  test('a refusal whose body breaks off is still a refusal', async () => {
    const conflict = 'HTTP/1.1 409 Conflict\r\nX-Hang-Up: 1\r\nContent-Length: 500\r\n\r\n{"error":'
    await withUpstream(
      startRawUpstream(() => conflict),
      {},
      async (catalog) => {
        expect(await rejection(catalog.commitTable(table, body))).toMatchObject({ code: 'ErrCommitConflict' })
      },
    )
  })
})

describe('time', () => {
  const endless = 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{'
  test.each([
    ['never answers', undefined],
    ['never ends its answer', endless],
  ])('an upstream that %s is given up on', async (_, bytes) => {
    // The first load settles the configuration, so that the commit's deadline falls on the commit.
    const answer = (n: number) => (n === 1 ? ok(tableResult()) : bytes)
    await withUpstream(startRawUpstream(answer), { commitMs: 20 }, async (catalog) => {
      await catalog.loadTable(table)
      const thrown = await rejection(catalog.commitTable(table, body))
      expect(thrown).toMatchObject({ kind: 'commit_unknown' })
      expect((thrown as Error).message).toContain('did not answer in time')
    })
    await withUpstream(
      startRawUpstream(() => bytes),
      { loadMs: 20 },
      async (catalog) => {
        expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'upstream_failed' })
      },
    )
  })

  test('a caller that leaves after the commit was sent cannot know; before, it can', async () => {
    const caller = new AbortController()
    const upstream = startUpstream(() => {
      caller.abort()
      return new Promise(() => {})
    })
    await withUpstream(upstream, {}, async (catalog) => {
      const { signal } = caller
      expect(await rejection(catalog.commitTable(table, body, { signal }))).toMatchObject({
        kind: 'commit_unknown',
      })
      const sent = upstream.seen.length
      expect(await rejection(catalog.commitTable(table, body, { signal }))).toMatchObject({
        kind: 'upstream_failed',
      })
      expect(upstream.seen.length).toBe(sent)
    })
  })

  test('a caller that leaves does not take the shared configuration request with it', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Response>()
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        if (!request.url.includes('/config')) return new Response(tableResult())
        asked.resolve()
        return answer.promise
      },
    })
    try {
      const catalog = openTestCatalog(server.url.href)
      const caller = new AbortController()
      const left = rejection(catalog.loadTable(table, { signal: caller.signal }))
      const stayed = catalog.loadTable(table)
      await asked.promise
      caller.abort()
      expect(await left).toMatchObject({ kind: 'upstream_failed' })
      answer.resolve(Response.json({}))
      expect((await stayed).status).toBe('loaded')
    } finally {
      await server.stop(true)
    }
  })
})

describe('answers', () => {
  const commitOutcome = async (response: () => Response, options: OpenOptions = {}): Promise<unknown> => {
    let outcome: unknown
    await withUpstream(startUpstream(response), options, async (catalog) => {
      const thrown = (await rejection(catalog.commitTable(table, body))) as { kind?: string; code?: string }
      outcome = thrown.kind ?? thrown.code
    })
    return outcome
  }

  test.each([
    [301, 'commit_unknown'],
    [307, 'commit_unknown'],
    [304, 'commit_unknown'],
    [400, 'upstream_failed'],
    [401, 'ErrCredentialsExpired'],
    [403, 'upstream_forbidden'],
    [404, 'ErrTableNotFound'],
    [408, 'commit_unknown'],
    [409, 'ErrCommitConflict'],
    [413, 'upstream_failed'],
    [419, 'ErrCredentialsExpired'],
    [422, 'upstream_failed'],
    [429, 'upstream_failed'],
    [499, 'commit_unknown'],
    [201, 'commit_unknown'],
    [204, 'commit_unknown'],
    [500, 'commit_unknown'],
    [501, 'upstream_failed'],
    [502, 'commit_unknown'],
    [503, 'commit_unknown'],
    [504, 'commit_unknown'],
    [599, 'commit_unknown'],
  ])('a commit answered %i is %s', async (status, outcome) => {
    expect(await commitOutcome(() => new Response(null, { status }))).toBe(outcome)
  })

  test.each([
    [200, 'made'],
    [204, 'made'],
    [202, 'commit_unknown'],
    [301, 'commit_unknown'],
    [401, 'ErrCredentialsExpired'],
    [403, 'upstream_forbidden'],
    [404, 'ErrTableNotFound'],
    [409, 'ErrCommitConflict'],
    [500, 'commit_unknown'],
    [503, 'commit_unknown'],
  ])('a commit of several tables answered %i is %s', async (status, outcome) => {
    let seen: unknown
    await withUpstream(
      startUpstream(() => new Response(null, { status })),
      {},
      async (catalog) => {
        const made = catalog.commitTables([table], body).then(() => 'made')
        seen = await made.catch((thrown: { kind?: string; code?: string }) => thrown.kind ?? thrown.code)
      },
    )
    expect(seen).toBe(outcome)
  })

  test.each([
    ['', []],
    ['{"results":{}}', []],
    ['{"results":[]}', []],
    ['{"results":[7]}', [undefined]],
    ['{"results":[{"new-metadata-location":7}]}', [undefined]],
    ['{"results":[{"new-metadata-location":"file:///m1"}]}', ['file:///m1']],
  ])(
    'a commit of several tables answered 200 with %p is made, and names its files or none',
    async (text, files) => {
      let named: unknown
      await withUpstream(
        startUpstream(() => new Response(text)),
        {},
        async (catalog) => {
          named = await catalog.commitTables([table], body)
        },
      )
      expect(named).toEqual(files)
    },
  )

  test.each(['{', '[]', '<html><body>Sign in</body></html>'])(
    'a commit of several tables answered 200 with %p may have been made',
    async (text) => {
      await withUpstream(
        startUpstream(() => new Response(text)),
        {},
        async (catalog) => {
          const thrown = await catalog.commitTables([table], body).catch((error: unknown) => error)
          expect(thrown).toMatchObject({ kind: 'commit_unknown' })
        },
      )
    },
  )

  test.each([
    '',
    '{',
    '[]',
    '{}',
    '{"metadata-location":"x"}',
    '{"metadata":{}}',
    `${tableResult()}x`,
    '\xff',
  ])('a commit answered 200 with %p may have been made', async (text) => {
    expect(await commitOutcome(() => new Response(Buffer.from(text, 'latin1')))).toBe('commit_unknown')
  })

  test('an upstream that itself does not know is believed, whatever its status', async () => {
    const error = { error: { message: 'm', type: 'CommitStateUnknownException', code: 409 } }
    expect(await commitOutcome(() => Response.json(error, { status: 409 }))).toBe('commit_unknown')
  })

  test('a redirect is not followed', async () => {
    let followed = false
    const elsewhere = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        followed = true
        return new Response(tableResult())
      },
    })
    try {
      const redirect = () => Response.redirect(elsewhere.url.href, 307)
      await withUpstream(startUpstream(redirect), {}, async (catalog) => {
        expect(await outcomes(catalog)).toEqual(['commit_unknown', 'upstream_failed'])
      })
      expect(followed).toBe(false)
    } finally {
      await elsewhere.stop(true)
    }
  })

  test.each([true, false])(
    'a response that is too large is cut off; length declared: %p',
    async (declared) => {
      const large = () =>
        declared
          ? new Response(new Uint8Array(5000))
          : new Response(
              new ReadableStream({
                pull(controller) {
                  controller.enqueue(new Uint8Array(500))
                },
              }),
            )
      await withUpstream(startUpstream(large), { responseBytesMax: 4000 }, async (catalog) => {
        expect(await outcomes(catalog)).toEqual(['commit_unknown', 'upstream_failed'])
      })
    },
  )

  test('what the upstream says is passed on in bounds, in one line, without our own secrets', async () => {
    const message = `no\n\u0000\u202eway hunter2 ${'x'.repeat(10_000)}`
    const refuse = () => Response.json({ error: { message, type: 'X\nY', code: 403 } }, { status: 403 })
    await withUpstream(startUpstream(refuse), { config: { token: 'hunter2' } }, async (catalog) => {
      const thrown = await rejection(catalog.commitTable(table, body))
      const sentence = (thrown as { publicMessage: string }).publicMessage
      expect(sentence).toStartWith('The upstream catalog answered 403 (no way …')
      expect(sentence.length).toBeLessThan(1_200)
      expect(Bun.inspect(thrown)).not.toContain('hunter2')
    })
  })

  test('a configuration that is no object, or whose prefix leads elsewhere, is refused', async () => {
    const prefixes = [
      { prefix: '../../admin' },
      { prefix: '..' },
      { prefix: '%2e%2E' },
      { prefix: 'a?b' },
      { prefix: 'a#b' },
    ]
    for (const config of [[], null, ...prefixes.map((overrides) => ({ overrides }))])
      await withUpstream(
        startUpstream(() => new Response(tableResult()), config),
        { kind: 'beta' },
        async (catalog) => {
          expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'upstream_failed' })
        },
      )
  })

  test.each(['../../admin', '..', '%2e%2E', 'a//b', '/a', 'a/'])(
    'the prefix %p, which would lead elsewhere, is refused by alpha, which takes several segments',
    async (prefix) => {
      await withUpstream(
        startUpstream(() => new Response(tableResult()), { overrides: { prefix } }),
        { kind: 'alpha' },
        async (catalog) => {
          expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'upstream_failed' })
        },
      )
    },
  )

  test.each([
    ['my lake|x', 'my%20lake%7Cx'],
    ['a?b#c', 'a%3Fb%23c'],
    ['50%', '50%25'],
    ['arn%3Aaws%3As3tables%2Flake', 'arn%3Aaws%3As3tables%2Flake'],
    ['catalogs/1234', 'catalogs/1234'],
  ])(
    'the prefix %p is %p for alpha: what is escaped stays, anything else is escaped',
    async (prefix, path) => {
      await withUpstream(
        startUpstream(() => new Response(tableResult()), { overrides: { prefix } }),
        { kind: 'alpha' },
        async (catalog, { seen }) => {
          await catalog.loadTable(table)
          expect(seen[1]).toBe(`GET /v1/${path}/namespaces/n/tables/t`)
        },
      )
    },
  )

  test('an escaped prefix is taken unchanged, and overrides win', async () => {
    const config = { defaults: { prefix: 'default' }, overrides: { prefix: 'main%7Cmy' } }
    for (const [kind, path] of [
      ['alpha', '/v1/main%7Cmy/namespaces/n/tables/t'],
      ['beta', '/v1/main%7Cmy/namespaces/n/tables/t'],
    ] as const)
      await withUpstream(
        startUpstream(() => new Response(tableResult()), config),
        { kind },
        async (catalog, { seen }) => {
          await catalog.loadTable(table)
          expect(seen).toEqual(['GET /v1/config?warehouse=dev', `GET ${path}`])
        },
      )
  })

  test('addresses and settings that the upstream supplies are not used', async () => {
    const config = {
      overrides: { uri: 'http://127.0.0.1:1/', 'oauth2-server-uri': 'http://127.0.0.1:1/', token: 'x' },
    }
    const upstream = startUpstream(
      (request) => new Response(request.headers.has('authorization') ? '' : tableResult()),
      config,
    )
    await withUpstream(upstream, {}, async (catalog) => {
      expect((await catalog.getTable(table)).currentSnapshotId).toBe(9_007_199_254_740_993n)
    })
  })

  test('listings that cannot be read are refused, names that cannot be addressed stand apart', async () => {
    const list = async (answer: unknown) => {
      let page: unknown
      await withUpstream(
        startUpstream(() => Response.json(answer)),
        {},
        async (catalog) => {
          page = await catalog.listTables(['n']).catch((thrown: { kind: string }) => thrown.kind)
        },
      )
      return page
    }
    for (const wrong of [[], { identifiers: 7 }, { identifiers: [7] }, { identifiers: [{ name: 't' }] }])
      expect(await list(wrong)).toBe('upstream_failed')
    const id = (name: string) => ({ namespace: ['n'], name })
    expect(await list({ identifiers: [id('a'), id('b@dev'), id('../c')], 'next-page-token': null })).toEqual({
      identifiers: [id('a')],
      unusable: [
        ['n', 'b@dev'],
        ['n', '../c'],
      ],
    })
  })
})

describe('requests', () => {
  test('carry the body, the idempotency key and, for alpha alone, access delegation', async () => {
    for (const kind of ['alpha', 'beta'] as const) {
      const seen: unknown[] = []
      const upstream = startUpstream(async (request) => {
        const { headers } = request
        const names = ['idempotency-key', 'x-iceberg-access-delegation', 'content-type', 'host', 'cookie']
        seen.push(...names.map((name) => headers.get(name)), await request.text())
        return new Response(tableResult(), {
          headers: {
            etag: '"e"',
            'content-type': 'application/json',
            'set-cookie': 'a=b',
            'x-internal': '1',
          },
        })
      })
      await withUpstream(upstream, { kind }, async (catalog) => {
        const accessDelegation = 'vended-credentials'
        const { headers } = await catalog.commitTable(table, body, { idempotencyKey: 'k', accessDelegation })
        expect(headers).toEqual({ etag: '"e"', 'content-type': 'application/json' })
      })
      const delegation = kind === 'alpha' ? 'vended-credentials' : null
      expect(seen).toEqual([
        'k',
        delegation,
        'application/json',
        new URL(upstream.url).host,
        null,
        '{"requirements":[],"updates":[]}',
      ])
    }
  })

  test('go nowhere where the address is not allowed', async () => {
    const addressRules = allowing()
    await withUpstream(
      startUpstream(() => new Response(tableResult())),
      { addressRules },
      async (catalog, { seen }) => {
        expect(await outcomes(catalog)).toEqual(['upstream_failed', 'upstream_failed'])
        expect(seen).toEqual([])
      },
    )
  })

  test('try the next address where one takes no connection', async () => {
    await withUpstream(
      startUpstream(() => new Response(tableResult())),
      {},
      async (_, upstream) => {
        const { port } = new URL(upstream.url)
        // Nothing listens on 127.0.0.2: the upstream is bound to 127.0.0.1.
        const lookup = async () => [{ address: '127.0.0.2' }, { address: '127.0.0.1' }]
        const catalog = openTestCatalog(`http://catalog.test:${port}`, { lookup })
        expect((await catalog.commitTable(table, body)).status).toBe(200)
      },
    )
  })
})
