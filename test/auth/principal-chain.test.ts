import { describe, expect, setSystemTime, test } from 'bun:test'
import { BlockList } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { tokenVerifier, unverifiedBearerReader, verifyingBearerReader } from '../../src/auth/bearer.ts'
import { type PrincipalChainOptions, principalChain } from '../../src/auth/principal-chain.ts'
import { Fault } from '../../src/base/fault.ts'
import type { Session } from '../../src/core/session.ts'
import { newTenantId } from '../../src/core/tenant.ts'

const session: Session = {
  sessionId: 'session-1',
  kind: 'service',
  tenant: newTenantId(),
  organizationId: undefined,
  principal: { sub: 'etl', roles: ['writer'] },
  scopes: ['commit'],
}
const proxies = new BlockList()
proxies.addSubnet('10.0.0.0', 8, 'ipv4')

function chain(options: Partial<PrincipalChainOptions> = {}) {
  return principalChain({
    trustedProxies: proxies,
    readBearer: unverifiedBearerReader({ roles: undefined }),
    demo: false,
    ...options,
  })
}

function token(claims: Record<string, unknown>): string {
  return new UnsecuredJWT(claims).encode()
}

async function fault(promise: Promise<unknown>): Promise<Fault> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof Fault)) throw new Error('expected a Fault')
  return thrown
}

const certificate = 'By=spiffe://x;Hash=1;URI=spiffe://acme/etl;DNS=etl.acme'

