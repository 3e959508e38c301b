import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { parseRestCatalogConfig } from '../../src/catalog/config.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'

function parse(
  config: Record<string, unknown>,
  kind: CatalogKind = 'alpha',
  endpoint = 'https://c.example/api',
) {
  return parseRestCatalogConfig({ id: 'c1', version: 1, kind, nickname: 'lake', endpoint, config }, undefined)
}

function problem(config: Record<string, unknown>, kind?: CatalogKind, endpoint?: string): string {
  try {
    parse(config, kind, endpoint)
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'misconfigured') return thrown.publicMessage
    throw thrown
  }
  throw new Error('expected a Fault')
}

describe('parseRestCatalogConfig', () => {
  test('reads an alpha configuration and derives the token address', () => {
    const config = parse({ warehouse: 'w', webhook_secret: 's', credential: 'id:se:cret' })
    expect(config.endpoint.href).toBe('https://c.example/api')
    expect(config.warehouse).toBe('w')
    expect(config.auth).toEqual({
      kind: 'client-credentials',
      credentials: {
        clientId: 'id',
        clientSecret: 'se:cret',
        tokenUrl: new URL('https://c.example/api/v1/oauth/tokens'),
        scope: undefined,
      },
    })
  })

  test('takes the endpoint from config_json where the column is empty', () => {
    expect(parse({ warehouse: 'w', endpoint: 'https://other.example' }, 'alpha', '').endpoint.host).toBe(
      'other.example',
    )
  })

  test('takes no warehouse, for a catalog that has none', () => {
    expect(parse({}).warehouse).toBeUndefined()
  })

  test('reads the keys of signatures, and the service that Iceberg clients sign for by default', () => {
    const signed = {
      'rest.sigv4-enabled': 'true',
      'rest.signing-region': 'eu-central-1',
      'rest.access-key-id': 'AKID',
      'rest.secret-access-key': 'hunter2',
    }
    const keys = { region: 'eu-central-1', accessKeyId: 'AKID', secretAccessKey: 'hunter2' }
    expect(parse(signed).auth).toEqual({
      kind: 'sigv4',
      keys: { ...keys, service: 'execute-api', sessionToken: undefined },
    })
    const temporary = { ...signed, 'rest.signing-name': 's3tables', 'rest.session-token': 't' }
    expect(parse(temporary).auth).toMatchObject({ keys: { service: 's3tables', sessionToken: 't' } })
    expect(parse({ ...signed, 'rest.sigv4-enabled': false }).auth).toEqual({ kind: 'none' })
    for (const [change, expected] of [
      [{ token: 'hunter2' }, 'either rest.sigv4-enabled, a token or client credentials'],
      [{ 'rest.signing-region': undefined }, 'rest.signing-region is missing'],
      [{ 'rest.secret-access-key': '' }, 'rest.secret-access-key is missing'],
      [{ 'rest.signing-region': 'eu/hunter2' }, 'rest.signing-region is not a region'],
      [{ 'rest.signing-name': 'a b' }, 'rest.signing-name is not the name'],
      [{ 'rest.sigv4-enabled': 'yes' }, 'rest.sigv4-enabled must be true or false'],
    ] as const) {
      const message = problem({ ...signed, ...change })
      expect(message).toContain(expected)
      expect(message).not.toContain('hunter2')
    }
  })

  test('reads headers, with names in lower case', () => {
    expect(parse({ 'header.Polaris-Realm': 'POLARIS', 'header.x-a': 'b c' }).headers).toEqual({
      'polaris-realm': 'POLARIS',
      'x-a': 'b c',
    })
    expect(parse({}).headers).toEqual({})
  })

  test.each([
    ...['Connection', 'Keep-Alive', 'Transfer-Encoding', 'TE', 'Upgrade', 'Proxy-Connection', 'Trailer'],
    ...['Host', 'Content-Length', 'Content-Type', 'Accept-Encoding', 'Expect'],
    ...['Authorization', 'proxy-authorization', 'Cookie', 'X-Amz-Date', 'x-amz-security-token'],
    ...[
      'Idempotency-Key',
      'If-None-Match',
      'X-Iceberg-Access-Delegation',
      'X-Svc-Session',
      'X-Forwarded-For',
    ],
  ])('refuses the header %s', (name) => {
    const message = problem({ [`header.${name}`]: 'hunter2' })
    expect(message).toContain(`The header.${name} is a header that the service sets itself or never sends.`)
    expect(message).not.toContain('hunter2')
  })

  test.each([
    ['a line break', { 'header.X-A': 'hunter2\r\nX-B: c' }, 'visible ASCII'],
    ['letters beyond ASCII', { 'header.X-A': 'hunter2 ü' }, 'visible ASCII'],
    ['a space at its end', { 'header.X-A': 'hunter2 ' }, 'visible ASCII'],
    ['a number', { 'header.X-A': 7 }, 'visible ASCII'],
    ['too long a value', { 'header.X-A': 'x'.repeat(4_097) }, 'visible ASCII'],
    ['no name', { 'header.': 'hunter2' }, 'does not name a header'],
    ['a name with a space', { 'header.X A': 'hunter2' }, 'does not name a header'],
    ['a name in two spellings', { 'header.X-A': 'hunter2', 'header.x-a': 'b' }, 'given twice'],
  ])('refuses a header with %s and repeats no value', (_, config, expected) => {
    const message = problem(config)
    expect(message).toContain(expected)
    expect(message).not.toContain('hunter2')
  })

  test('takes client_id and client_secret, a token, or nothing', () => {
    const pair = {
      warehouse: 'w',
      client_id: 'id',
      client_secret: 'x',
      'oauth2-server-uri': 'https://idp.example/t',
    }
    expect(parse(pair).auth).toMatchObject({
      credentials: { clientId: 'id', tokenUrl: new URL('https://idp.example/t') },
    })
    expect(parse({ warehouse: 'w', token: 't' }).auth).toEqual({ kind: 'token', token: 't' })
    expect(parse({ warehouse: 'w' }).auth).toEqual({ kind: 'none' })
  })

  test('a beta configuration may name a branch; an alpha one may not', () => {
    expect(parse({ branch: 'release-1.2' }, 'beta').branch).toBe('release-1.2')
    expect(problem({ warehouse: 'w', branch: 'main' })).toContain('no branches')
  })

  test.each(['..', '.', 'a/b', 'a%2Fb', 'a b', '-a', 'a.', 'a@b', 'a|b', 'ä'])(
    'refuses the branch %p',
    (branch) => {
      expect(problem({ branch }, 'beta')).toContain('branch')
    },
  )

  test.each([
    [{ warehouse: 7 }, 'warehouse'],
    [{ warehouse: 'a\r\nb' }, 'warehouse'],
    [{ warehouse: 'w', credential: 'hunter2' }, 'id:secret'],
    [{ warehouse: 'w', credential: ':hunter2' }, 'id:secret'],
    [{ warehouse: 'w', client_secret: 'hunter2' }, 'go together'],
    [{ warehouse: 'w', token: 'hunter2', credential: 'id:hunter2' }, 'either a token or client credentials'],
    [{ warehouse: 'w', credential: 'id:hunter2', client_id: 'id' }, 'either credential or client_id'],
    [{ warehouse: 'w', token: ['hunter2'] }, 'token must be a string'],
    [{ warehouse: 'w', endpoint: 'https://hunter2.example' }, 'differs'],
    [{ warehouse: 'w', 'oauth2-server-uri': 'https://id:hunter2@idp.example' }, 'must not hold credentials'],
    [{ warehouse: 'w', 'oauth2-server-uri': 'http://idp.example' }, 'must be https'],
  ])('says what is wrong with %j and repeats no value', (config, expected) => {
    const message = problem(config)
    expect(message).toContain(expected)
    expect(message).not.toContain('hunter2')
  })

  test('reports all problems together', () => {
    const message = problem({ credential: 'x', branch: 'y' }, 'alpha', 'ftp://c.example')
    for (const part of ['http or https', 'no branches', 'id:secret']) expect(message).toContain(part)
  })
})
