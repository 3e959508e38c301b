import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import type { Store } from '../../src/store/store.ts'
import { interruptedStore } from '../support/interrupted-store.ts'
import {
  audit,
  commit,
  commitUpstream,
  governOrders,
  metric,
  orders,
  startTestService,
  type TestService,
} from '../support/service.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
/** What another writer does while the next intent is written: after the verdict's load, before the forward. */
let meanwhile: (() => Promise<void>) | undefined

const interrupted = (store: Store) =>
  interruptedStore(store, async () => {
    const now = meanwhile
    meanwhile = undefined
    await now?.()
  }, ['open_intent'])

beforeAll(async () => {
  service = await startTestService({ wrapStore: interrupted })
  await governOrders(service, {
    id: 'not-both',
    message: 'red and blue do not go together',
    definitionCel: '!("red" in commit.result.properties && "blue" in commit.result.properties)',
  })
})
afterAll(() => service[Symbol.asyncDispose]())

const setting = (...names: readonly string[]) =>
  setProperties(Object.fromEntries(names.map((name) => [name, '1'])))
const removing = (...names: readonly string[]) =>
  JSON.stringify({ requirements: [], updates: [{ action: 'remove-properties', removals: names }] })
const raced = (outcome: string) => metric(service, `svc_raced_commits_total{outcome="${outcome}"}`)
/** The intents of a multi-table commit are written once everything is judged. */
const path = '/v1/iceberg/main/transactions/commit'
const change = (body: string) =>
  JSON.stringify({ 'table-changes': [{ identifier: orders, ...JSON.parse(body) }] })

async function send(body: string, other?: string): Promise<Response> {
  meanwhile = other === undefined ? undefined : () => commitUpstream(service.catalog, other)
  return await commit(service, change(body), { path })
}

test('a commit that lands on the state that was judged is judged once', async () => {
  expect((await send(setting('green'))).status).toBe(200)
  const [row] = await audit(service)
  expect(row?.outcomes.map(({ policyId, value, raced }) => ({ policyId, value, raced }))).toEqual([
    { policyId: 'not-both', value: true, raced: undefined },
  ])
  expect(await raced('allow')).toBe(0)
})

test('what a commit makes together with one that landed unseen is judged again, told and audited, and stays', async () => {
  const response = await send(setting('red'), setting('blue'))
  expect(response.status).toBe(200)
  const [row] = await audit(service)
  expect(row).toMatchObject({ decision: 'APPROVED', reason: '' })
  expect(row?.commitId).toBe(response.headers.get('x-svc-decision-id') ?? '')
  expect(row?.outcomes.map(({ policyId, value, raced }) => ({ policyId, value, raced }))).toEqual([
    { policyId: 'not-both', value: true, raced: undefined },
    { policyId: 'not-both', value: false, raced: true },
  ])
  expect(await raced('deny')).toBe(1)
  const told = service
    .log()
    .split('\n')
    .filter((line) => line.includes('another commit landed between a verdict and its forward'))
  expect(told.map((line) => JSON.parse(line))).toMatchObject([
    { commitId: row?.commitId, table: 'sales.orders', why: 'not-both: red and blue do not go together' },
  ])
})

test('a race that breaks no policy is counted as one', async () => {
  await commitUpstream(service.catalog, removing('red', 'blue'))
  expect((await send(setting('green'), setting('yellow'))).status).toBe(200)
  expect(await raced('allow')).toBe(1)
  expect(await raced('deny')).toBe(1)
})

test('a policy that cannot be evaluated on the outcome of a race is reported, too', async () => {
  await governOrders(service, { id: 'lone', definitionCel: 'commit.result.properties.lone == "1"' })
  await commitUpstream(service.catalog, setting('lone'))
  expect((await send(setting('green'), removing('lone'))).status).toBe(200)
  expect(await raced('unavailable')).toBe(1)
  const [row] = await audit(service)
  expect(row?.outcomes.at(-1)).toMatchObject({ policyId: 'lone', error: 'ErrPolicyEval', raced: true })
})
