/** Check runs are listed of tables that may be read, in full pages; a foreign tenant has runs of its own. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { requestRun } from '../../support/check-rows.ts'
import { licenseFor } from '../../support/license.ts'
import { type SeenTables, seenTables, startSeenTables } from '../../support/seen-tables.ts'

setDefaultTimeout(300_000)

let s: SeenTables
beforeAll(async () => {
  s = await startSeenTables({ env: { SVC_LICENSE: licenseFor('contracts') } })
  const { store, owner } = s.service
  for (const name of ['open', 'bare', 'open', 'bare', 'open'] as const)
    await requestRun(store, owner.tenant, {
      table: seenTables[name],
      contract: `of-${name}-${crypto.randomUUID()}`,
    })
  await requestRun(store, s.foreign.tenant, { table: seenTables.open })
})
afterAll(() => s[Symbol.asyncDispose]())

test('runs over tables that may not be read are left out before the page is cut', async () => {
  const path = '/api/v1/checks/runs'
  const first = await s.call('reader', 'GET', `${path}?limit=2`)
  expect(first.json.items).toHaveLength(2)
  expect(first.text).not.toContain('bare')
  expect(await s.listed('reader', `${path}?limit=2&page_token=${first.json.next_page_token}`)).toHaveLength(1)
  expect(await s.listed('steward', path)).toHaveLength(5)
  expect(await s.listed('foreign', path)).toHaveLength(1)
})

test.each(['administrator', 'owner', 'auditor'])(
  'the role %s reads that runs over such tables were made, and neither state nor numbers',
  async (role) => {
    const { store, owner } = s.service
    await store.ownerTransaction(owner.tenant, async (tx) => {
      await tx.query(
        `update svc.check_run set state = 'failed', requested_at = now() - interval '1 day', finished_at = now(),
           rows_read = 4711 where tenant_id = $1`,
        [owner.tenant],
      )
    })
    const as = { secret: await s.session(role, [role], ['read']) }
    const { json, text } = await s.call(as, 'GET', '/api/v1/checks/runs')
    const runs = json.items as readonly { id: string; table: { name: string } }[]
    expect(runs.map(({ table }) => table.name).toSorted()).toEqual(['bare', 'bare', 'open', 'open', 'open'])
    if (role === 'auditor') expect(text).not.toContain('4711')
    for (const run of runs.filter(({ table }) => table.name === 'bare')) {
      expect(run).not.toContainAnyKeys(['state', 'ms', 'rows', 'bytes', 'started_at', 'reason', 'progress'])
      expect(JSON.stringify(run)).not.toContain('4711')
      const one = await s.call(as, 'GET', `/api/v1/checks/runs/${run.id}`)
      expect(one).toMatchObject({ status: 200, json: { id: run.id, results: [] } })
      expect(one.text).not.toContain('4711')
    }
  },
)
