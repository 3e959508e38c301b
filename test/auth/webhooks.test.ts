/** Webhooks of the identity and billing providers: nothing unsigned, old or repeated counts. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { webhookRoutes } from '../../src/auth/webhooks/routes.ts'
import { Secret } from '../../src/base/secret.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { limits } from '../../src/limits.ts'
import { createBrowserSession } from '../../src/store/browser-sessions.ts'
import { createTenant, getTenant } from '../../src/store/tenants.ts'
import { failingStore } from '../support/failing-store.ts'
import {
  billingWebhookSecret,
  call,
  type IdentityService,
  identityWebhookSecret,
  session,
  signed,
  startIdentityService,
} from '../support/identity.ts'

let service: IdentityService
const clock = { ms: Date.now() }
let organizations = 0

beforeAll(async () => {
  service = await startIdentityService({ clock: { now: () => clock.ms } })
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const identityPath = '/webhooks/identity-provider'
const billingPath = '/webhooks/billing'
const eventId = () => `evt_${crypto.randomUUID()}`

function deliver(path: string, body: string, header?: string): Promise<Response> {
  const name = path === identityPath ? 'workos-signature' : 'stripe-signature'
  return call(service, 'POST', path, { body, ...(header !== undefined && { headers: { [name]: header } }) })
}
const identity = (event: object) => {
  const body = JSON.stringify({ id: eventId(), ...event })
  return deliver(identityPath, body, signed(body, identityWebhookSecret, clock.ms))
}
const seconds = () => Math.floor(clock.ms / 1000)

async function tenantWithOrg(): Promise<{ readonly id: TenantId; readonly org: string }> {
  const org = `org_w${organizations++}`
  return { id: (await createTenant(service.store, { name: org, organizationId: org })).id, org }
}
async function browserSession(tenant: TenantId, sub: string, providerSid?: string): Promise<string> {
  const principal = { sub, roles: [] }
  const made = await createBrowserSession(
    service.store,
    tenant,
    { principal, scopes: ['read'], providerSid },
    undefined,
  )
  return made ?? ''
}
const cookieStatus = async (secret: string) =>
  (await call(service, 'GET', '/api/v1/session', { headers: { cookie: `__Host-svc_session=${secret}` } }))
    .status
const secretStatus = async (secret: string) =>
  (await call(service, 'GET', '/api/v1/session', { secret })).status

const kinds: [path: string, secret: string, unitMs: number, body: () => string][] = [
  [
    identityPath,
    identityWebhookSecret,
    1,
    () => JSON.stringify({ id: eventId(), event: 'user.created', data: {} }),
  ],
  [
    billingPath,
    billingWebhookSecret,
    1_000,
    () => JSON.stringify({ id: eventId(), type: 'invoice.paid', data: {} }),
  ],
]

describe.each(kinds)('%s', (path, secret, unitMs, makeBody) => {
  const now = () => Math.floor(clock.ms / unitMs)

  test('takes a signed delivery once, and another delivery of the event without effect', async () => {
    const body = makeBody()
    const header = signed(body, secret, now())
    expect(await (await deliver(path, body, header)).json()).toEqual({ received: 'recorded' })
    expect((await deliver(path, body, header)).status).toBe(409)
    const again = await deliver(path, body, signed(body, secret, now() + 2 * (1_000 / unitMs)))
    expect(await again.json()).toEqual({ received: 'known' })
  })

  test('takes any of several signatures, as while a secret is rotated', async () => {
    const body = makeBody()
    const [time = '', v1 = ''] = signed(body, secret, now()).split(', ')
    const header = `${time},v1=${'0'.repeat(64)},${v1},v0=x`
    expect((await deliver(path, body, header)).status).toBe(200)
  })

  test('is 400 without a signature header', async () => {
    expect((await deliver(path, makeBody())).status).toBe(400)
  })

  test('is 401 for what does not hold, and one secret does not open the other’s door', async () => {
    const body = makeBody()
    const other = path === identityPath ? billingWebhookSecret : identityWebhookSecret
    const tolerance = limits.webhookToleranceMs / unitMs
    const good = signed(body, secret, now())
    for (const header of [
      'nonsense',
      't=,v1=',
      `t=${now()}`,
      signed(body, other, now()),
      signed(`${body} `, secret, now()),
      good.replace('v1=', 'v0='),
      good.slice(0, -2),
      `${good}00`,
      good.replace(/t=\d+/, `t=${now() + 1}`),
      signed(body, secret, now() - tolerance - 1_000 / unitMs),
      signed(body, secret, now() + tolerance + 2_000 / unitMs),
      `t=${now()}, ${Array.from({ length: 20 }, () => `v1=${'0'.repeat(64)}`).join(',')},${good.split(', ')[1]}`,
    ])
      expect({ header, status: (await deliver(path, body, header)).status }).toEqual({ header, status: 401 })
  })

  test('is 413 above 256 KiB and 400 for a signed body that is no event', async () => {
    const large = 'x'.repeat(limits.webhookBodyBytesMax + 1)
    expect((await deliver(path, large, signed(large, secret, now()))).status).toBe(413)
    for (const body of ['', 'x', '[]', '{}', '{"id":7}', '{"id":"a"}', '['.repeat(10_000)])
      expect((await deliver(path, body, signed(body, secret, now()))).status).toBe(400)
  })

  test('looks at the signature before the toggle, and has none to believe without a secret', async () => {
    const body = makeBody()
    const answer = async (setting: { secret: Secret | undefined; enabled: boolean }, header: string) => {
      const routes = webhookRoutes({ ...service.app.gateway, identityProvider: setting, billing: setting })
      const name = path === identityPath ? 'workos-signature' : 'stripe-signature'
      const request = new Request(`http://svc.example${path}`, {
        method: 'POST',
        body,
        headers: { [name]: header },
      })
      return (await routes.handle(request)).status
    }
    const good = signed(body, secret, now())
    const off = { secret: new Secret(secret), enabled: false }
    expect(await answer(off, good)).toBe(410)
    expect(await answer(off, good.replace('v1=', 'v1=0'))).toBe(401)
    expect(await answer({ secret: undefined, enabled: true }, good)).toBe(401)
    expect(await answer({ secret: undefined, enabled: true }, signed(body, '', now()))).toBe(401)
  })
})

describe('the identity provider', () => {
  test('deleting an organization suspends its tenant and no other', async () => {
    const [gone, stays] = [await tenantWithOrg(), await tenantWithOrg()]
    const [lost, kept] = [
      await session(service, gone.id, ['read']),
      await session(service, stays.id, ['read']),
    ]
    expect((await identity({ event: 'organization.deleted', data: { id: gone.org } })).status).toBe(200)
    expect((await getTenant(service.store, gone.id))?.state).toBe('suspended')
    expect([await secretStatus(lost), await secretStatus(kept)]).toEqual([401, 200])
  })

  test('ending a membership ends all of that user’s sessions in that tenant, and no other', async () => {
    const [here, there] = [await tenantWithOrg(), await tenantWithOrg()]
    const lost = [await browserSession(here.id, 'user_1'), await browserSession(here.id, 'user_1')]
    const kept = [await browserSession(here.id, 'user_2'), await browserSession(there.id, 'user_1')]
    const service1 = await session(service, here.id, ['read'], [], 'user_1')
    const data = { user_id: 'user_1', organization_id: here.org }
    expect((await identity({ event: 'organization_membership.deleted', data })).status).toBe(200)
    for (const one of lost) expect(await cookieStatus(one)).toBe(401)
    for (const one of kept) expect(await cookieStatus(one)).toBe(200)
    expect(await secretStatus(service1)).toBe(401)
  })

  test('changing a membership asks for a new login; making it inactive ends service sessions too', async () => {
    const { id, org } = await tenantWithOrg()
    const machine = await session(service, id, ['read'], [], 'user_3')
    const update = async (status: string) => {
      const browser = await browserSession(id, 'user_3')
      const data = { user_id: 'user_3', organization_id: org, status, role: { slug: 'member' } }
      await identity({ event: 'organization_membership.updated', data })
      return [await cookieStatus(browser), await secretStatus(machine)]
    }
    expect(await update('active')).toEqual([401, 200])
    expect(await update('inactive')).toEqual([401, 401])
  })

  test('deleting a user or revoking a login ends what it names', async () => {
    const [one, two] = [await tenantWithOrg(), await tenantWithOrg()]
    const everywhere = [await browserSession(one.id, 'user_4'), await browserSession(two.id, 'user_4')]
    const logins = [
      await browserSession(one.id, 'user_5', 'sid_a'),
      await browserSession(one.id, 'user_5', 'sid_b'),
    ]
    await identity({ event: 'user.deleted', data: { id: 'user_4' } })
    await identity({ event: 'session.revoked', data: { id: 'sid_a', user_id: 'user_5' } })
    for (const secret of everywhere) expect(await cookieStatus(secret)).toBe(401)
    expect([await cookieStatus(logins[0] ?? ''), await cookieStatus(logins[1] ?? '')]).toEqual([401, 200])
  })

  test('an event whose effect fails is not used up: its redelivery takes effect', async () => {
    const { id, org } = await tenantWithOrg()
    const body = JSON.stringify({ id: eventId(), event: 'organization.deleted', data: { id: org } })
    const header = signed(body, identityWebhookSecret, clock.ms)
    const setting = { secret: new Secret(identityWebhookSecret), enabled: true }
    const routes = webhookRoutes({
      ...service.app.gateway,
      store: failingStore(service.store, /update svc\.tenant/),
      identityProvider: setting,
      billing: setting,
    })
    const request = new Request(`http://svc.example${identityPath}`, {
      method: 'POST',
      body,
      headers: { 'workos-signature': header },
    })
    expect((await routes.handle(request)).status).toBe(503)
    expect((await getTenant(service.store, id))?.state).toBe('active')
    expect((await deliver(identityPath, body, header)).status).toBe(200)
    expect((await getTenant(service.store, id))?.state).toBe('suspended')
  })
})

test('a billing event is recorded whole, with the tenant that it names', async () => {
  const { id } = await tenantWithOrg()
  const event = {
    id: eventId(),
    type: 'invoice.payment_failed',
    data: {
      object: {
        amount_due: 9_007_199_254_740_993n.toString(),
        note: 'a\u0000b',
        metadata: { tenant_id: id },
      },
    },
  }
  const body = JSON.stringify(event)
  expect((await deliver(billingPath, body, signed(body, billingWebhookSecret, seconds()))).status).toBe(200)
  const [row] = await service.store.adminQuery<{
    tenant_id: string
    event_type: string
    payload: typeof event
  }>(
    `select tenant_id, event_type, payload from svc.provider_event where provider = 'billing' and event_id = $1`,
    [event.id],
  )
  expect(row).toMatchObject({ tenant_id: id, event_type: event.type })
  expect(row?.payload.data.object).toMatchObject({ amount_due: '9007199254740993', note: 'a\ufffdb' })
})
