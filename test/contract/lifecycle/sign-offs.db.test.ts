/** Sign-offs in the graph: what they hold, that they come and go with their row, and that nothing alters them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { addDraft } from '../../../src/contract/lifecycle/add-version.ts'
import { moveVersion, signVersion } from '../../../src/contract/lifecycle/move-version.ts'
import type { Actor } from '../../../src/core/administration.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { traverse } from '../../../src/store/graph/graph.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { contract, documentOf, table } from './walk.ts'

setDefaultTimeout(300_000)
let store: TestStore
let tenant: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  foreign = (await createTenant(store, { name: 'foreign' })).id
  for (const one of [tenant, foreign]) await commitColumns(store, one, table, { id: 'long', email: 'string' })
})
afterAll(() => store[Symbol.asyncDispose]())

const ann: Actor = { ...actorOf('ann'), roles: [] }
const stella: Actor = { ...actorOf('stella'), roles: ['steward'] }
const adam: Actor = { ...actorOf('adam'), roles: ['administrator'] }
const parts = { clock: { now: () => Date.now() }, states: undefined as never }
const on = (actor: Actor, of = tenant) => ({ store, tenant: of, actor, checkPolicies })
const read = documentOf('1.0.0', { second: true })
const sha256 = new Bun.CryptoHasher('sha256').update(read.bytes).digest('hex')
const name = { contract, number: 1 }
const sign = (actor: Actor, signed: { sha256: string; comment?: string }) =>
  signVersion(parts, on(actor), name, signed)

interface Drawn {
  readonly edge: string
  readonly attestation: string
  readonly version: string
}
/** The sign-offs in the graph, in their order. */
async function drawn(of = tenant) {
  const rows = await store.tenantQuery<Drawn>(
    of,
    `select e.properties::text as edge, a.properties::text as attestation, v.properties::text as version
     from "ATTESTS" e join "Attestation" a on a.id = e.start_id join "ContractVersion" v on v.id = e.end_id order by e.id`,
  )
  return rows.map((row) => ({
    edge: JSON.parse(row.edge),
    attestation: JSON.parse(row.attestation),
    version: JSON.parse(row.version),
  }))
}

test('each sign-off is an edge to its version, with who, how, when, why and the hash', async () => {
  for (const of of [tenant, foreign]) {
    await addDraft(on(ann, of), read, 'json')
    await moveVersion(parts, on(ann, of), name, { move: 'propose', reason: undefined, override: false })
  }
  await sign(stella, { sha256, comment: 'agreed with HR' })
  await sign(adam, { sha256 })
  expect(await drawn()).toMatchObject([
    {
      edge: { sha256 },
      attestation: {
        ...{ decision: 'sign_off', level: 'first', attested_by: 'stella', reason: 'agreed with HR' },
        ...{ principal_source: stella.source, attested_at: expect.any(String) },
      },
      version: { contract, number: 1, sha256 },
    },
    { edge: { sha256 }, attestation: { level: 'second', attested_by: 'adam' }, version: { number: 1 } },
  ])
  const [, second] = await drawn()
  expect(second?.attestation).not.toHaveProperty('reason')
  expect(await drawn(foreign)).toEqual([])
  const id = `${contract}\u001f1`
  const found = await traverse(store, tenant, { label: 'ContractVersion', id, direction: 'in' })
  expect(found.items.map(({ label, properties }) => [label, properties.attested_by])).toEqual([
    ['Attestation', 'stella'],
    ['Attestation', 'adam'],
  ])
})

test('a sign-off that is refused, or whose transaction fails, leaves no edge', async () => {
  const before = await drawn()
  const again = await Promise.allSettled([sign(stella, { sha256 })])
  expect(again[0]?.status).toBe('rejected')
  const fails = store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `insert into svc.contract_sign_off (tenant_id, contract_id, number, sha256, level, actor_sub, actor)
       select tenant_id, contract_id, 2, sha256, level, actor_sub, actor from svc.contract_sign_off where tenant_id = $1`,
      [tenant],
    )
    await tx.query(
      'select svc.project_sign_off(sign_off_seq) from svc.contract_sign_off where tenant_id = $1',
      [tenant],
    )
    throw new Error('undone')
  })
  expect(await fails.catch((error) => error.message)).toBe('undone')
  expect(await drawn()).toEqual(before)
})

test('sign-offs that are drawn once more are as they were, and no other tenant draws them', async () => {
  const before = await drawn()
  await store.tenantQuery(
    tenant,
    'select svc.project_sign_off(sign_off_seq) from svc.contract_sign_off where tenant_id = $1',
    [tenant],
  )
  expect(await drawn()).toEqual(before)
  const [row] = await store.tenantQuery<{ seq: string }>(
    tenant,
    'select min(sign_off_seq)::text as seq from svc.contract_sign_off where tenant_id = $1',
    [tenant],
  )
  const theirs = store.tenantQuery(foreign, 'select svc.project_sign_off($1::int8)', [row?.seq ?? null])
  expect((await Promise.allSettled([theirs]))[0]?.status).toBe('rejected')
  expect(await drawn(foreign)).toEqual([])
})

test.each([
  'delete from "ATTESTS"',
  'delete from "_ag_label_edge"',
  'delete from "Attestation"',
  `update "Attestation" set properties = properties || '{"attested_by": "mallory"}'::agtype`,
  `update "ATTESTS" set properties = properties || '{"sha256": "0"}'::agtype`,
  'truncate "ATTESTS"',
])('nothing alters them: %s', async (text) => {
  const before = await drawn()
  const [tried] = await Promise.allSettled([store.tenantQuery(tenant, text)])
  expect(tried.status).toBe('rejected')
  expect(await drawn()).toEqual(before)
})
