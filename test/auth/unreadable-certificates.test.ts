/** A trusted proxy's client certificate without a name that can be read: counted, warned of, and 401 under a setting. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { call, startIdentityService } from '../support/identity.ts'
import { metric } from '../support/service.ts'

setDefaultTimeout(300_000)

const counter = 'svc_client_certificates_unreadable_total'
const warning = 'forwards client certificates without a URI or DNS name'
const whoami = async (service: Awaited<ReturnType<typeof startIdentityService>>) =>
  await call(service, 'GET', '/api/v1/session', {
    secret: service.owner.secret,
    headers: { 'x-forwarded-client-cert': 'Hash=1;Subject="CN=etl"' },
  })

test('falls through to the session, with a metric for each and a warning once', async () => {
  await using service = await startIdentityService({ env: { SVC_TRUSTED_PROXIES: '127.0.0.0/8' } })
  for (let time = 1; time <= 3; time++) {
    expect((await whoami(service)).status).toBe(200)
    expect(await metric(service, counter)).toBe(time)
  }
  expect(service.log().split(warning)).toHaveLength(2)
})

test('is 401 under SVC_CLIENT_CERTIFICATE_STRICT=1, and counted', async () => {
  const env = { SVC_TRUSTED_PROXIES: '127.0.0.0/8', SVC_CLIENT_CERTIFICATE_STRICT: '1' }
  await using service = await startIdentityService({ env })
  const response = await whoami(service)
  expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('subjectAltName')])
  expect(await metric(service, counter)).toBe(1)
})

test('of a peer that is no trusted proxy counts for nothing', async () => {
  await using service = await startIdentityService({ env: { SVC_CLIENT_CERTIFICATE_STRICT: '1' } })
  expect((await whoami(service)).status).toBe(200)
  expect(await metric(service, counter)).toBe(0)
})
