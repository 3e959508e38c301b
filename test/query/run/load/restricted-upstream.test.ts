/** Statements over a table that the upstream restricts are refused, because no engine applies the restriction. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId } from '../../../../demo/commits.ts'
import { systemClock } from '../../../../src/base/clock.ts'
import type { Catalog, LoadedTable } from '../../../../src/catalog/catalog.ts'
import type { OpenCatalogs } from '../../../../src/catalog/open-catalog.ts'
import { TableStates } from '../../../../src/catalog/table-states.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import type { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import type { QueryContext } from '../../../../src/query/query-service.ts'
import { queryService } from '../../../../src/query/run/run.ts'
import { createLogger } from '../../../../src/telemetry/log.ts'
import { actorOf } from '../../../support/actor.ts'
import { scriptedEngine } from '../../../support/scripted-engine.ts'
import { commit, orders, startTestService, type TestService } from '../../../support/service.ts'

setDefaultTimeout(300_000)

let service: TestService
/** The text of the upstream's `read-restrictions`; undefined where it sends none. */
let restrictions: string | undefined
/** Whether the upstream gives ETags and heeds them. */
let tagged = false

beforeAll(async () => {
  service = await startTestService()
  const { store, owner } = service
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
  await putContract({ store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }, orders, {
    id: 'orders',
    version: 1,
  })
})
afterAll(() => service[Symbol.asyncDispose]())

/** The service's own catalogs, whose answers to loads hold restrictions, and vary their ETag by them. */
function restricting({ get, during }: Pick<OpenCatalogs, 'get' | 'during'>): OpenCatalogs {
  const restricted = (catalog: Catalog): Catalog => ({
    ...catalog,
    async loadTable(table, { ifNoneMatch, ...options } = {}): Promise<LoadedTable> {
      const loaded = await catalog.loadTable(table, options)
      if (loaded.status !== 'loaded') throw new Error('304 to an unconditional load')
      const etag = `"${restrictions ?? 'none'}"`
      if (tagged && ifNoneMatch === etag) return { status: 'not-modified' }
      const text = Buffer.from(loaded.body).toString()
      const more = restrictions === undefined ? '' : `,"read-restrictions":${restrictions}`
      const body = Buffer.from(`${text.slice(0, text.lastIndexOf('}'))}${more}}`)
      return { status: 'loaded', body, ...(tagged && { etag }) }
    },
  })
  return { get: (tenant, credential) => restricted(get(tenant, credential)), during } as OpenCatalogs
}

/** The SQLSTATEs of the same statement asked of one service while the upstream restricts each time otherwise. */
async function outcomes(each: readonly (string | undefined)[]): Promise<(string | undefined)[]> {
  const pool = service.app.gateway.catalogs
  const catalogs = restricting({ get: pool.get.bind(pool), during: pool.during.bind(pool) })
  const scripted = scriptedEngine()
  const queries = queryService({
    store: service.store,
    states: new TableStates(catalogs, 1_000_000),
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
    clock: systemClock,
    log: createLogger({ level: 'silent', destination: { write: () => {} } }),
  })
  const context: QueryContext = {
    tenant: service.owner.tenant,
    principal: { sub: 'ada', roles: ['steward'] },
    principalSource: 'session',
    reader: { stillValid: async () => true },
    surface: 'pgwire',
    catalog: 'main',
    searchPath: [],
  }
  const found: (string | undefined)[] = []
  for (const text of each) {
    restrictions = text
    try {
      const query = await queries.prepare(context, `SELECT count(*) FROM ${orders.namespace}.${orders.name}`)
      const { signal } = new AbortController()
      for await (const _ of queries.run(context, query, { parameters: [], signal }));
      found.push(undefined)
    } catch (thrown) {
      found.push(`${(thrown as SqlError).sqlState} ${(thrown as SqlError).publicMessage}`)
    }
  }
  return found
}

const refused =
  '42501 The upstream catalog restricts reading table orders in ways that are not applied here, so it cannot be read.'

test.each([false, true])('are refused from the first one on, with ETags: %p', async (withTags) => {
  tagged = withTags
  const filter = '{"required-row-filter":{"type":"true"}}'
  const projections = '{"required-column-projections":[{"field-id":1,"action":"sha-256-global"}]}'
  expect(await outcomes([undefined, '{}', filter, projections, undefined])).toEqual([
    ...[undefined, undefined, refused, refused, undefined],
  ])
})

test.each(['[]', 'null', '0', '"none"', '{"tomorrow":true}', '{"required-row-filter":{}}'])(
  'are refused for what is malformed or unknown: %s',
  async (text) => {
    expect(await outcomes([text])).toEqual([refused])
  },
)
