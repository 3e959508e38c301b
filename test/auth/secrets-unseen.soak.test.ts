/** A secret planted in every place that takes one never appears in the log or in responses. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { AccessTokens } from '../../src/auth/access-token.ts'
import { sessionFinder } from '../../src/auth/find-session.ts'
import { standard, stripe, workos } from '../../src/auth/webhooks/schemes.ts'
import { verifySignature } from '../../src/auth/webhooks/signature.ts'
import { Fault } from '../../src/base/fault.ts'
import { Secret } from '../../src/base/secret.ts'
import type { Store } from '../../src/store/store.ts'
import { call, type IdentityService, session, sign, startIdentityService } from '../support/identity.ts'
import { roundsOf } from '../support/long-form.ts'
import { prefix } from '../support/service.ts'

/** `bun test` guesses a little; `test:soak` a million times. */
const guesses = process.env.SVC_TEST_SOAK_SECONDS === undefined ? roundsOf(20_000) : 1_000_000

const schemes = [workos, stripe, standard].map((scheme) => [scheme.header, scheme] as const)

const canary = 'Zk4canaryQ9Zk4canaryQ9'
let service: IdentityService

beforeAll(async () => {
  service = await startIdentityService({
    env: {
      IDP_ISSUER_URL: 'http://127.0.0.1:1',
      IDP_CLIENT_ID: 'covenant',
      IDP_API_KEY: `key${canary}`,
      IDP_WEBHOOK_SECRET: `whs${canary}`,
      BILLING_WEBHOOK_SECRET: `bil${canary}`,
    },
  })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

describe('a secret', () => {
  test('planted everywhere is in no line of the log and in no answer', async () => {
    const secret = await session(
      service,
      service.owner.tenant,
      ['commit', 'read', 'lineage', 'admin'],
      ['administrator'],
    )
    const jwt = new UnsecuredJWT({ sub: 'x', note: canary }).encode()
    const commitPath = `/v1/iceberg/${prefix}/namespaces/sales/tables/orders`
    const credential = { catalog_kind: 'alpha', endpoint: 'https://catalog.example' }
    const admin = `/admin/tenants/${service.owner.tenant}/catalogs/planted`
    const body = JSON.stringify({ id: canary, event: canary })
    const planted: [method: string, path: string, options: Parameters<typeof call>[3]][] = [
      ['GET', '/api/v1/session', { secret: `svc_${canary}` }],
      ['GET', '/api/v1/session', { secret: `svc_web_${canary}${canary}` }],
      ['GET', '/api/v1/session', { headers: { authorization: `Bearer ${canary}` } }],
      ['GET', '/api/v1/session', { headers: { authorization: `Basic ${btoa(`a:${canary}`)}` } }],
      [
        'GET',
        '/api/v1/session',
        { headers: { cookie: `__Host-svc_session=svc_web_${canary}${canary.slice(1)}` } },
      ],
      ['GET', `/api/v1/session?secret=${canary}`, { secret }],
      [
        'GET',
        `/callback?code=${canary}&state=${canary}`,
        { headers: { cookie: `__Host-svc_login=${canary}` } },
      ],
      ['GET', `/login?return_to=/${canary}`, {}],
      [
        'POST',
        commitPath,
        { secret, headers: { authorization: `Bearer ${jwt}` }, body: `{"x":"${canary}"}` },
      ],
      ['POST', commitPath, { secret, headers: { 'x-forwarded-client-cert': `URI=${canary}` }, body: '{' }],
      ['POST', '/api/v1/sessions', { secret, body: { name: 'x', scopes: [canary] } }],
      ['POST', '/api/v1/sessions', { secret, body: { [canary]: 1 } }],
      [
        'PUT',
        admin,
        { secret: service.operator, body: { ...credential, config_json: { credential: canary } } },
      ],
      [
        'PUT',
        admin,
        {
          secret: service.operator,
          body: { ...credential, endpoint: `https://u:${canary}@c.example`, config_json: {} },
        },
      ],
      ['PATCH', admin, { secret: service.operator, body: { config_json: { webhook_secret: canary } } }],
      [
        'PATCH',
        admin,
        { secret: service.operator, body: { config_json: { endpoint: `https://u:${canary}@c` } } },
      ],
      ['GET', `/admin/tenants/${service.owner.tenant}/catalogs`, { secret: service.operator }],
      ['POST', '/webhooks/identity-provider', { body, headers: { 'workos-signature': `t=1,v1=${canary}` } }],
      ['POST', '/webhooks/billing', { body, headers: { 'stripe-signature': canary } }],
      [
        'POST',
        '/webhooks/billing',
        {
          body: `{"${canary}":`,
          headers: await sign.stripe(`{"${canary}":`, `bil${canary}`, Date.now()),
        },
      ],
    ]
    for (const [method, path, options] of planted) {
      const response = await call(service, method, path, options)
      const shown = `${await response.text()}${JSON.stringify([...response.headers])}`
      expect({ method, path, shown: shown.includes(canary) }).toEqual({ method, path, shown: false })
    }
    const form = { grant_type: 'client_credentials', client_id: canary, client_secret: `svc_${canary}` }
    const refused = await service.app.issueToken(new URLSearchParams(form), prefix, null)
    expect(refused.body).not.toContain(canary)
    expect(service.log().split('\n').length).toBeGreaterThan(planted.length)
    expect(service.log()).not.toContain(canary)
    for (const used of [secret, service.operator, service.owner.secret])
      expect(service.log()).not.toContain(used)
  })
})

describe('guessing', () => {
  test('a session secret asks nothing of the database', async () => {
    let asked = 0
    const store: Store = {
      ...service.store,
      adminQuery: async (text, params) => {
        asked++
        return await service.store.adminQuery(text, params)
      },
      adminCall: async (name, params) => {
        asked++
        return await service.store.adminCall(name, params)
      },
    }
    const find = sessionFinder(store, new AccessTokens(store))
    const good = service.owner.secret
    for (let guess = 0; guess < guesses; guess++) {
      const noise = crypto
        .getRandomValues(new Uint8Array(32))
        .toBase64({ alphabet: 'base64url', omitPadding: true })
      if ((await find(`svc_${noise}`)) ?? (await find(`svc_web_${noise}`))) throw new Error(noise)
    }
    const last = good.endsWith('A') ? 'E' : 'A'
    expect(await find(`${good.slice(0, -1)}${last}`)).toBeUndefined()
    expect(asked).toBe(0)
    expect(await find(good)).toBeDefined()
    expect(asked).toBe(1)
  })

  test.each(schemes)(
    'a webhook signature is refused without a word of the secret: %s',
    async (name, scheme) => {
      const body = new TextEncoder().encode('{}')
      const secret = new Secret(`whsec_${btoa(canary)}`)
      for (let guess = 0; guess < guesses / schemes.length; guess++) {
        const noise = crypto.getRandomValues(new Uint8Array(32))
        const seconds = Math.floor(Date.now() / 1_000)
        const headers = new Headers({
          [name]: `t=${(seconds * 1_000) / scheme.unitMs},v1=${noise.toHex()}`,
          ...(name === 'webhook-signature' && {
            'webhook-id': 'msg_1',
            'webhook-timestamp': String(seconds),
            'webhook-signature': `v1,${noise.toBase64()}`,
          }),
        })
        const refused = await Promise.try(
          verifySignature,
          headers,
          body,
          [scheme],
          secret,
          seconds * 1_000,
        ).catch((error: unknown) => error)
        if (
          !(refused instanceof Fault) ||
          refused.kind !== 'unauthenticated' ||
          refused.message.includes(canary)
        )
          throw new Error([...headers].join(' '))
      }
    },
  )
})
