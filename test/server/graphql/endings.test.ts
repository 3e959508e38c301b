/** How an operation of GraphQL ends before its answer: its client leaves, or its time is up. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Admit } from '../../../src/auth/admit.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { Caller } from '../../../src/core/operation.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { nodeIdOf } from '../../../src/server/graphql/node-id.ts'
import { graphqlRoutes } from '../../../src/server/graphql/routes.ts'
import { makeSchema } from '../../../src/server/graphql/schema.ts'
import type { TransactionOptions } from '../../../src/store/database/session.ts'
import type { Store } from '../../../src/store/store.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { aborted, rejectsWhenAborted } from '../../support/aborted.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { orders, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

/** The statement at which the store stops next: it ends with its signal alone. */
interface Held {
  readonly begun: Promise<AbortSignal>
  readonly hold: (signal: AbortSignal | undefined) => Promise<never>
}

let held: Held | undefined

function holdNext(): Held {
  const { promise: begun, resolve, reject } = Promise.withResolvers<AbortSignal>()
  held = {
    begun,
    hold(signal) {
      held = undefined
      if (signal === undefined) {
        reject(new Error('a statement was begun without a signal'))
        return Promise.reject(new Error('no signal'))
      }
      resolve(signal)
      return rejectsWhenAborted(signal)
    },
  }
  return held
}

/** Holds the next statement of a reading request. What admits the caller is not held. */
function holding(store: Store): Store {
  const isOurs = (text: string) => !/service_session|user_session|stored_operations|graphql_/.test(text)
  return {
    ...store,
    tenantQuery: (async (tenant: TenantId, text: string, ...rest: [never, TransactionOptions?]) => {
      if (held !== undefined && isOurs(text)) await held.hold(rest[1]?.signal)
      return await store.tenantQuery(tenant, text, ...rest)
    }) as Store['tenantQuery'],
    tenantTransaction: async (tenant, work, options) => {
      if (held !== undefined && options?.readOnly === true) await held.hold(options.signal)
      return await store.tenantTransaction(tenant, work, options)
    },
  }
}

let service: TestService
let steward: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() }, wrapStore: holding })
  const { store, owner } = service
  await commitColumns(store, owner.tenant, orders, { id: 'long' })
  const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, orders, { id: 'orders', version: 1 })
  steward = await session(service, owner.tenant, ['read', 'admin'], ['steward', 'administrator'], 'stella')
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

const none = '00000000-0000-4000-8000-000000000000'
const node = (...id: Parameters<typeof nodeIdOf>) => `{ node(id: "${nodeIdOf(...id)}") { id } }`
const reads: readonly (readonly [name: string, query: string])[] = [
  ['table', '{ table(namespace: ["sales"], name: "orders") { name } }'],
  ['tables', '{ tables(first: 1) { edges { node { name } } } }'],
  ['tables by words', '{ tables(first: 1, query: "orders") { edges { node { name } } } }'],
  ['contract', '{ contract(name: "orders") { state } }'],
  ['contracts', '{ contracts(first: 1) { edges { node { name } } } }'],
  ['contractCoverage', '{ contractCoverage { tables } }'],
  ['uncoveredTables', '{ uncoveredTables(kind: uncontracted, first: 1) { edges { node { tableName } } } }'],
  ['contractVersion', '{ contractVersion(contract: "orders", number: 1) { state } }'],
  ['policies', '{ policies(first: 1) { edges { node { name } } } }'],
  ['myAccess', '{ myAccess(first: 1) { edges { cursor } } }'],
  ['myAccessRequests', '{ myAccessRequests(first: 1) { edges { cursor } } }'],
  ['writeEvents', '{ writeEvents(first: 1) { edges { node { reason } } } }'],
  ['decision', `{ decision(commitId: "${none}") { policies } }`],
  ['usageTotals', '{ usageTotals(first: 1, by: principal) { edges { node { key } } } }'],
  ['glossaryTerm', '{ glossaryTerm(name: "revenue") { name } }'],
  ['glossaryTerms', '{ glossaryTerms(first: 1) { edges { node { name } } } }'],
  ['metric', '{ metric(name: "revenue") { name } }'],
  ['metrics', '{ metrics(first: 1) { edges { node { name } } } }'],
  ['metricValues', '{ metricValues(catalog: "lake", metrics: ["revenue"], first: 1) { rows } }'],
  ['qualityRun', `{ qualityRun(id: "${none}") { state } }`],
  ['node of a term', node('GlossaryTerm', 'revenue')],
  ['node of a metric', node('Metric', 'revenue')],
  ['node of a run', node('QualityRun', none)],
  ['node of a check', node('QualityCheck', none, 'rows')],
  ['node of a table', node('Table', 'sales', 'orders')],
  ['node of a contract', node('Contract', 'orders')],
  ['node of a version', node('ContractVersion', 'orders', 1)],
  ['node of a policy', node('Policy', 'none')],
  ['node of a decision', node('WriteEvent', none)],
]

describe('a client that leaves', () => {
  test.each(reads)('ends the statement of %s', async (_, query) => {
    const { begun } = holdNext()
    const client = new AbortController()
    const left = fetch(new URL('/graphql', service.app.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-session': steward },
      body: JSON.stringify({ query }),
      signal: client.signal,
    }).catch((thrown: unknown) => thrown)
    const signal = await begun
    expect(signal.aborted).toBe(false)
    client.abort()
    await aborted(signal)
    expect(await left).toMatchObject({ name: 'AbortError' })
  })
})

test('every field of Query is one of those that are ended', () => {
  const fields = Object.keys(makeSchema().getQueryType()?.getFields() ?? {})
  const asked = reads.map(([, query]) => /^\{ (\w+)/.exec(query)?.[1])
  expect([...new Set(asked)].sort()).toEqual(fields.sort())
})

test('an operation whose time is up says so, and its statement is ended', async () => {
  const { store, owner } = service
  const timer = new AbortController()
  const asked: number[] = []
  const caller = {
    tenant: owner.tenant,
    principal: { sub: 'ann', roles: [] },
    session: { scopes: ['read'], kind: 'user' },
  } as unknown as Caller
  const routes = graphqlRoutes({
    parts: { store: holding(store), licensed: { require: () => {} } } as never,
    schema: makeSchema(),
    admit: (async () => caller) as unknown as Admit,
    log: createLogger({ level: 'silent' }),
    draining: new AbortController().signal,
    after: (ms) => {
      asked.push(ms)
      return timer.signal
    },
  })
  await routes.modules
  const { begun } = holdNext()
  const answer = routes.handle(
    new Request('http://service.example/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ tables(first: 1) { edges { node { name } } } }' }),
    }),
  )
  const signal = await begun
  timer.abort()
  const response = await answer
  expect([asked, signal.aborted, response.status]).toEqual([[30_000], true, 200])
  expect(await response.json()).toMatchObject({
    errors: [
      { message: 'The operation took more than 30 s. Ask for less.', extensions: { code: 'UNPROCESSABLE' } },
    ],
  })
})
