/** Keys of issuers: which algorithms verify, and how keys are found that an issuer has replaced under the same id. */

import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import { verifyAccess } from '../../src/auth/bearer.ts'
import { keySetCooldownMs, remoteKeys } from '../../src/auth/token-keys.ts'
import { Fault } from '../../src/base/fault.ts'

const recipients = { issuer: 'https://idp.example', audience: 'covenant' }
const claims = () => ({
  ...{ iss: recipients.issuer, aud: recipients.audience, sub: 'ada' },
  exp: Math.floor(Date.now() / 1000) + 3_600,
})
type Pair = Awaited<ReturnType<typeof generateKeyPair>>
const sign = (alg: string, { privateKey }: Pair, kid = 'k') =>
  new SignJWT(claims()).setProtectedHeader({ alg, kid }).sign(privateKey)
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A key set on this machine, which counts its fetches. */
function serveKeys(keys: readonly JWK[]) {
  const state = { keys, fetches: 0, isDown: false, gate: Promise.resolve() }
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch() {
      state.fetches++
      await state.gate
      return state.isDown ? new Response(null, { status: 503 }) : Response.json({ keys: state.keys })
    },
  })
  return Object.assign(state, {
    keySet: remoteKeys(server.url.href),
    [Symbol.asyncDispose]: () => server.stop(true),
  })
}
type KeyServer = ReturnType<typeof serveKeys>

/** The subject of a token that verifies, else the kind of the refusal. */
const outcome = async (token: string, { keySet }: KeyServer) => {
  try {
    return (await verifyAccess(token, keySet, recipients)).sub
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.kind : thrown
  }
}

afterEach(() => void setSystemTime())

describe('an algorithm', () => {
  const pairOf = (alg: string, options: object = {}) =>
    generateKeyPair(alg, { extractable: true, ...options })
  const jwkOf = async ({ publicKey }: Pair, members: JWK) => ({ ...(await exportJWK(publicKey)), ...members })

  test.each(['EdDSA', 'Ed25519'])('%s verifies by a key of the kind OKP', async (alg) => {
    const pair = await pairOf('Ed25519')
    await using named = serveKeys([await jwkOf(pair, { kid: 'k', alg })])
    expect(await outcome(await sign(alg, pair), named)).toBe('ada')
    await using unnamed = serveKeys([await jwkOf(pair, { kid: 'k' })])
    expect(await outcome(await sign(alg, pair), unnamed)).toBe('ada')
    // The names mean the same; a key that has one is for that alone.
    const other = alg === 'EdDSA' ? 'Ed25519' : 'EdDSA'
    expect(await outcome(await sign(other, pair), named)).toBe('unauthenticated')
  })

  test('of public keys is the only kind: no signature and shared secrets are refused', async () => {
    const pair = await pairOf('RS256')
    await using keys = serveKeys([await jwkOf(pair, { kid: 'k' })])
    expect(await outcome(await sign('RS256', pair), keys)).toBe('ada')
    for (const alg of ['none', 'None', 'NONE'])
      expect(await outcome(`${encoded({ alg, kid: 'k' })}.${encoded(claims())}.`, keys)).toBe(
        'unauthenticated',
      )
    // The public key as the secret of an HMAC, in the forms in which libraries have taken it.
    const pem = await exportSPKI(pair.publicKey)
    for (const secret of [pem, pem.trim(), JSON.stringify(keys.keys[0])]) {
      const signed = `${encoded({ alg: 'HS256', kid: 'k' })}.${encoded(claims())}`
      const mac = createHmac('sha256', secret).update(signed).digest('base64url')
      expect(await outcome(`${signed}.${mac}`, keys)).toBe('unauthenticated')
    }
    await using secret = serveKeys([{ kty: 'oct', k: Buffer.alloc(32, 1).toString('base64url'), kid: 'k' }])
    const signed = `${encoded({ alg: 'HS256', kid: 'k' })}.${encoded(claims())}`
    const mac = createHmac('sha256', Buffer.alloc(32, 1)).update(signed).digest('base64url')
    expect(await outcome(`${signed}.${mac}`, secret)).toBe('unauthenticated')
  })

  test('verifies by no key of another kind', async () => {
    const pairs = {
      RS256: await pairOf('RS256'),
      ES256: await pairOf('ES256'),
      ES384: await pairOf('ES384'),
      EdDSA: await pairOf('Ed25519'),
    }
    for (const [of, pair] of Object.entries(pairs)) {
      await using keys = serveKeys([await jwkOf(pair, { kid: 'k' })])
      for (const [alg, signer] of Object.entries(pairs))
        expect([of, alg, await outcome(await sign(alg, signer), keys)]).toEqual([
          of,
          alg,
          of === alg ? 'ada' : 'unauthenticated',
        ])
      // A header that claims another algorithm than the one that signed.
      const [, ...rest] = (await sign(of, pair)).split('.')
      for (const alg of Object.keys(pairs).filter((one) => one !== of))
        expect(await outcome([encoded({ alg, kid: 'k' }), ...rest].join('.'), keys)).toBe('unauthenticated')
    }
  })

  test('is that of the key, where the key names one, and a key for encryption signs nothing', async () => {
    const pair = await pairOf('RS256')
    await using named = serveKeys([await jwkOf(pair, { kid: 'k', alg: 'RS512' })])
    expect(await outcome(await sign('RS256', pair), named)).toBe('unauthenticated')
    await using forEncryption = serveKeys([await jwkOf(pair, { kid: 'k', use: 'enc' })])
    expect(await outcome(await sign('RS256', pair), forEncryption)).toBe('unauthenticated')
  })

  test('is not what a token brings a key for', async () => {
    const [pair, forger] = [await pairOf('ES256'), await pairOf('ES256')]
    await using keys = serveKeys([await jwkOf(pair, { kid: 'k' })])
    await using forged = serveKeys([await jwkOf(forger, { kid: 'k' })])
    const header = { alg: 'ES256', kid: 'k', jwk: forged.keys[0] as JWK, jku: 'http://127.0.0.1:1/' }
    const token = await new SignJWT(claims()).setProtectedHeader(header).sign(forger.privateKey)
    expect(await outcome(token, keys)).toBe('unauthenticated')
    expect(forged.fetches).toBe(0)
  })
})

