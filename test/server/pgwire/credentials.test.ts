/** Which credentials of a real store may log in, with a foreign tenant present. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'
import { AccessTokens } from '../../../src/auth/access-token.ts'
import { tokenVerifier } from '../../../src/auth/bearer.ts'
import { credentialReader } from '../../../src/auth/read-credential.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { SessionScope } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { authenticate } from '../../../src/server/pgwire/authenticate.ts'
import type { Client } from '../../../src/server/pgwire/client.ts'
import { Inbox } from '../../../src/server/pgwire/inbox.ts'
import { LoginThrottle } from '../../../src/server/pgwire/login-throttle.ts'
import { Outbox } from '../../../src/server/pgwire/outbox.ts'
import {
  hasCatalogCredential,
  putCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { startWire, type TestQuery, type WireService } from '../../support/pgwire.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { frames, reportFields, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const issuer = 'https://idp.example'

let store: TestStore
let wire: WireService
let ours: TenantId
let theirs: TenantId
let issueToken: (claims: Readonly<Record<string, unknown>>, options?: { expires?: string }) => Promise<string>
let tokens: AccessTokens
let hours = 0
let keyServer: Bun.Server<undefined>

/** Shows whose context a query runs in. */
const whoami: TestQuery = {
  columns: [
    { name: 'tenant', type: 'text' },
    { name: 'sub', type: 'text' },
  ],
  async *batches({ context }) {
    const values = (text: string) => ({ type: 'text' as const, ...utf8Values([text]) })
    yield { rowCount: 1, columns: [values(context.tenant), values(context.principal.sub)] }
  },
}

beforeAll(async () => {
  store = await openTestStore()
  ours = (await makeTenant(store, { name: 'ours', organizationId: 'org_ours' })).id
  theirs = (await makeTenant(store, { name: 'theirs', organizationId: 'org_theirs' })).id
  for (const tenant of [ours, theirs])
    await putCatalogCredential(store, tenant, {
      nickname: tenant === ours ? 'main' : 'foreign',
      kind: 'alpha',
      endpoint: 'https://catalog.example',
      config: { endpoint: 'https://catalog.example', warehouse: 'w' },
    })
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
  keyServer = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ keys: [jwk] }) })
  issueToken = (claims, { expires = '1h' } = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(issuer)
      .setAudience('covenant')
      .setExpirationTime(expires)
      .sign(privateKey)
  tokens = new AccessTokens(store)
  const credentials = credentialReader({
    store,
    tokens,
    verifyToken: tokenVerifier({ url: keyServer.url.href, issuer, audience: 'covenant' }),
    claims: { organization: 'org_id', roles: undefined },
    clock: systemClock,
  })
  wire = await startWire({
    queries: { 'select whoami': whoami },
    parts: {
      credentials,
      // Nobody waits for the failures that this file makes on purpose.
      throttle: new LoginThrottle({ now: () => (hours += 3_600_000) }),
      hasCatalog: (tenant, nickname) => hasCatalogCredential(store, tenant, nickname),
    },
  })
})
afterAll(async () => {
  await wire[Symbol.asyncDispose]()
  await keyServer.stop(true)
  await store[Symbol.asyncDispose]()
})

const session = (
  tenant: TenantId,
  sub = 'ada',
  scopes: readonly SessionScope[] = ['read'],
  expiresAt?: Date,
) => createServiceSession(store, tenant, { name: sub, principal: { sub, roles: [] }, scopes, expiresAt })

/** What becomes of a login: whom queries run for, or the refusal. */
async function logIn(password: string, user = 'ada', database = 'main'): Promise<string> {
  const client = await WireClient.connect(wire.options)
  client.send(frames.startup({ user, database }))
  await client.until('R')
  client.send(frames.password(password))
  const last = (await client.until('Z')).at(-1)
  if (last?.type !== 'Z') {
    const { C, M } = last === undefined ? { C: 'closed', M: '' } : reportFields(last)
    return `${C} ${M}`
  }
  const row = (await client.ask(frames.query('select whoami'))).find((answer) => answer.startsWith('D'))
  client.close()
  return row ?? 'nothing'
}

const refused = (user = 'ada') => `28P01 password authentication failed for user "${user}"`

