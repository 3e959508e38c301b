/**
 * Atomic transactions that the catalog makes between two loads of their tables: a table that was loaded before shows
 * nothing of its commit, and a file of somebody else may be the only one that is left there.
 */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { dirname } from 'node:path'
import { createTable, setProperties } from '../../../demo/commits.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { endLease, openIntent } from '../../../src/store/commit/commit-intents.ts'
import { listIntents } from '../../../src/store/commit/intent-settlements.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { committedTable, parseLoadTableResult } from '../../../src/wire/iceberg/table-metadata.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { wrongFiles } from '../../support/file-truth.ts'
import { passOn } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
let proxy: Bun.Server<undefined>
let tenant: TestTenant
let headers: Readonly<Record<string, string>>
/** Instead of the catalog, for a request that it answers with something. */
let instead: (path: string, pass: () => Promise<Response>) => Promise<Response | undefined>
let rounds = 0
let [left, right] = ['', '']

beforeAll(async () => {
  service = await startTestService()
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      return (await instead(new URL(request.url).pathname, pass)) ?? (await pass())
    },
  })
  headers = await upstreamHeaders(service.catalog)
  const { metadataLocation } = await load('orders')
  tenant = await addTenant(service.store, 'late', proxy.url.href.replace(/\/$/, ''), {
    atomic_transactions: true,
    storage_roots: [dirname(dirname(dirname(dirname(metadataLocation))))],
  })
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})
beforeEach(async () => {
  instead = async () => undefined
  rounds++
  ;[left, right] = [`left${rounds}`, `right${rounds}`]
  for (const name of [left, right]) await direct('/namespaces/sales/tables', createTable(name))
})

/** Past the gateway. */
async function direct(path: string, body?: string): Promise<Response> {
  const init = { headers, ...(body !== undefined && { method: 'POST', body }) }
  const answer = await fetch(`${service.catalog.url}/v1/dev${path}`, init)
  expect(answer.status).toBeLessThan(300)
  return answer
}

const pathOf = (name: string) => `/namespaces/sales/tables/${name}`
const load = async (name: string) => parseLoadTableResult(await (await direct(pathOf(name))).bytes())

const changes = () => [
  [left, setProperties({ mine: 'left' })] as const,
  [right, setProperties({ mine: 'right' })] as const,
]
const transaction = () =>
  `{"table-changes":[${changes()
    .map(([name, body]) => `{"identifier":{"namespace":["sales"],"name":"${name}"},${body.slice(1)}`)
    .join(',')}]}`

/** Somebody who does not use the gateway changes the left table, and after that a commit through it. */
async function changeLeft(): Promise<void> {
  await direct(pathOf(left), setProperties({ outside: 'yes' }))
  const through = await send(service, 'POST', pathOf(left), setProperties({ through: 'yes' }), { tenant })
  expect(through.status).toBe(200)
}

/** @returns the files that the audit names for the two tables, the last of each */
async function audited(): Promise<readonly (string | null | undefined)[]> {
  const rows = await audit(service, tenant.tenant)
  return [left, right].map(
    (name) =>
      rows.filter(({ table, decision }) => table.name === name && decision === 'APPROVED').at(0)
        ?.metadataLocation,
  )
}

test('a transaction whose answer was lost is given no file that was there before it was made', async () => {
  const seen = Promise.withResolvers<void>()
  instead = async (path, pass) => {
    if (!path.endsWith('/transactions/commit')) return undefined
    // The answer is lost here, and the request arrives only once the left table was looked at.
    instead = async () => undefined
    await changeLeft()
    instead = async (asked, load) => {
      if (asked.endsWith(`/${left}`)) {
        const answer = await load()
        seen.resolve()
        return answer
      }
      if (!asked.endsWith(`/${right}`)) return undefined
      await seen.promise
      instead = async () => undefined
      expect((await pass()).status).toBe(204)
      return await load()
    }
    return new Response('{}', { status: 504 })
  }
  const answer = await send(service, 'POST', '/transactions/commit', transaction(), { tenant })
  expect(answer.status).toBe(204)
  const now = await Promise.all([left, right].map(load))
  expect(await audited()).toEqual(now.map(({ metadataLocation }) => metadataLocation))
  expect(await wrongFiles(service.store, tenant.tenant)).toMatchObject({ wrong: [] })
})

test('recovery gives a commit no file of a load that is older than what proves it', async () => {
  const { items } = await listCatalogCredentials(service.store, tenant.tenant)
  const ids = [crypto.randomUUID(), crypto.randomUUID()]
  const intents = await Promise.all(
    changes().map(async ([name, body], index) =>
      intentOf({
        commitId: ids[index] ?? '',
        ...{ transaction: ids, table: { namespace: ['sales'], name }, credentialId: items[0]?.id ?? '' },
        baseMetadataLocation: (await load(name)).metadataLocation,
        body: Bun.zstdCompressSync(body),
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        receivedAtMs: Date.now(),
      }),
    ),
  )
  await changeLeft()
  for (const intent of intents) {
    await openIntent(service.store, tenant.tenant, intent, { leaseMs: 0, upstreamMs: 3_600_000 })
    await endLease(service.store, tenant.tenant, intent.commitId, false)
  }
  instead = async (path, pass) => {
    if (!path.endsWith(`/${left}`)) return undefined
    instead = async () => undefined
    const answer = await pass()
    // Made now, and a person settles the commit of the right table.
    await direct('/transactions/commit', transaction())
    const [, other] = intents
    if (other === undefined) throw new Error('a transaction of one table')
    await recordVerdict(
      service.store,
      tenant.tenant,
      approvedOf(other, committedTable(await load(right), 'unknown')),
    )
    return answer
  }
  await recoverIntents(service.app.gateway)
  const now = await Promise.all([left, right].map(load))
  expect(await audited()).toEqual(now.map(({ metadataLocation }) => metadataLocation))
  expect(await wrongFiles(service.store, tenant.tenant)).toMatchObject({ wrong: [] })
  expect((await listIntents(service.store, tenant.tenant)).items).toEqual([])
})