describe('a key that is replaced under the same id', () => {
  const pairs = async () => await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  const keyOf = async ({ publicKey }: Pair) => ({ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' })
  /** After this the key set may be fetched again. */
  const later = (times = 1) => setSystemTime(Date.now() + times * (keySetCooldownMs + 100))

  test('is found by one more fetch, and the key before it verifies no more', async () => {
    const [first, second] = await pairs()
    await using keys = serveKeys([await keyOf(first)])
    expect(await outcome(await sign('ES256', first), keys)).toBe('ada')
    keys.keys = [await keyOf(second)]
    later()
    expect(await outcome(await sign('ES256', second), keys)).toBe('ada')
    expect(keys.fetches).toBe(2)
    expect(await outcome(await sign('ES256', first), keys)).toBe('unauthenticated')
    expect(await outcome(await sign('ES256', second), keys)).toBe('ada')
    expect(keys.fetches).toBe(2)
  })

  test('is fetched once by all whose tokens fail at the same time', async () => {
    const [first, second] = await pairs()
    await using keys = serveKeys([await keyOf(first)])
    await outcome(await sign('ES256', first), keys)
    keys.keys = [await keyOf(second)]
    later()
    const gate = Promise.withResolvers<void>()
    keys.gate = gate.promise
    const token = await sign('ES256', second)
    const all = Promise.all(Array.from({ length: 50 }, () => outcome(token, keys)))
    gate.resolve()
    expect(await all).toEqual(Array.from({ length: 50 }, () => 'ada'))
    expect(keys.fetches).toBe(2)
  })

  test('is looked for once in some seconds, however many forged tokens there are', async () => {
    const [first, forger] = await pairs()
    await using keys = serveKeys([await keyOf(first)])
    expect(await outcome(await sign('ES256', first), keys)).toBe('ada')
    const forged = await sign('ES256', forger)
    // Keys that were fetched just now are not fetched again.
    for (let time = 0; time < 20; time++) expect(await outcome(forged, keys)).toBe('unauthenticated')
    expect(keys.fetches).toBe(1)
    for (let window = 1; window <= 3; window++) {
      later()
      for (let time = 0; time < 20; time++) expect(await outcome(forged, keys)).toBe('unauthenticated')
      expect(keys.fetches).toBe(1 + window)
      expect(await outcome(await sign('ES256', first), keys)).toBe('ada')
    }
  })

  test('leaves the keys that there are where the issuer does not answer, which is asked no more often', async () => {
    const [first, forger] = await pairs()
    await using keys = serveKeys([await keyOf(first)])
    await outcome(await sign('ES256', first), keys)
    keys.isDown = true
    later()
    const forged = await sign('ES256', forger)
    for (let time = 0; time < 20; time++) expect(await outcome(forged, keys)).toBe('unauthenticated')
    expect(keys.fetches).toBe(2)
    expect(await outcome(await sign('ES256', first), keys)).toBe('ada')
  })
})
