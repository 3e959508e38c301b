/** A policy demands the plan: `transform.current(commit)` at the gateway. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { fetchPlan } from '../../src/transform/fetch-plan.ts'
import { licenseFor } from '../support/license.ts'
import {
  addTenant,
  commit,
  governOrders,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let steward: string
let foreign: TestTenant
let snapshots = 0n

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('transform') } })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'stella',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: [...sessionScopes],
  })
  steward = secret
  for (const { secret: owner } of [service.owner, foreign])
    expect((await commit(service, setProperties({ owner: 'sales' }), { secret: owner })).status).toBe(200)
  await governOrders(service, {
    id: 'transformed',
    definitionCel: 'transform.current(commit)',
    message: 'write with the plan of the table',
  })
})
afterAll(() => service[Symbol.asyncDispose]())

async function ruled(method: string, body?: object) {
  const answer = await fetch(
    new URL('/api/v1/transform/rules/columns/sales/orders/customer', service.app.url),
    {
      method,
      headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    },
  )
  expect(answer.status).toBe(204)
}

const planOf = async (secret = service.owner.secret) =>
  (
    await fetchPlan({
      url: service.app.url.origin,
      table: ['sales', 'orders'],
      headers: { 'x-svc-session': secret },
    })
  ).plan

/** Appends a snapshot whose summary shows `proof`. */
async function append(proof: string | undefined) {
  const snapshotId = firstSnapshotId + snapshots
  const body = appendSnapshot({
    snapshotId,
    ...(snapshots > 0n && { parentId: snapshotId - 1n }),
    sequenceNumber: Number(snapshots) + 1,
    timestampMs: Date.now(),
  })
  const summary = { operation: 'append', ...(proof !== undefined && { 'covenant.transform-plan': proof }) }
  const answer = await commit(service, body.replace('{"operation":"append"}', JSON.stringify(summary)))
  if (answer.status === 200) snapshots += 1n
  return { status: answer.status, text: await answer.text() }
}

describe('a policy that demands the plan', () => {
  test('lets a commit pass that adds no snapshot', async () => {
    expect((await commit(service, setProperties({ a: '1' }))).status).toBe(200)
  })

  test('refuses a snapshot without a plan, with its own sentence', async () => {
    await ruled('PUT', { action: 'tokenize', method: 'hmac', scope: 's' })
    const answer = await append(undefined)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('write with the plan of the table')
  })

  test('takes the present plan, and refuses one of rules that have changed', async () => {
    const plan = await planOf()
    expect((await append(`${plan.policy_version}:${plan.nonce}`)).status).toBe(200)
    await ruled('PUT', { action: 'redact' })
    expect((await append(`${plan.policy_version}:${plan.nonce}`)).status).toBe(403)
    const next = await planOf()
    expect((await append(`${next.policy_version}:${plan.nonce}`)).status).toBe(403)
    expect((await append(`${next.policy_version}:${next.nonce}`)).status).toBe(200)
  })

  test('refuses the plan of a foreign tenant for the same table', async () => {
    await ruled('DELETE')
    const [own, other] = [await planOf(), await planOf(foreign.secret)]
    expect(other.policy_version).toBe(own.policy_version)
    expect((await append(`${other.policy_version}:${other.nonce}`)).status).toBe(403)
    expect((await append(`${own.policy_version}:${own.nonce}`)).status).toBe(200)
  })

  test('refuses an encrypted column of which manifests would hold bounds', async () => {
    await ruled('PUT', { action: 'encrypt', method: 'siv', scope: 's' })
    const plan = await planOf()
    const proof = `${plan.policy_version}:${plan.nonce}`
    expect((await append(proof)).status).toBe(403)
    const property = 'write.metadata.metrics.column.customer'
    expect((await commit(service, setProperties({ [property]: 'none' }))).status).toBe(200)
    expect((await append(proof)).status).toBe(200)
    expect((await commit(service, setProperties({ [property]: 'full' }))).status).toBe(200)
    expect((await append(proof)).status).toBe(403)
  })
})

test('no other function is called on transform, and it takes the commit alone', async () => {
  const check = async (text: string) => {
    const answer = await fetch(new URL('/api/v1/policies/check', service.app.url), {
      method: 'POST',
      headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
      body: JSON.stringify({ definition_cel: text }),
    })
    return await answer.text()
  }
  expect(await check('transform.currently(commit)')).toContain('transform.currently')
  expect(await check('transform.current(table)')).toContain('takes `commit`')
  expect(await check('transform.current(commit)')).not.toContain('takes')
})