describe('a service session', () => {
  test('lets its principal in, for its tenant', async () => {
    expect(await logIn((await session(ours)).secret)).toBe(`D ${ours}|ada`)
    expect(await logIn((await session(theirs)).secret, 'ada', 'foreign')).toBe(`D ${theirs}|ada`)
  })

  test('lets a service in by its subject, and by its name without `service:`', async () => {
    const { secret } = await session(ours, 'service:bi')
    for (const user of ['service:bi', 'bi']) expect(await logIn(secret, user)).toBe(`D ${ours}|service:bi`)
    for (const user of ['i', 'service:service:bi', 'service:b'])
      expect(await logIn(secret, user)).toBe(refused(user))
    // The secret decides who it is, so a service's name opens no session of the person of that name.
    expect(await logIn((await session(ours, 'ada')).secret, 'service:ada')).toBe(refused('service:ada'))
  })

  test('reaches no catalog of another tenant, whatever database is named', async () => {
    expect(await logIn((await session(ours)).secret, 'ada', 'foreign')).toStartWith('3D000')
  })

  test('is refused alike for another user, without the scope, expired, revoked or unknown', async () => {
    const revoked = await session(ours)
    await revokeServiceSession(store, ours, revoked.id)
    expect(await logIn((await session(ours)).secret, 'bob')).toBe(refused('bob'))
    expect(await logIn((await session(ours, 'ada', ['commit'])).secret)).toBe(refused())
    expect(await logIn((await session(ours, 'ada', ['read'], new Date(0))).secret)).toBe(refused())
    expect(await logIn(revoked.secret)).toBe(refused())
    expect(await logIn('svc_nothing')).toBe(refused())
    expect(await logIn('')).toBe(refused())
  })

  test('that is revoked ends its connections at their next statement', async () => {
    const { id, secret } = await session(ours)
    const client = await WireClient.logIn(wire.options, { user: 'ada', database: 'main', password: secret })
    expect(await client.ask(frames.query('select whoami'))).toContain('C SELECT 1')
    await revokeServiceSession(store, ours, id)
    expect((await client.ask(frames.query('select whoami'))).at(0)).toStartWith('E 57P01')
  })

  test.each([
    [
      'Parse that came with its Execute',
      [frames.parse('select whoami'), frames.bind(), frames.describe('P'), frames.execute(), frames.sync()],
    ],
    ['Parse and Describe', [frames.parse('select whoami'), frames.describe('S'), frames.flush()]],
    ['Parse that cannot be', [frames.parse('select nothing'), frames.sync()]],
    [
      'Execute',
      [frames.bind({ statement: 'before' }), frames.describe('P'), frames.execute(), frames.sync()],
    ],
  ])('that is revoked tells nothing but that to a %s', async (_, request) => {
    const { id, secret } = await session(ours)
    const client = await WireClient.logIn(wire.options, { user: 'ada', database: 'main', password: secret })
    await client.ask(frames.parse('select whoami', 'before'), frames.sync())
    await revokeServiceSession(store, ours, id)
    client.send(...request)
    const answers = (await client.until('Z')).map(spoken)
    expect(answers).toEqual(['E 57P01 the session was revoked or has expired'])
  })
})

describe('an access token of ours', () => {
  test('lets in the principal of its session while both count', async () => {
    const { id, secret } = await session(ours)
    const found = await credentialSession(secret)
    const { token } = await tokens.issue(found, ['read'])
    expect(await logIn(token)).toBe(`D ${ours}|ada`)
    expect(await logIn((await tokens.issue(found, [])).token)).toBe(refused())
    await revokeServiceSession(store, ours, id)
    expect(await logIn(token)).toBe(refused())
  })

  async function credentialSession(secret: string) {
    const { findServiceSession } = await import('../../../src/store/session/sessions.ts')
    const found = await findServiceSession(store, secret)
    if (found === undefined) throw new Error('the session is gone')
    return found
  }
})

describe("an identity provider's token", () => {
  test('lets its subject in, for the tenant of its organization', async () => {
    expect(await logIn(await issueToken({ sub: 'ada', org_id: 'org_ours' }))).toBe(`D ${ours}|ada`)
    expect(await logIn(await issueToken({ sub: 'eve', org_id: 'org_theirs' }), 'eve', 'foreign')).toBe(
      `D ${theirs}|eve`,
    )
  })

  test('may name a thousand groups, and be as long', async () => {
    const groups = Array.from({ length: 1_000 }, () => crypto.randomUUID())
    const token = await issueToken({ sub: 'ada', org_id: 'org_ours', groups })
    expect(token.length).toBeGreaterThan(50_000)
    expect(await logIn(token)).toBe(`D ${ours}|ada`)
  })

  test('is refused without an organization, of an unknown one, expired, or for another user', async () => {
    expect(await logIn(await issueToken({ sub: 'ada' }))).toBe(refused())
    expect(await logIn(await issueToken({ sub: 'ada', org_id: 'org_none' }))).toBe(refused())
    expect(await logIn(await issueToken({ sub: 'ada', org_id: 'org_ours' }, { expires: '-1h' }))).toBe(
      refused(),
    )
    expect(await logIn(await issueToken({ org_id: 'org_ours' }))).toBe(refused())
    expect(await logIn(await issueToken({ sub: 'eve', org_id: 'org_ours' }))).toBe(refused())
  })

  test('is refused where its signature does not hold', async () => {
    const token = await issueToken({ sub: 'ada', org_id: 'org_ours' })
    expect(await logIn(`${token.slice(0, -6)}AAAAAA`)).toBe(refused())
  })
})

