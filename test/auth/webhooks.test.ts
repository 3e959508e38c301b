/** Webhooks of the identity and billing providers: unsigned, old and repeated events have no effect. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { webhookOperations } from '../../src/auth/webhooks/operations.ts'
import { Secret } from '../../src/base/secret.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { limits } from '../../src/limits.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { createTenant, getTenant } from '../../src/store/tenant/tenants.ts'
import { failingStore } from '../support/failing-store.ts'
import {
  billingWebhookSecret,
  call,
  type IdentityService,
  identityWebhookSecret,
  session,
  sign,
  startIdentityService,
} from '../support/identity.ts'
import { serveOperations } from '../support/operations.ts'

let service: IdentityService
const clock = { ms: Date.now() }
let organizations = 0

beforeAll(async () => {
  service = await startIdentityService({ clock: { now: () => clock.ms } })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const identityPath = '/webhooks/identity-provider'
const billingPath = '/webhooks/billing'
const eventId = () => `evt_${crypto.randomUUID()}`

type SignatureHeaders = Readonly<Record<string, string>>

function deliver(path: string, body: string, headers: SignatureHeaders = {}): Promise<Response> {
  return call(service, 'POST', path, { body, headers })
}
const identity = async (event: object) => {
  const body = JSON.stringify({ id: eventId(), ...event })
  return await deliver(identityPath, body, await sign.workos(body, identityWebhookSecret, clock.ms))
}

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

interface Kind {
  readonly path: string
  readonly secret: string
  readonly sign: (body: string, secret: string, atMs: number) => Promise<SignatureHeaders>
  /** The header that carries the signature. */
  readonly header: string
  readonly body: () => string
}
const identityBody = () => JSON.stringify({ id: eventId(), event: 'user.created', data: {} })
const billingBody = () => JSON.stringify({ id: eventId(), type: 'invoice.paid', data: {} })
const kinds: readonly (readonly [string, Kind])[] = [
  [
    'WorkOS signatures',
    {
      path: identityPath,
      secret: identityWebhookSecret,
      sign: sign.workos,
      header: 'workos-signature',
      body: identityBody,
    },
  ],
  [
    'Stripe signatures',
    {
      path: billingPath,
      secret: billingWebhookSecret,
      sign: sign.stripe,
      header: 'stripe-signature',
      body: billingBody,
    },
  ],
  ...[identityPath, billingPath].map((path) => {
    const secret = path === identityPath ? identityWebhookSecret : billingWebhookSecret
    const kind = { path, secret, sign: sign.standard, header: 'webhook-signature', body: billingBody }
    return [`Standard Webhooks at ${path}`, kind] as const
  }),
]