describe('the principal chain', () => {
  test('takes the first URI SAN of a client certificate that a trusted proxy forwards', async () => {
    const headers = new Headers({
      'x-forwarded-client-cert': certificate,
      authorization: `Bearer ${token({ sub: 'b' })}`,
    })
    expect(await chain()(headers, '10.1.2.3', session)).toEqual({
      principal: { sub: 'spiffe://acme/etl', roles: [] },
      source: 'mtls_san',
      verified: true,
    })
  })

  test('takes the first DNS SAN where the certificate has no URI SAN', async () => {
    const headers = new Headers({ 'x-forwarded-client-cert': 'Hash=1;DNS=a.acme;DNS=b.acme' })
    expect((await chain()(headers, '10.1.2.3', session)).principal.sub).toBe('a.acme')
  })

  test('takes only the last element, which the nearest terminator wrote', async () => {
    const headers = new Headers({ 'x-forwarded-client-cert': `URI=spiffe://forged,${certificate}` })
    expect((await chain()(headers, '10.1.2.3', session)).principal.sub).toBe('spiffe://acme/etl')
  })

  test('is not fooled by separators inside a quoted subject', async () => {
    const headers = new Headers({
      'x-forwarded-client-cert': 'Subject="CN=a,O=\\"x;URI=spiffe://forged";URI=spiffe://acme/real',
    })
    expect((await chain()(headers, '10.1.2.3', session)).principal.sub).toBe('spiffe://acme/real')
  })

  test.each([
    'URI',
    'Hash=1;URI;DNS=etl.acme',
    'URI="spiffe://acme/etl',
    'Hash="1;URI=spiffe://acme/etl',
    'URI=spiffe://acme/etl;DNS="etl.acme',
    'URI="spiffe://acme/etl"x',
    'URI="spiffe://acme/etl"x;DNS=etl.acme',
    'URI=spiffe://acme/"etl',
    'a"=";URI=spiffe://acme/etl',
    'URI="',
    'URI=',
    '',
  ])('believes no certificate of a malformed header: %s', async (header) => {
    const headers = new Headers({ 'x-forwarded-client-cert': header })
    expect((await chain()(headers, '10.1.2.3', session)).source).toBe('session')
  })

  test('goes on without a subject in the certificate of a trusted proxy, and says so', async () => {
    let unreadable = 0
    const identify = chain({ onUnreadableCertificate: () => unreadable++ })
    const source = async (header: string, peer = '10.1.2.3') =>
      (await identify(new Headers({ 'x-forwarded-client-cert': header }), peer, session)).source
    // As HAProxy writes it, which cannot name SANs.
    expect(await source('Hash=1;Subject="CN=etl"')).toBe('session')
    expect(await source('URI="')).toBe('session')
    expect(unreadable).toBe(2)
    expect(await source(certificate)).toBe('mtls_san')
    // A client without a certificate, and a peer that is believed nothing.
    expect([await source(''), await source('Hash=1', '192.168.0.1')]).toEqual(['session', 'session'])
    expect(unreadable).toBe(2)
  })

  test('answers 401 to such a certificate where one must be readable', async () => {
    const identify = chain({ refusesUnreadableCertificates: true })
    const headers = (header: string) =>
      new Headers({ 'x-forwarded-client-cert': header, authorization: `Bearer ${token({ sub: 'b' })}` })
    const refused = await fault(identify(headers('Hash=1;Subject="CN=etl"'), '10.1.2.3', session))
    expect([refused.kind, refused.publicMessage]).toEqual([
      'unauthenticated',
      expect.stringContaining('names no URI or DNS'),
    ])
    expect((await identify(headers(certificate), '10.1.2.3', session)).source).toBe('mtls_san')
    for (const [header, peer] of [
      ['', '10.1.2.3'],
      ['Hash=1', '192.168.0.1'],
    ] as const)
      expect((await identify(headers(header), peer, session)).source).toBe('auth_header')
  })

  test('takes a value in quotes that is empty, as of a certificate without a subject', async () => {
    const headers = new Headers({ 'x-forwarded-client-cert': 'Subject="";URI=spiffe://acme/etl' })
    expect((await chain()(headers, '10.1.2.3', session)).principal.sub).toBe('spiffe://acme/etl')
  })

  test('takes a backslash for an escape in quotes alone', async () => {
    const headers = new Headers({ 'x-forwarded-client-cert': 'Subject=a\\;URI="spiffe://acme/\\"etl\\""' })
    expect((await chain()(headers, '10.1.2.3', session)).principal.sub).toBe('spiffe://acme/"etl"')
  })

  test.each(['192.168.0.1', '::1', undefined])(
    'ignores a forwarded certificate from the peer %p',
    async (peer) => {
      const headers = new Headers({ 'x-forwarded-client-cert': certificate })
      expect((await chain()(headers, peer, session)).source).toBe('session')
    },
  )

  test('believes a trusted proxy that connects over a v4-mapped address', async () => {
    const headers = new Headers({ 'x-forwarded-client-cert': certificate })
    expect((await chain()(headers, '::ffff:10.0.0.9', session)).source).toBe('mtls_san')
  })

  test('reads sub, email and roles of a bearer without verification, and says so', async () => {
    const headers = new Headers({
      authorization: `Bearer ${token({ sub: 'ada', email: 'ada@acme.io', roles: ['a', 'b'] })}`,
    })
    expect(await chain()(headers, undefined, session)).toEqual({
      principal: { sub: 'ada', email: 'ada@acme.io', roles: ['a', 'b'] },
      source: 'auth_header',
      verified: false,
    })
  })

  test.each([
    [{ roles: 'writer  steward' }, ['writer', 'steward']],
    [{ groups: ['g1'] }, ['g1']],
    [{ roles: ['r'], groups: ['g'] }, ['r']],
    [{ roles: 7, groups: ['g'] }, ['g']],
    [{ roles: ['r', 7] }, []],
    [{}, []],
  ])('reads the roles of %j', async (claims, roles) => {
    const headers = new Headers({ authorization: `Bearer ${token({ sub: 'ada', ...claims })}` })
    expect((await chain()(headers, undefined, session)).principal.roles).toEqual(roles)
  })

  test.each(['service:spark', 'SERVICE:spark', 'service:', 'operator', 'Operator'])(
    'answers 401 to the reserved subject %s of a bearer, a certificate and the demo header',
    async (sub) => {
      for (const [name, value] of [
        ['authorization', `Bearer ${token({ sub, roles: ['steward'] })}`],
        ['x-forwarded-client-cert', `URI=${sub}`],
        ['x-svc-principal', sub],
      ] as const) {
        const headers = new Headers({ [name]: value })
        const { kind } = await fault(chain({ demo: true })(headers, '10.1.2.3', session))
        expect([name, kind]).toEqual([name, 'unauthenticated'])
      }
    },
  )

  test('takes a subject that only resembles a reserved one', async () => {
    for (const sub of ['services:spark', 'my-service:spark', 'operators', 'the operator']) {
      const headers = new Headers({ authorization: `Bearer ${token({ sub })}` })
      expect((await chain()(headers, undefined, session)).principal.sub).toBe(sub)
    }
  })

  test.each([{ sub: '' }, {}, { sub: 5 }])('answers 401 to a bearer whose claims are %j', async (claims) => {
    const headers = new Headers({ authorization: `Bearer ${token(claims)}` })
    expect((await fault(chain()(headers, undefined, session))).kind).toBe('unauthenticated')
  })

  test.each(['Bearer None', 'Bearer not.a.jwt', 'Basic YTpi', 'Bearer'])(
    'falls through %p to the session',
    async (value) => {
      expect(await chain()(new Headers({ authorization: value }), undefined, session)).toEqual({
        principal: { sub: session.tenant, roles: ['writer'] },
        source: 'session',
        verified: true,
      })
    },
  )

  test('ignores X-Svc-Principal outside of a demo', async () => {
    expect((await chain()(new Headers({ 'x-svc-principal': 'root' }), '127.0.0.1', session)).source).toBe(
      'session',
    )
  })
})

