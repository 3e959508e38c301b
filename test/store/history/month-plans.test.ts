/** Statements over the months of the audit log read by an index in each month, and the commit path reads one month. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { keepMonths } from '../../../src/store/history/months.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let tenant: TenantId
const at = (month: number, day: number) => Date.UTC(2024, month, day, 12)

beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  await keepMonths(store, new Date(at(0, 1)))
  for (let month = 0; month < 4; month++)
    for (let day = 1; day <= 25; day++)
      await recordVerdict(
        store,
        tenant,
        approvedOf(intentOf({ receivedAtMs: at(month, day) }), committedOf()),
      )
})
afterAll(() => store[Symbol.asyncDispose]())

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Node[]
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The plan that is kept for a statement, as the functions of the commit path keep theirs. */
async function planOf(text: string): Promise<readonly Node[]> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query('select svc.enter($1)', [tenant])
    await tx.script(`prepare looked_up as ${text}`)
    const [row] = await tx.query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] | string }>(
      `explain (format json) execute looked_up`,
    )
    const plan = row?.['QUERY PLAN'] ?? '[]'
    await tx.script('deallocate looked_up')
    return (typeof plan === 'string' ? JSON.parse(plan) : plan).flatMap((one: { Plan: Node }) =>
      nodesOf(one.Plan),
    )
  })
}

const scans = (nodes: readonly Node[]) => nodes.filter((node) => node['Relation Name'] !== undefined)

const id = '00000000-0000-4000-8000-000000000000'
const mine = `from svc.audit_log where tenant_id = svc.current_tenant()`

test.each([
  ['by its commit', `select 1 ${mine} and commit_id = '${id}'`],
  ['by its number', `select 1 ${mine} and audit_seq = 7`],
  ['of a table, newest first', `select 1 ${mine} and table_id = 't' order by audit_seq desc limit 10`],
  ['newest first', `select 1 ${mine} order by audit_seq desc limit 10`],
  ['by its time', `select 1 ${mine} and created_at > now() order by created_at limit 10`],
  ['by its request', `select 1 ${mine} and request_id = 'x'`],
  ['by its committer', `select 1 ${mine} and md5(committer) = md5('x') order by audit_seq desc limit 10`],
])('a row is found %s by an index in each month', async (_, text) => {
  const plan = await planOf(text)
  const read = scans(plan)
  expect(plan.map((node) => node['Node Type'])).not.toContain('Sort')
  expect(read.length).toBeGreaterThan(4)
  expect(
    read.map((node) => node['Node Type']).filter((type) => !/^Index (?:Only )?Scan$/.test(type)),
  ).toEqual([])
})

test('whether a verdict is recorded already is asked of its month alone', async () => {
  const read = scans(await planOf(`select 1 ${mine} and commit_id = '${id}' and received_at = '2024-02-03'`))
  expect(read.map((node) => node['Relation Name'])).toEqual(['audit_log_2024_02'])
})