describe.each(kinds)('%s', (_, { path, secret, sign: signed, header, body: makeBody }) => {
  const statusOf = async (body: string, headers: SignatureHeaders) =>
    (await deliver(path, body, headers)).status
  /** The headers with the signature's own changed. */
  const altered = (headers: SignatureHeaders, change: (value: string) => string) => ({
    ...headers,
    [header]: change(headers[header] ?? ''),
  })

  test('a signed delivery is taken once', async () => {
    const body = makeBody()
    const headers = await signed(body, secret, clock.ms)
    expect(await (await deliver(path, body, headers)).json()).toEqual({ received: 'recorded' })
    expect(await statusOf(body, headers)).toBe(409)
    const signedTwice = altered(headers, (value) => value + spare(header))
    if (header !== 'workos-signature') expect(await statusOf(body, signedTwice)).toBe(409)
  })

  test('no signature header is 400', async () => {
    expect(await statusOf(makeBody(), {})).toBe(400)
  })

  test('what does not hold is 401, and one secret does not open the other’s door', async () => {
    const body = makeBody()
    const other = path === identityPath ? billingWebhookSecret : identityWebhookSecret
    const good = await signed(body, secret, clock.ms)
    for (const headers of [
      altered(good, () => 'nonsense'),
      altered(good, () => 't=,v1='),
      altered(good, (value) => value.replace(/v1.*/, 'v1')),
      await signed(body, other, clock.ms),
      await signed(`${body} `, secret, clock.ms),
      altered(good, (value) => value.replace('v1', 'v0')),
      altered(good, (value) => value.slice(0, -4)),
      altered(good, (value) => `${value}00`),
      altered(good, (value) => value + ` ${spare(header)}`.repeat(200)),
      await signed(body, secret, clock.ms - limits.webhookToleranceMs - 2_000),
      await signed(body, secret, clock.ms + limits.webhookToleranceMs + 2_000),
    ])
      expect({ headers, status: await statusOf(body, headers) }).toEqual({ headers, status: 401 })
    expect(await statusOf(body, good)).toBe(200)
  })

  test('another time stamp than the signed one is 401, however it is written', async () => {
    const body = makeBody()
    const good = await signed(body, secret, clock.ms)
    const stamp = good['webhook-timestamp'] ?? /t=(\d+)/.exec(good[header] ?? '')?.[1] ?? ''
    for (const other of [`${Number(stamp) + 1}`, `0${stamp}`, `${stamp}x`, `${stamp}.0`, ` ${stamp}e0`]) {
      const headers = Object.fromEntries(
        Object.entries(good).map(([name, value]) => [name, value.replace(stamp, other)]),
      )
      expect({ other, status: await statusOf(body, headers) }).toEqual({ other, status: 401 })
    }
    for (const extra of header === 'webhook-signature' ? [] : [`,t=${stamp}`, `, t=1`])
      expect(
        await statusOf(
          body,
          altered(good, (value) => value + extra),
        ),
      ).toBe(401)
  })

  test('a signature in capitals, or beside spaces, is what its library says it is', async () => {
    if (header === 'webhook-signature') return
    const body = makeBody()
    const good = await signed(body, secret, clock.ms)
    const upper = altered(good, (value) =>
      value.replace(/v1=.*/, (one) => `v1=${one.slice(3).toUpperCase()}`),
    )
    expect(await statusOf(body, upper)).toBe(401)
    expect(
      await statusOf(
        body,
        altered(good, (value) => value.replace('v1=', 'v1= ')),
      ),
    ).toBe(401)
    expect(await statusOf(body, good)).toBe(200)
  })

  test('bytes that are no text, or begin with a byte order mark, are not what was signed', async () => {
    const text = JSON.stringify({ ...JSON.parse(makeBody()), note: '\ufffd' })
    const headers = await signed(text, secret, clock.ms)
    const bytes = Buffer.from(text)
    const broken = Buffer.from(bytes.toString('latin1').replace('\xef\xbf\xbd', '\xff'), 'latin1')
    for (const body of [broken, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])]) {
      const sent = await fetch(new URL(path, service.app.url), { method: 'POST', body, headers })
      expect(sent.status).toBe(401)
    }
    expect(await statusOf(text, headers)).toBe(200)
  })

  test('a body above 256 KiB is 413, and a signed one that is no event is 400', async () => {
    const large = 'x'.repeat(limits.webhookBodyBytesMax + 1)
    expect(await statusOf(large, await signed(large, secret, clock.ms))).toBe(413)
    for (const body of ['x', '[]', '{}', '{"id":7}', '{"id":"a"}', '['.repeat(10_000)])
      expect({ body, status: await statusOf(body, await signed(body, secret, clock.ms)) }).toEqual({
        body,
        status: 400,
      })
  })

  test('the signature is looked at before the toggle, and none is believed without a secret', async () => {
    const body = makeBody()
    const answer = async (
      setting: { secret: Secret | undefined; enabled: boolean },
      headers: SignatureHeaders,
    ) => {
      const parts = { ...service.app.gateway, identityProvider: setting, billing: setting }
      const serve = serveOperations(webhookOperations, parts)
      const request = new Request(`http://svc.example${path}`, { method: 'POST', body, headers })
      return (await serve(request)).status
    }
    const good = await signed(body, secret, clock.ms)
    const off = { secret: new Secret(secret), enabled: false }
    expect(await answer(off, good)).toBe(410)
    expect(await answer(off, await signed(`${body} `, secret, clock.ms))).toBe(401)
    expect(await answer({ secret: undefined, enabled: true }, good)).toBe(401)
    for (const headers of [good, header === 'webhook-signature' ? good : signedByNothing(header, body)])
      expect(await answer({ secret: new Secret(''), enabled: true }, headers)).toBe(401)
  })
})

