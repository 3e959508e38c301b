/** Runs the commands of docs/sql.md as a reader would paste them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { actorOf } from '../support/actor.ts'
import { session } from '../support/identity.ts'
import { commit, orders, startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

const page = await Bun.file(new URL('../../docs/sql.md', import.meta.url)).text()

test('the commands explain what the page says', async () => {
  await using service = await startTestService()
  const { tenant } = service.owner
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
  const on = { store: service.store, tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, orders, { id: 'orders', version: 1 })
  const secret = await session(service, tenant, ['read'], ['steward'], 'stella')

  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  const answers = blocks.map((block) => {
    const script = block
      .replaceAll('https://covenant.example', service.app.url.href.replace(/\/$/, ''))
      .replaceAll('curl -sS', 'curl -sS --fail-with-body')
    const shell = Bun.spawn(['bash', '-e', '-c', script], {
      env: { ...process.env, SECRET: secret },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  })
  const [[run, ...runEnd] = [], [alone, ...aloneEnd] = [], ...more] = await Promise.all(answers)
  expect([runEnd, aloneEnd, more]).toEqual([['', 0], ['', 0], []])
  expect(JSON.parse(String(run))).toMatchObject({
    dialect: 'duckdb',
    principal: { sub: 'stella' },
    reads: [{ table: orders, snapshot: { id: String(firstSnapshotId), pinned: false } }],
  })
  expect(JSON.parse(String(alone))).toMatchObject({ dialect: 'trino', principal: { sub: 'ada' } })
})
