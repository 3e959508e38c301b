/** Client credentials and access tokens: what they permit, what ends them, and what they never grant. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { decodeJwt, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { setProperties } from '../../demo/commits.ts'
import { AccessTokens, tokenIssuer } from '../../src/auth/access-token.ts'
import { sessionFinder } from '../../src/auth/find-session.ts'
import { oauthTokenIssuer } from '../../src/auth/oauth-token.ts'
import { Fault } from '../../src/base/fault.ts'
import type { SessionScope } from '../../src/core/session.ts'
import { limits } from '../../src/limits.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { rotateSigningKeys } from '../../src/store/session/signing-keys.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant, resumeTenant, suspendTenant } from '../../src/store/tenant/tenants.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { addTenant, audit, commit, governOrders, prefix, type TestTenant } from '../support/service.ts'

let service: IdentityService
let foreign: TestTenant
const now = { ms: Date.now() }

beforeAll(async () => {
  service = await startIdentityService({ clock: { now: () => now.ms } })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

async function client(scopes: readonly SessionScope[], roles: readonly string[] = []) {
  const principal = { sub: 'spark', roles }
  return await createServiceSession(service.store, service.owner.tenant, {
    name: 'spark',
    principal,
    scopes,
  })
}

async function ask(fields: Record<string, string>, at = prefix, authorization?: string) {
  const answer = await service.app.issueToken(new URLSearchParams(fields), at, authorization ?? null)
  return { status: answer.status, body: JSON.parse(answer.body) as Record<string, string> }
}

async function tokenOf(scopes: readonly SessionScope[], scope = '', roles: readonly string[] = []) {
  const { id, secret } = await client(scopes, roles)
  const fields = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const { status, body } = await ask(scope === '' ? fields : { ...fields, scope })
  expect(status).toBe(200)
  return { id, secret, token: body.access_token ?? '', body }
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const whoami = (token: string) => call(service, 'GET', '/api/v1/session', bearer(token))

describe('the token endpoint', () => {
  test('gives a session’s token, without the scope admin unless it is asked for', async () => {
    const { body, id } = await tokenOf(['commit', 'read', 'admin'])
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'commit read' })
    expect(decodeJwt(body.access_token ?? '')).toMatchObject({ iss: tokenIssuer, sid: id, sub: 'spark' })
    expect((await tokenOf(['commit', 'admin'], 'admin')).body.scope).toBe('admin')
    expect((await tokenOf(['commit', 'read'], 'catalog')).body.scope).toBe('commit read')
    expect((await tokenOf(['commit', 'read'], 'PRINCIPAL_ROLE:ALL read')).body.scope).toBe('read')
  })

  test('takes the client from Basic, form-encoded or plain', async () => {
    const { id, secret } = await client(['read'])
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const grant = { grant_type: 'client_credentials' }
    expect((await ask(grant, prefix, basic(`${id}:${secret}`))).status).toBe(200)
    const encoded = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
    expect((await ask(grant, prefix, basic(encoded))).status).toBe(200)
    const twice = { ...grant, client_id: id, client_secret: secret }
    expect((await ask(twice, prefix, basic(`${id}:${secret}`))).body.error).toBe('invalid_request')
    expect((await ask(grant, prefix, basic(id))).body.error).toBe('invalid_request')
  })

  test('takes the secret alone, as clients send a credential without a colon', async () => {
    const { secret } = await client(['read'])
    const alone = { grant_type: 'client_credentials', client_secret: secret }
    expect((await ask(alone)).status).toBe(200)
    expect((await ask({ ...alone, client_secret: `${secret}x` })).status).toBe(401)
  })

  test('is served under the catalog URI, without a session', async () => {
    const { id, secret } = await client(['read', 'commit'])
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret, scope: 'catalog' }
    const body = new URLSearchParams(form).toString()
    const answer = await call(service, 'POST', `/v1/iceberg/${prefix}/v1/oauth/tokens`, { body })
    expect(answer.status).toBe(200)
    const { access_token } = (await answer.json()) as { access_token: string }
    const at = `/v1/iceberg/${prefix}/v1/namespaces/sales/tables/orders`
    expect((await call(service, 'GET', at, bearer(access_token))).status).toBe(200)
    const wrong = new URLSearchParams({ ...form, client_secret: 'x' }).toString()
    const refused = await call(service, 'POST', `/v1/iceberg/${prefix}/v1/oauth/tokens`, { body: wrong })
    expect({ status: refused.status, ...((await refused.json()) as object) }).toMatchObject({
      status: 401,
      error: 'invalid_client',
    })
  })

  test('says in OAuth’s words what is wrong', async () => {
    const { id, secret } = await client(['read'])
    const good = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
    const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
    const own = (await tokenOf(['read'])).token
    const cases: [Record<string, string>, string, number, string][] = [
      [{}, prefix, 400, 'invalid_request'],
      [{ grant_type: 'password' }, prefix, 400, 'unsupported_grant_type'],
      [{ grant_type: exchange }, prefix, 400, 'invalid_request'],
      [{ grant_type: exchange, subject_token: own }, prefix, 400, 'unsupported_grant_type'],
      [{ grant_type: 'client_credentials' }, prefix, 400, 'invalid_request'],
      [{ ...good, client_secret: `${secret}x` }, prefix, 401, 'invalid_client'],
      [{ ...good, client_id: crypto.randomUUID() }, prefix, 401, 'invalid_client'],
      [good, 'not-there', 401, 'invalid_client'],
      [good, '../main', 401, 'invalid_client'],
      [{ ...good, scope: 'commit' }, prefix, 400, 'invalid_scope'],
    ]
    for (const [fields, at, status, error] of cases) {
      const answer = await ask(fields, at)
      expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error })
      expect(JSON.stringify(answer.body)).not.toContain(secret)
    }
    const repeated = new URLSearchParams([...Object.entries(good), ['scope', 'read'], ['scope', 'commit']])
    expect((await service.app.issueToken(repeated, prefix, null)).status).toBe(400)
  })

  test('refuses a client whose tenant does not own the prefix', async () => {
    const { id: stranger } = await createTenant(service.store, {
      name: 'no catalogs',
    })
    const made = await createServiceSession(service.store, stranger, {
      name: 'x',
      principal: { sub: 'x', roles: [] },
      scopes: ['commit'],
    })
    const fields = { grant_type: 'client_credentials', client_id: made.id, client_secret: made.secret }
    expect((await ask(fields)).status).toBe(401)
  })
})

describe('an access token', () => {
  test('is a session, and its subject the principal', async () => {
    const { token, id } = await tokenOf(['read'], '', ['writer'])
    const answer = (await (await whoami(token)).json()) as Record<string, unknown>
    expect(answer).toMatchObject({
      session_id: id,
      tenant: service.owner.tenant,
      scopes: ['read'],
      principal: { sub: 'spark', roles: ['writer'] },
    })
  })

  test('commits as the session’s subject, with principal_source auth_header', async () => {
    const { token } = await tokenOf(['commit'])
    const answer = await commit(service, setProperties({ owner: 'sales' }), {
      secret: '',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await answer.text()).toContain('metadata')
    expect((await audit(service))[0]).toMatchObject({
      committer: 'spark',
      principalSource: 'auth_header',
      principal: { sub: 'spark', roles: [] },
    })
  })

  test('has no more scopes than it was issued with', async () => {
    const { token } = await tokenOf(['commit', 'read'], 'commit')
    expect((await whoami(token)).status).toBe(403)
  })

  test('is dead on the next request after its session is revoked, on another replica too', async () => {
    const { token, id } = await tokenOf(['read'])
    const replica = sessionFinder(service.store, new AccessTokens(service.store, { now: () => now.ms }))
    expect((await whoami(token)).status).toBe(200)
    expect((await replica(token))?.sessionId).toBe(id)
    await revokeServiceSession(service.store, service.owner.tenant, id)
    expect((await whoami(token)).status).toBe(401)
    expect(await replica(token)).toBeUndefined()
  })

  test('is dead while its tenant is suspended', async () => {
    const { token } = await tokenOf(['read'])
    await suspendTenant(service.store, service.owner.tenant)
    expect((await whoami(token)).status).toBe(401)
    await resumeTenant(service.store, service.owner.tenant)
    expect((await whoami(token)).status).toBe(200)
  })

  test('expires, also where it was verified before', async () => {
    const { token } = await tokenOf(['read'])
    expect((await whoami(token)).status).toBe(200)
    now.ms += limits.accessTokenMs + 1_000
    expect((await whoami(token)).status).toBe(401)
  })

  test('signed before a rotation counts still, and one signed after it counts on a replica that had the old key', async () => {
    const replica = sessionFinder(service.store, new AccessTokens(service.store, { now: () => now.ms }))
    const before = await tokenOf(['read'])
    expect(await replica(before.token)).toBeDefined()
    expect(await rotateSigningKeys(service.store, 0)).toBe(true)
    expect(await rotateSigningKeys(service.store)).toBe(false)
    const after = await tokenOf(['read'])
    now.ms += 10_000
    for (const { token } of [before, after]) {
      expect((await whoami(token)).status).toBe(200)
      expect(await replica(token)).toBeDefined()
    }
  })

  test('is not unknown where the store does not answer for its key, and counts as soon as it does', async () => {
    const { token, id } = await tokenOf(['read'])
    let down = true
    const store: Store = {
      ...service.store,
      adminQuery: (text, params, options) =>
        down
          ? Promise.reject(new Fault('unavailable', 'The database is not available.'))
          : service.store.adminQuery(text, params, options),
    }
    const replica = sessionFinder(store, new AccessTokens(store, { now: () => now.ms }))
    expect(await replica(token).catch((error: unknown) => error)).toMatchObject({ kind: 'unavailable' })
    down = false
    expect((await replica(token))?.sessionId).toBe(id)
  })

  test('is none under a new secrets key, where the next one is signed by a key of its own', async () => {
    const before = await tokenOf(['read'])
    const store = { ...service.store, secretsKey: new Uint8Array(32).fill(9) }
    const tokens = new AccessTokens(store, { now: () => now.ms })
    const find = sessionFinder(store, tokens)
    expect(await find(before.token)).toBeUndefined()
    const session = await createServiceSession(store, service.owner.tenant, {
      name: 'spark',
      principal: { sub: 'spark', roles: [] },
      scopes: ['read'],
    })
    const issue = oauthTokenIssuer(store, tokens, () => Promise.reject(new Error('not reached')))
    const fields = { grant_type: 'client_credentials', client_id: session.id, client_secret: session.secret }
    const { status, body } = await issue(new URLSearchParams(fields), prefix, null)
    expect(status).toBe(200)
    now.ms += 10_000
    const { access_token: after } = JSON.parse(body) as { access_token: string }
    expect(await find(after)).toMatchObject({ sessionId: session.id })
    // A replica that still has the old key goes on with its own.
    expect((await whoami(after)).status).toBe(401)
    expect((await whoami((await tokenOf(['read'])).token)).status).toBe(200)
  })

  test('that claims to be ours and is not is 401, beside a good session too', async () => {
    const { id, secret, token } = await tokenOf(['commit', 'read'])
    const { privateKey } = await generateKeyPair('ES256')
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
      kid: string
    }
    const claims = { iss: tokenIssuer, aud: tokenIssuer, sid: id, scope: 'commit read', sub: 'root' }
    const forge = (header: object) =>
      new SignJWT({ ...claims, roles: ['steward'] })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
        .setExpirationTime('1h')
        .sign(privateKey)
    const [head = '', body = '', signature = ''] = token.split('.')
    const forged = [
      new UnsecuredJWT({ ...claims, roles: ['administrator'] }).encode(),
      await forge({ kid }),
      await forge({ kid: crypto.randomUUID() }),
      await forge({}),
      `${head}.${Buffer.from(JSON.stringify({ ...claims, exp: 9_999_999_999 })).toString('base64url')}.${signature}`,
      `${head}.${body}.`,
    ]
    for (const one of forged) {
      expect((await whoami(one)).status).toBe(401)
      expect((await call(service, 'GET', '/api/v1/session', { secret, ...bearer(one) })).status).toBe(401)
      const answer = await commit(service, '{}', { secret, headers: { authorization: `Bearer ${one}` } })
      expect(answer.status).toBe(401)
    }
  })

  test('of another session is 401 beside this one', async () => {
    const { token } = await tokenOf(['commit', 'read'])
    const answer = await call(service, 'GET', '/api/v1/session', { secret: foreign.secret, ...bearer(token) })
    expect(answer.status).toBe(401)
  })
})

test('a forged bearer with every role gets nowhere but to the write gateway’s policies', async () => {
  const roles = ['administrator', 'steward', 'admin', 'writer']
  const forged = new UnsecuredJWT({ sub: 'root', roles, groups: roles, scope: 'admin read' }).encode()
  const secret = await session(service, service.owner.tenant, ['commit', 'read', 'lineage', 'admin'])
  const headers = { authorization: `Bearer ${forged}` }
  expect((await call(service, 'GET', '/api/v1/session', { headers })).status).toBe(401)
  const own = await call(service, 'GET', '/api/v1/session', { secret, headers })
  expect(await own.json()).toMatchObject({ principal: { sub: 'someone', roles: [] } })
  for (const [method, path] of [
    ['GET', '/api/v1/sessions'],
    ['POST', '/api/v1/sessions'],
    ['GET', '/admin/tenants'],
  ] as const)
    expect((await call(service, method, path, { secret, headers })).status).toBe(403)

  await governOrders(service, {
    id: 'writers',
    kind: 'write_acl',
    definitionCel: 'principal.role(principal, "writer")',
  })
  const answer = await commit(service, setProperties({ owner: 'sales' }), { secret, headers })
  expect(answer.status).toBe(200)
  expect((await audit(service))[0]).toMatchObject({ committer: 'root', principalSource: 'auth_header' })
})
