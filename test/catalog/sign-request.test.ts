/**
 * Signatures of AWS Signature Version 4: against a vector that AWS publishes, and against an upstream that verifies
 * each request by code of its own.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { signRequest } from '../../src/catalog/sign-request.ts'
import { openTestCatalog, rejection, table, tableResult } from './upstream.ts'

const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
  region: 'us-east-1',
  service: 'service',
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

interface Seen {
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  readonly headers: Headers
  readonly body: Uint8Array
}

/** The signature that a request should have, by the steps of the AWS documentation. */
function expectedSignature({ method, target, headers, body }: Seen, secret: string): string {
  const scope = /Credential=[^/]+\/(\S+), SignedHeaders=(\S+), /.exec(headers.get('authorization') ?? '')
  const [, credentialScope = '', signedHeaders = ''] = scope ?? []
  const [path = '', query = ''] = target.split('?')
  // Every service but S3 encodes the path that was sent once more.
  const canonicalPath = path
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/')
  const canonicalQuery = query
    .split('&')
    .filter((one) => one !== '')
    .map((one) => (one.includes('=') ? one : `${one}=`))
    .sort()
    .join('&')
  const lines = signedHeaders.split(';').map((name) => `${name}:${headers.get(name)?.trim()}\n`)
  const canonical = [method, canonicalPath, canonicalQuery, lines.join(''), signedHeaders, sha256(body)].join(
    '\n',
  )
  const time = headers.get('x-amz-date') ?? ''
  const toSign = ['AWS4-HMAC-SHA256', time, credentialScope, sha256(canonical)].join('\n')
  const key = credentialScope
    .split('/')
    .reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`)
  return hmac(key as Buffer, toSign).toString('hex')
}

const signatureIn = (headers: Headers) =>
  /Signature=([0-9a-f]{64})$/.exec(headers.get('authorization') ?? '')?.[1]

/** From the test suite that AWS publishes for Signature Version 4: get-vanilla and get-vanilla-query-order-key-case. */
const published = [
  ['/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['/?Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
] as const

test.each(published)(
  'signs %s as the published vector, and so does the verifier of these tests',
  async (target, signature) => {
    const url = `https://example.amazonaws.com${target}`
    const signed = await signRequest(
      keys,
      { method: 'GET', url, headers: {} },
      Date.UTC(2015, 7, 30, 12, 36, 0),
    )
    const headers = new Headers({ ...signed, host: 'example.amazonaws.com' })
    expect(signatureIn(headers)).toBe(signature)
    const seen = { method: 'GET', target, headers, body: new Uint8Array(0) }
    expect(expectedSignature(seen, keys.secretAccessKey)).toBe(signature)
  },
)

describe('an adapter whose catalog demands signatures', () => {
  const sent: Seen[] = []
  let prefix = ''
  let upstream: ReturnType<typeof Bun.serve>
  let catalog: Catalog
  const open = (config: Record<string, unknown> = {}) =>
    openTestCatalog(`${upstream.url.origin}/iceberg`, {
      config: {
        warehouse: 'arn:aws:s3tables:us-east-1:111122223333:bucket/lake',
        'rest.sigv4-enabled': true,
        'rest.signing-name': 's3tables',
        'rest.signing-region': 'us-east-1',
        'rest.access-key-id': keys.accessKeyId,
        'rest.secret-access-key': keys.secretAccessKey,
        'rest.session-token': 'token-of-a-role',
        'header.X-Account': 'analytics department',
        ...config,
      },
    })

  beforeAll(() => {
    upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        // Cut from the text, because URL would change escapes.
        const target = request.url.slice(new URL(request.url).origin.length)
        const seen = { method: request.method, target, headers: request.headers, body: await request.bytes() }
        sent.push(seen)
        if (signatureIn(seen.headers) !== expectedSignature(seen, keys.secretAccessKey))
          return Response.json(
            {
              error: {
                message: `not the signature of ${keys.secretAccessKey}`,
                type: 'Forbidden',
                code: 403,
              },
            },
            { status: 403 },
          )
        if (target.startsWith('/iceberg/v1/config')) return Response.json({ overrides: { prefix } })
        return new Response(tableResult(), { headers: { 'content-type': 'application/json' } })
      },
    })
    catalog = open()
  })
  afterAll(async () => {
    catalog.close()
    await upstream.stop(true)
  })

  test.each([
    ['S3 Tables, an encoded ARN', 'arn%3Aaws%3As3tables%3Aus-east-1%3A111122223333%3Abucket%2Flake'],
    ['Glue, several segments', 'catalogs/111122223333'],
    ['Polaris, a plain name', 'analytics'],
  ])('signs loads, commits and forwards below the prefix of %s', async (_, given) => {
    prefix = given
    const signing = open()
    sent.length = 0
    expect((await signing.loadTable(table, { snapshots: 'refs' })).status).toBe('loaded')
    const body = new TextEncoder().encode('{"requirements":[],"updates":[]}')
    expect((await signing.commitTable(table, body)).status).toBe(200)
    const query = { pageToken: 'a b+c/d=', pageSize: '5' }
    const forwarded = { method: 'GET', path: ['namespaces'], query, mutates: false, subject: 'x' } as const
    expect((await signing.forward(forwarded)).status).toBe(200)
    signing.close()
    expect(sent.map(({ target }) => target.split('?')[0])).toEqual([
      '/iceberg/v1/config',
      `/iceberg/v1/${given}/namespaces/n/tables/t`,
      `/iceberg/v1/${given}/namespaces/n/tables/t`,
      `/iceberg/v1/${given}/namespaces`,
    ])
    for (const { headers } of sent) {
      expect(headers.get('x-amz-security-token')).toBe('token-of-a-role')
      expect(headers.get('authorization')).toContain('/us-east-1/s3tables/aws4_request, ')
      // A header of the configuration is signed as well.
      expect(headers.get('authorization')).toMatch(/SignedHeaders=[^,]*x-account/)
      expect(headers.get('x-account')).toBe('analytics department')
    }
  })

  test('says what the catalog answers to a wrong signature, without the key', async () => {
    const wrong = open({ 'rest.access-key-id': 'AKIDOTHER', 'rest.signing-region': 'eu-central-1' })
    // The verifier takes the scope from the request, so only the key can be wrong.
    const other = open({ 'rest.secret-access-key': 'another-secret-key' })
    expect((await wrong.loadTable(table)).status).toBe('loaded')
    const refused = await rejection(other.loadTable(table))
    expect(refused).toMatchObject({ kind: 'upstream_failed' })
    expect(String(refused)).not.toContain('another-secret-key')
    wrong.close()
    other.close()
  })
})
