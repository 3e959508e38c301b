/** What leads to the files of a table, in a catalog that folds names: plans and signatures are one for every spelling. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { send } from '../../support/surface.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: VendingUpstream
let tenant: TestTenant
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = await startVendingUpstream({ foldsNames: true })
  tenant = await addTenant(service.store, 'signed', upstream.url, {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'] },
    ...{ 'vending.mode': 'sign', case_sensitive_names: false },
  })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const spellings = ['sales/tables/people', 'SALES/tables/People', 'sales/tables/PEOPLE', 'Sales/tables/pEOPLE']
const signing = { 'x-iceberg-access-delegation': 'remote-signing' }
const ask = (method: string, path: string, body?: unknown) =>
  send(service, method, `/namespaces/${path}`, body, { tenant, headers: signing })

/** The ticket of each load differs. */
const told = async (response: Response) =>
  [
    response.status,
    (await response.text()).replace(/[A-Za-z0-9_-]{40,}/g, '…').replace(/"plan-id":"[^"]+"/, ''),
  ] as const

test('a plan names the same files, and a load gives the same address to sign, whatever the spelling', async () => {
  const asks = [(path: string) => ask('GET', path), (path: string) => ask('POST', `${path}/plan`, {})]
  for (const one of asks) {
    const [real, ...others] = await Promise.all(spellings.map(async (path) => await told(await one(path))))
    expect(real?.[0]).toBe(200)
    for (const other of others) expect(other).toEqual(real as never)
  }
})

test('a ticket signs under every spelling of its table, and not of another', async () => {
  const { config } = (await (await ask('GET', 'SALES/tables/People')).json()) as {
    readonly config: Readonly<Record<string, string>>
  }
  const endpoint = config['signer.endpoint'] ?? ''
  expect(endpoint).toContain('/sales/tables/people/')
  const uri = `${upstream.s3Url}/lake/${upstream.metadataLocation.replace('s3://lake/', '')}`
  const sign = async (path: string) =>
    await fetch(new URL(`/v1/iceberg/main/${path}`, service.app.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method: 'GET', region: 'eu-central-1', uri, headers: {} }),
    })
  for (const path of spellings)
    expect((await sign(endpoint.replace('sales/tables/people', path))).status).toBe(200)
  expect((await sign(endpoint.replace('people', 'persons'))).status).toBe(401)
})

test('nothing is given out where a mask applies, whatever the spelling', async () => {
  const people = { namespace: ['sales'], name: 'people' }
  await commitColumns(service.store, tenant.tenant, people, { id: 'long', email: 'string' })
  const on = { store: service.store, tenant: tenant.tenant, actor: actorOf('stella'), checkPolicies }
  await putMask(
    on,
    { table: people, column: 'email' },
    { id: 'm', action: 'replace-with-null', exemptRoles: [] },
  )
  for (const path of spellings) {
    expect((await ask('POST', `${path}/plan`, {})).status).toBe(403)
    const loaded = await (await ask('GET', path)).text()
    expect(loaded).not.toContain('signer')
    expect(loaded).toContain('"covenant.withheld":"counts"')
  }
})