test('whether an identity provider’s token counts is not told while its keys cannot be had', async () => {
  const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  await gone.stop(true)
  const { bySecret } = credentialReader({
    store,
    tokens,
    verifyToken: tokenVerifier({ url: gone.url.href, issuer, audience: 'covenant' }),
    claims: { organization: 'org_id', roles: undefined },
    clock: systemClock,
  })
  const failure = await bySecret(await issueToken({ sub: 'ada', org_id: 'org_ours' })).catch(
    (thrown) => thrown,
  )
  expect(failure).toMatchObject({ kind: 'unavailable' })
})

describe('SCRAM-SHA-256', () => {
  const connect = (password: string, sessionId: string, user = 'ada') => {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: wire.port,
      user,
      database: 'main',
      password,
      options: `-c svc.session=${sessionId}`,
    })
    return client
      .connect()
      .then(() => client.query('select whoami'))
      .then(
        ({ rows }) => {
          void client.end()
          return rows[0]
        },
        (error: { code: string }) => error.code,
      )
  }

  test('lets in a client that knows the secret of the named session, without sending it', async () => {
    const { id, secret } = await session(ours)
    expect(await connect(secret, id)).toEqual({ tenant: ours, sub: 'ada' })
  })

  test('refuses another secret, another user, an unknown and a revoked session alike', async () => {
    const { id, secret } = await session(ours)
    expect(await connect(`${secret}x`, id)).toBe('28P01')
    expect(await connect(secret, id, 'bob')).toBe('28P01')
    expect(await connect(secret, crypto.randomUUID())).toBe('28P01')
    await revokeServiceSession(store, ours, id)
    expect(await connect(secret, id)).toBe('28P01')
  })

  test('refuses a session that was made under another root, as its secret is refused', async () => {
    const before = { ...store, roots: { ...store.roots, sessions: new Uint8Array(32).fill(9) } }
    const principal = { sub: 'ada', roles: [] }
    const { id, secret } = await createServiceSession(before, ours, {
      name: 'ada',
      principal,
      scopes: ['read'],
    })
    expect(await logIn(secret)).toBe(refused())
    expect(await connect(secret, id)).toBe('28P01')
  })

  test('offers an unknown session the same salt every time', async () => {
    const salts = []
    for (let count = 0; count < 2; count++) {
      const client = await WireClient.connect(wire.options)
      client.send(
        frames.startup({
          user: 'ada',
          database: 'main',
          options: '-c svc.session=00000000-0000-4000-8000-000000000000',
        }),
      )
      await client.until('R')
      const first = Buffer.from('n,,n=,r=abc')
      const body = Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), Buffer.of(0, 0, 0, first.length), first])
      const head = Buffer.of(0x70, 0, 0, 0, 4 + body.length)
      client.send(head, body)
      const answer = (await client.until('R')).at(-1)
      salts.push(/s=([^,]+)/.exec(String(answer?.body))?.[1])
      client.close()
    }
    expect(salts[0]).toBeString()
    expect(salts[0]).toBe(salts[1] as string)
  })
})

describe('a secret in plain text', () => {
  const startUp = { user: 'ada', database: 'main', cancelKeyBytes: 4, scramSession: undefined, settings: [] }

  /** A client that is not on this machine. */
  function stranger(isEncrypted: boolean): { client: Client; written: () => string } {
    const sent: Uint8Array[] = []
    const outbox = new Outbox({ write: (bytes) => sent.push(Uint8Array.from(bytes)) && bytes.length })
    const inbox = new Inbox(() => {})
    const client: Client = {
      inbox,
      outbox,
      address: '192.0.2.1',
      isLoopback: false,
      isEncrypted,
      offersTls: true,
      startTls: () => {},
      gone: new AbortController().signal,
      end: () => {},
    }
    return { client, written: () => Buffer.concat(sent).toString('latin1') }
  }

  const attempt = async (isEncrypted: boolean, allowPlaintext: boolean) => {
    const { client, written } = stranger(isEncrypted)
    const parts = {
      credentials: {
        bySecret: async () => undefined,
        byVerifier: async () => undefined,
        suspended: async () => undefined,
      },
      throttle: new LoginThrottle(systemClock),
      allowPlaintext,
      mockKey: new Uint8Array(32),
    }
    const done = authenticate(parts, client, startUp, performance.now() + 50).catch(
      (error: { sqlState: string }) => error.sqlState,
    )
    return { outcome: await done, prompted: written() !== '' }
  }

  test('is not even asked for from another machine, unless that is allowed', async () => {
    expect(await attempt(false, false)).toEqual({ outcome: '28000', prompted: false })
    expect(await attempt(true, false)).toEqual({ outcome: '57014', prompted: true })
    expect(await attempt(false, true)).toEqual({ outcome: '57014', prompted: true })
  })
})
