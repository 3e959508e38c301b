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
    [{}, 'warehouse is missing'],
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
    for (const part of ['http or https', 'warehouse is missing', 'no branches', 'id:secret'])
      expect(message).toContain(part)
  })
})