/** A header of pairs that is signed with an empty secret. */
function signedByNothing(header: string, body: string): SignatureHeaders {
  const time = header === 'stripe-signature' ? Math.floor(clock.ms / 1_000) : clock.ms
  return { [header]: `t=${time},v1=${createHmac('sha256', '').update(`${time}.${body}`).digest('hex')}` }
}

/** A further signature of another secret, as providers write it beside the first. */
function spare(header: string): string {
  return header === 'webhook-signature' ? ` v1,${btoa('0'.repeat(32))}` : `,v1=${'0'.repeat(64)}`
}

test.each(kinds.slice(0, 2))(
  '%s: another delivery of an event that is known has no effect',
  async (_, kind) => {
    const body = kind.body()
    await deliver(kind.path, body, await kind.sign(body, kind.secret, clock.ms))
    const again = await deliver(kind.path, body, await kind.sign(body, kind.secret, clock.ms + 2_000))
    expect(await again.json()).toEqual({ received: 'known' })
  },
)

test('a Standard Webhooks message is known by its id, and ends what it names', async () => {
  const { id, org } = await tenantWithOrg()
  const body = JSON.stringify({ type: 'organization.deleted', data: { id: org } })
  const messageId = `msg_${crypto.randomUUID()}`
  const send = async (atMs: number) =>
    await deliver(identityPath, body, await sign.standard(body, identityWebhookSecret, atMs, messageId))
  expect(await (await send(clock.ms)).json()).toEqual({ received: 'recorded' })
  expect(await (await send(clock.ms + 2_000)).json()).toEqual({ received: 'known' })
  expect((await getTenant(service.store, id))?.state).toBe('suspended')
})

test('Stripe’s header holds by any of its signatures, as while a secret is rotated', async () => {
  const body = billingBody()
  const { 'stripe-signature': header } = await sign.stripe(body, billingWebhookSecret, clock.ms)
  const rotated = header.replace('v1=', `v1=${'0'.repeat(64)},v1=`)
  expect((await deliver(billingPath, body, { 'stripe-signature': `${rotated},v0=x` })).status).toBe(200)
})

test('a provider’s format is not taken at the other provider’s door', async () => {
  const body = billingBody()
  const workos = await sign.workos(body, billingWebhookSecret, clock.ms)
  const stripe = await sign.stripe(body, identityWebhookSecret, clock.ms)
  expect((await deliver(billingPath, body, workos)).status).toBe(400)
  expect((await deliver(identityPath, body, stripe)).status).toBe(400)
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
    const headers = await sign.workos(body, identityWebhookSecret, clock.ms)
    const setting = { secret: new Secret(identityWebhookSecret), enabled: true }
    const serve = serveOperations(webhookOperations, {
      ...service.app.gateway,
      store: failingStore(service.store, /update svc\.tenant/),
      identityProvider: setting,
      billing: setting,
    })
    const request = new Request(`http://svc.example${identityPath}`, {
      method: 'POST',
      body,
      headers,
    })
    expect((await serve(request)).status).toBe(503)
    expect((await getTenant(service.store, id))?.state).toBe('active')
    expect((await deliver(identityPath, body, headers)).status).toBe(200)
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
  expect(
    (await deliver(billingPath, body, await sign.stripe(body, billingWebhookSecret, clock.ms))).status,
  ).toBe(200)
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
