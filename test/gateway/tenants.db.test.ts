import { expect, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { setProperties } from '../../demo/commits.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { roundsOf } from '../support/long-form.ts'
import { addTenant, audit, orders, startTestService } from '../support/service.ts'

/** Over four connections, by two tenants with the same nickname and table. All on a server, where they are at once. */
const commits = process.env.SVC_TEST_DATABASE_URL === undefined ? roundsOf(200) : 200

test(`${commits} interleaved concurrent commits of two tenants never see each other’s policies, credentials or audit`, async () => {
  await using service = await startTestService()
  const acme = service.owner
  const globex = await addTenant(service.store, 'globex', service.catalog.url)
  // Each tenant's policy allows only what the other one writes to be told apart.
  for (const [tenant, name] of [
    [acme.tenant, 'acme'],
    [globex.tenant, 'globex'],
  ] as const)
    await putPolicy(service.store, tenant, orders, {
      id: 'own-writes',
      kind: 'write_acl',
      mode: 'enforce',
      name: `only ${name}`,
      message: '',
      definitionCel: `principal.sub == "${name}" && commit.updates[0].updates.even == "yes"`,
    })

  const outcomes = await Promise.all(
    Array.from({ length: commits }, async (_, index) => {
      const [owner, name] = index % 2 === 0 ? ([acme, 'acme'] as const) : ([globex, 'globex'] as const)
      const even = index % 4 < 2
      const send = () =>
        fetch(new URL('/v1/iceberg/main/namespaces/sales/tables/orders', service.app.url), {
          method: 'POST',
          body: setProperties({ even: even ? 'yes' : 'no' }),
          headers: {
            'x-svc-session': owner.secret,
            authorization: `Bearer ${new UnsecuredJWT({ sub: name }).encode()}`,
          },
        })
      let response = await send()
      // Without a verdict in time, as where the machine has other work, a client sends its commit again.
      while (response.status === 503) response = await send()
      const text = await response.text()
      return {
        name,
        even,
        status: response.status,
        text,
        commitId: response.headers.get('x-svc-decision-id'),
      }
    }),
  )
  for (const { name, even, status, text } of outcomes) {
    // The development catalog serialises commits of one table; a lost race is a conflict, never a leak.
    expect(even ? [200, 409] : [403]).toContain(status)
    if (status === 403) expect(text).toBe(`policy denied: only ${name}`)
  }
  for (const [owner, name] of [
    [acme, 'acme'],
    [globex, 'globex'],
  ] as const) {
    const rows = await audit(service, owner.tenant)
    const decided = outcomes.filter((one) => one.name === name && one.status !== 409)
    expect(rows.map((row) => row.commitId).toSorted()).toEqual(
      decided.map((one) => one.commitId ?? '').toSorted(),
    )
    expect(new Set(rows.map((row) => row.committer))).toEqual(new Set([name]))
  }
})

test('a tenant without the nickname gets 404 even while its owner uses it', async () => {
  await using service = await startTestService()
  const { id } = await createTenant(service.store, { name: 'bare' })
  const { secret } = await createServiceSession(service.store, id, {
    name: 'bare',
    principal: { sub: 'bare', roles: [] },
    scopes: ['commit'],
  })
  const url = new URL('/v1/iceberg/main/namespaces/sales/tables/orders', service.app.url)
  const send = (session: string) =>
    fetch(url, { method: 'POST', body: setProperties({ a: '1' }), headers: { 'x-svc-session': session } })
  const statuses = await Promise.all(
    Array.from(
      { length: 40 },
      async (_, index) => (await send(index % 2 ? secret : service.owner.secret)).status,
    ),
  )
  expect(statuses.filter((_, index) => index % 2 === 1)).toEqual(Array(20).fill(404))
})
