/** Runs the commands of the pages on contracts, usage, contract documents and their life cycle, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { recordUsage } from '../../src/store/query/usage.ts'
import { commitColumns } from '../support/governed.ts'
import { session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { commit, orders, startTestService } from '../support/service.ts'
import { usageRecord } from '../support/usage.ts'

setDefaultTimeout(300_000)

const page = (name: string) => Bun.file(new URL(`../../docs/${name}.md`, import.meta.url)).text()
const commands = (text: string) =>
  [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('\n')

test('the commands do what the pages say', async () => {
  await using service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
  const strings = Object.fromEntries(['region', 'email', 'phone'].map((name) => [name, 'string']))
  await commitColumns(
    service.store,
    tenant,
    orders,
    { id: 'long', customer: 'long', amount: 'decimal(12, 2)', ...strings },
    Date.now() + 1_000,
  )
  await recordUsage(service.store, tenant, usageRecord({ startedAtMs: Date.UTC(2026, 5, 1) }))
  const secret = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  const another = await session(service, tenant, ['read', 'admin'], ['steward'], 'sten')

  // Its contract is ended, so that a document can govern the table.
  const end = '```sh\ncall -X DELETE $api/tables/sales/orders\n```'
  const text = [
    await page('contracts'),
    await page('usage'),
    end,
    await page('odcs'),
    await page('life-cycle'),
  ].join('\n')
  const script = commands(text)
    .replaceAll('https://covenant.example', service.app.url.href.replace(/\/$/, ''))
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
  const directory = mkdtempSync(join(tmpdir(), 'covenant-docs-'))
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd: directory,
    env: { ...process.env, SECRET: secret, STEWARD_SECRET: another },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  rmSync(directory, { recursive: true })
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toContain('"id":"europe","expression":"region = \'eu\'","exempt_roles":["officer"]')
  expect(out).toContain(`"kind":"pin","snapshot_id":"${firstSnapshotId}"`)
  expect(out).toContain('"uncontracted":"readable"')
  expect(out).toMatch(/"version":2,"state":"active",[^\n]*"description":"Number of the order"/)
  expect(out).toContain('"action":"delete-row-filter"')
  expect(out).toContain('{"items":[{"key":"sales.orders","queries":1,')
  expect(out).toContain('"path":"schema[0].customProperties.covenant.rowFilters","outcome":"enforced"')
  expect(out).toMatch(/"number":2,"version":"1.0.1"/)
  expect(out).toMatch(/"id":"people","number":1,[^\n]*"state":"active"/)
})
