/** SQL over a metric relation from which a table is reached that may not be read: it is as one that there is not. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { ask } from '../support/identity.ts'
import type { Lake } from '../support/lake.ts'
import { declaringAs, openSteward } from '../support/semantic-layer.ts'
import { contextOf, startCubeLake } from './mdx/cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let secret: string
beforeAll(async () => {
  lake = await startCubeLake()
  const { store, tenant } = lake
  const put = declaringAs(lake, await openSteward(lake))
  const orders = { namespace: ['sales'], name: 'orders' }
  await put('/api/v1/metrics/led', { table: orders, expression: 'count(*)', filter: "area__name = 'east'" })
  await put('/api/v1/metrics/ledger', { kind: 'ratio', numerator: 'led', denominator: 'orders' })
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  await deleteContract(on, { namespace: ['sales'], name: 'regions' })
  const session = { name: 'bob', principal: { sub: 'bob', roles: [] }, scopes: ['read'] as const }
  secret = (await createServiceSession(store, tenant, session)).secret
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM sales.orders__metrics'
/** What a name in a statement gives, and a name that is in no model. */
async function pair(text: string, name: string, answer: (text: string) => Promise<object>) {
  const of = async (given: string) =>
    JSON.stringify(await answer(text.replaceAll('?', given))).replaceAll(given, '?')
  return [await of(name), await of('nowhere')] as const
}

async function prepared(text: string) {
  const { signal } = new AbortController()
  try {
    const { columns } = await lake.app.queries.prepare(contextOf(lake, 'reader'), text, [], { signal })
    return columns.map(({ name }) => name)
  } catch (thrown) {
    return [Reflect.get(thrown as object, 'sqlState'), (thrown as Error).message]
  }
}

async function explained(statement: string) {
  const { body } = await ask(lake, 'POST', '/api/v1/query/explain', secret, {
    ...{ statement, catalog: lake.catalog },
  })
  return body
}

test.each([
  ['led', `SELECT MEASURE(?) ${from}`],
  ['led', `SELECT ? ${from}`],
  ['led', `SELECT region ${from} GROUP BY 1 HAVING MEASURE(?) > 1`],
  ['ledger', `SELECT MEASURE(?) ${from}`],
  ['area__name', `SELECT ? ${from}`],
  ['area__name', `SELECT MEASURE(orders) ${from} WHERE ? = 'east'`],
  ['area__name', `SELECT MEASURE(orders), ? ${from} GROUP BY 2`],
])('the name %s in %s is refused as one that there is not', async (name, text) => {
  for (const answer of [prepared, explained]) {
    const [hidden, absent] = await pair(text, name, answer)
    expect(hidden).toBe(absent)
    expect(hidden).toContain('?')
    expect(hidden).not.toContain('regions')
  }
})

test('a star is of the dimensions that may be read', async () => {
  expect(await prepared(`SELECT * ${from}`)).toContain('region')
  expect(await prepared(`SELECT * ${from}`)).not.toContain('area__name')
})
