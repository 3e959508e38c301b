/** Scans that the service plans for Iceberg's Java client, which reads the planned files by signed requests. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from '../support/license.ts'
import {
  addTenant,
  metric,
  openUncontracted,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'
import { enforceTerritory } from '../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../support/vending-upstream.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

const filesInAll = 2_500
const long = (value: number) => new Uint8Array(new BigInt64Array([BigInt(value)]).buffer)
let service: TestService
let upstream: VendingUpstream
let tenant: TestTenant
let secret: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = await startVendingUpstream({
    write: (writer) =>
      writer.append(
        Array.from({ length: filesInAll }, (_, index) => ({
          ...{ rows: [], bytes: Buffer.from(`file ${index}`), recordCount: 10 },
          stats: {
            ...{ lower: { 1: long(index * 10) }, upper: { 1: long(index * 10 + 9) } },
            nullCounts: { 1: 0 },
          },
        })),
      ),
  })
  tenant = await addTenant(service.store, 'plans', upstream.url, {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'] },
    ...{ 'vending.mode': 'sign', 'vending.scan-planning': 'server' },
  })
  await enforceTerritory(service.store, tenant.tenant)
  await openUncontracted(service.store, tenant)
  const principal = { sub: 'spark', roles: [] }
  const session = { name: 'spark', principal, scopes: ['read'] } as const
  ;({ secret } = await createServiceSession(service.store, tenant.tenant, session))
}, 200_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

/** The lines of the client, by their first word. */
async function scan(env: Readonly<Record<string, string>> = {}): Promise<Readonly<Record<string, string>>> {
  const jars = ['maven:iceberg-java', 'maven:iceberg-s3'] as const
  const folders = jars.map((name) => join(packageFolder(name), 'lib/*')).join(':')
  const source = join(import.meta.dir, 'scripts/ServerPlanning.java')
  // The machine's own Java, because the pinned one cannot compile.
  const { output } = await runClient('java-planning', ['java', '-cp', folders, source], {
    env: {
      URI: new URL('/v1/iceberg/main', service.app.url).href,
      ...{ SESSION: secret, AWS_REGION: 'eu-central-1', AWS_EC2_METADATA_DISABLED: 'true' },
      ...env,
    },
    seconds: 120,
  })
  const lines = [...output.matchAll(/^(SCAN|ALL|FEW|FIRST|READ|OUTCOME) (.*)$/gm)]
  if (lines.length === 0) throw new Error(`the client said nothing:\n${output.slice(-2000)}`)
  return Object.fromEntries(lines.map(([, name = '', text = '']) => [name, text]))
}

test('planning: java has its scans planned by the service because the table says so, page by page', async () => {
  const signed = 'svc_requests_signed_total{outcome="signed"}'
  const before = await metric(service, signed)
  const said = await scan()
  expect(said).toEqual({
    SCAN: 'RESTTableScan',
    ALL: String(filesInAll),
    FEW: '4',
    FIRST: expect.stringMatching(/^s3:\/\/lake\/sales\/people\/data\//),
    READ: 'file 0',
  })
  expect(await metric(service, signed)).toBeGreaterThan(before)
}, 200_000)

test('planning: java follows the catalog even where it is set to plan by itself', async () => {
  expect((await scan({ MODE: 'client' })).SCAN).toBe('RESTTableScan')
}, 200_000)

test('planning: java is refused where a filter or mask applies', async () => {
  const { sightFor } = service.app.gateway
  Object.assign(service.app.gateway, { sightFor: async () => ({ masked: true, uncontracted: undefined }) })
  try {
    const { OUTCOME } = await scan({ MODE: 'server' })
    expect(OUTCOME).toMatch(/^ForbiddenException: .*row filters or column masks of sales\.people apply/)
  } finally {
    Object.assign(service.app.gateway, { sightFor })
  }
}, 200_000)