describe('with a JWKS', () => {
  async function verifying() {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ keys: [jwk] }) })
    const sign = (
      claims: Record<string, unknown>,
      issuer = 'https://idp',
      audience = 'covenant',
      { typ, exp = '5m' }: { readonly typ?: string; readonly exp?: string | null } = {},
    ) => {
      const made = new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...(typ !== undefined && { typ }) })
        .setIssuer(issuer)
        .setAudience(audience)
      return (exp === null ? made : made.setExpirationTime(exp)).sign(privateKey)
    }
    const options = { url: server.url.href, issuer: 'https://idp', audience: 'covenant' }
    const readBearer = verifyingBearerReader(tokenVerifier(options), {
      organization: 'org',
      roles: undefined,
    })
    return { sign, identify: chain({ readBearer }), [Symbol.dispose]: () => void server.stop(true) }
  }

  test('takes a bearer whose signature, issuer and audience hold', async () => {
    using idp = await verifying()
    const headers = new Headers({
      authorization: `Bearer ${await idp.sign({ sub: 'ada', roles: 'writer' })}`,
    })
    expect(await idp.identify(headers, undefined, session)).toEqual({
      principal: { sub: 'ada', roles: ['writer'] },
      source: 'auth_header',
      verified: true,
    })
  })

  test('answers 401 to an unsigned, foreign or misdirected bearer', async () => {
    using idp = await verifying()
    for (const bearer of [
      token({ sub: 'ada', iss: 'https://idp', aud: 'covenant' }),
      'not.a.jwt',
      await idp.sign({ sub: 'ada' }, 'https://other'),
      await idp.sign({ sub: 'ada' }, 'https://idp', 'another'),
      await idp.sign({ sub: '' }),
    ])
      expect(
        (await fault(idp.identify(new Headers({ authorization: `Bearer ${bearer}` }), undefined, session)))
          .kind,
      ).toBe('unauthenticated')
  })

  test('takes times that are up to a minute off, and no bearer without an end', async () => {
    using idp = await verifying()
    const outcome = async (claims: Record<string, unknown>, exp: string | null) => {
      const bearer = await idp.sign({ sub: 'ada', ...claims }, undefined, undefined, { exp })
      const headers = new Headers({ authorization: `Bearer ${bearer}` })
      return await idp.identify(headers, undefined, session).then(
        ({ verified }) => verified,
        (thrown: Fault) => thrown.kind,
      )
    }
    const nowSeconds = Math.floor(Date.now() / 1000)
    expect(await outcome({}, '30s ago')).toBe(true)
    expect(await outcome({ nbf: nowSeconds + 30 }, '5m')).toBe(true)
    expect(await outcome({}, '90s ago')).toBe('unauthenticated')
    expect(await outcome({ nbf: nowSeconds + 90 }, '5m')).toBe('unauthenticated')
    expect(await outcome({}, null)).toBe('unauthenticated')
  })

  test('takes access tokens and no token of another use, however it is signed', async () => {
    using idp = await verifying()
    const outcome = async (claims: Record<string, unknown>, typ?: string) => {
      const options = typ === undefined ? {} : { typ }
      const bearer = await idp.sign({ sub: 'ada', ...claims }, undefined, undefined, options)
      const headers = new Headers({ authorization: `Bearer ${bearer}` })
      return await idp.identify(headers, undefined, session).then(
        ({ verified }) => verified,
        (thrown: Fault) => thrown.kind,
      )
    }
    for (const typ of [undefined, 'JWT', 'jwt', 'at+jwt', 'application/at+jwt'])
      expect([typ, await outcome({}, typ)]).toEqual([typ, true])
    for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'x'])
      expect([typ, await outcome({}, typ)]).toEqual([typ, 'unauthenticated'])
    expect(await outcome({ typ: 'Bearer' }, 'JWT')).toBe(true)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    for (const claims of [{ events }, { typ: 'Logout' }, { typ: 'Refresh' }, { typ: 'Offline' }])
      expect([claims, await outcome(claims, 'JWT')]).toEqual([claims, 'unauthenticated'])
  })

  test('takes the one organization of a list, and refuses several', async () => {
    using idp = await verifying()
    const outcome = async (org: unknown) => {
      const headers = new Headers({ authorization: `Bearer ${await idp.sign({ sub: 'ada', org })}` })
      return await idp.identify(headers, undefined, { ...session, organizationId: 'org_acme' }).then(
        ({ verified }) => verified,
        (thrown: Fault) => thrown.kind,
      )
    }
    expect(await outcome(['org_acme'])).toBe(true)
    expect(await outcome({ org_acme: {} })).toBe(true)
    for (const org of [['org_other'], ['org_acme', 'org_other'], { org_other: {} }, []])
      expect(await outcome(org)).toBe('unauthenticated')
  })

  test('answers 401 to a bearer of another organization than the session’s tenant, whatever its roles', async () => {
    using idp = await verifying()
    const outcome = async (org: unknown, organizationId: string | undefined) => {
      const bearer = await idp.sign({ sub: 'ada', roles: 'administrator', ...(org !== undefined && { org }) })
      const headers = new Headers({ authorization: `Bearer ${bearer}` })
      return await idp.identify(headers, undefined, { ...session, organizationId }).then(
        ({ verified }) => verified,
        (thrown: Fault) => thrown.kind,
      )
    }
    expect(await outcome('org_acme', 'org_acme')).toBe(true)
    expect(await outcome(undefined, 'org_acme')).toBe(true)
    for (const [org, organizationId] of [
      ['org_other', 'org_acme'],
      ['org_other', undefined],
      [['org_acme', 'org_other'], 'org_acme'],
      [null, 'org_acme'],
    ])
      expect(await outcome(org, organizationId as string | undefined)).toBe('unauthenticated')
  })

  test.each(['Bearer', 'Bearer a b', 'bearer x', 'Bearer none'])('answers 401 to %p', async (value) => {
    using idp = await verifying()
    const failure = await fault(idp.identify(new Headers({ authorization: value }), undefined, session))
    expect(failure.kind).toBe('unauthenticated')
  })

  test('takes a key that the provider has newly rotated in, and drops one that it took out', async () => {
    const pairs = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
    let published = 0
    const jwks = async () => ({
      keys: [
        {
          ...(await exportJWK(pairs[published]?.publicKey as CryptoKey)),
          kid: `k${published}`,
          alg: 'ES256',
        },
      ],
    })
    let fetches = 0
    using _clock = { [Symbol.dispose]: () => void setSystemTime() }
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async () => {
        fetches++
        return Response.json(await jwks())
      },
    })
    const sign = (key: number) =>
      new SignJWT({ sub: 'ada' })
        .setProtectedHeader({ alg: 'ES256', kid: `k${key}` })
        .setIssuer('i')
        .setAudience('a')
        .setExpirationTime('5m')
        .sign(pairs[key]?.privateKey as CryptoKey)
    const options = { url: server.url.href, issuer: 'i', audience: 'a' }
    const readBearer = verifyingBearerReader(tokenVerifier(options), {
      organization: 'org',
      roles: undefined,
    })
    const identify = async (key: number) =>
      chain({ readBearer })(new Headers({ authorization: `Bearer ${await sign(key)}` }), undefined, session)
    try {
      for (let time = 0; time < 5; time++) expect((await identify(0)).verified).toBe(true)
      expect(fetches).toBe(1)
      published = 1
      setSystemTime(Date.now() + 5_100)
      expect((await identify(1)).verified).toBe(true)
      expect(fetches).toBe(2)
      expect((await fault(identify(0))).kind).toBe('unauthenticated')
    } finally {
      await server.stop(true)
    }
  })

  test.each([
    ['cannot be reached', undefined],
    ['is an error', () => new Response('', { status: 503 })],
    ['is no JSON', () => new Response('<html>')],
    ['is no key set', () => Response.json({ keys: 1 })],
  ])('answers 503, and not that the token is wrong, where the key set %s', async (_what, fetch) => {
    const { privateKey } = await generateKeyPair('ES256')
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: fetch ?? (() => new Response()) })
    if (fetch === undefined) await server.stop(true)
    const options = { url: server.url.href, issuer: 'i', audience: 'a' }
    const readBearer = verifyingBearerReader(tokenVerifier(options), {
      organization: 'org',
      roles: undefined,
    })
    const bearer = await new SignJWT({ sub: 'ada' }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
    const headers = (value: string) => new Headers({ authorization: `Bearer ${value}` })
    try {
      const identify = chain({ readBearer })
      expect((await fault(identify(headers(bearer), undefined, session))).kind).toBe('unavailable')
      expect((await fault(identify(headers('not.a.jwt'), undefined, session))).kind).toBe('unauthenticated')
      expect((await identify(headers('None'), undefined, session)).source).toBe('session')
    } finally {
      await server.stop(true)
    }
  })

  test('falls through for an absent bearer and for the literal None', async () => {
    using idp = await verifying()
    expect((await idp.identify(new Headers(), undefined, session)).source).toBe('session')
    expect(
      (await idp.identify(new Headers({ authorization: 'Bearer None' }), undefined, session)).source,
    ).toBe('session')
  })
})

test('a session without a tenant names no principal, and one with it is its tenant', async () => {
  const none = { ...session, tenant: '' as Session['tenant'] }
  expect((await fault(chain()(new Headers(), undefined, none))).kind).toBe('unauthenticated')
  expect(await chain()(new Headers(), undefined, session)).toEqual({
    ...{ principal: { sub: session.tenant, roles: ['writer'] }, source: 'session', verified: true },
  })
})
