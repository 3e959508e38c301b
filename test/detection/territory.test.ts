/** Detection keeps to a table's territory, and lists what its snapshots name outside. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { listRuns } from '../../src/store/detection/run-list.ts'
import { type DetectionService, startDetectionService } from '../support/detection.ts'
import { enforceTerritory } from '../support/territory.ts'

setDefaultTimeout(120_000)

let started: DetectionService
beforeAll(async () => {
  started = await startDetectionService()
})
afterAll(() => started[Symbol.asyncDispose]())

const rows = (from: number) =>
  Array.from({ length: 5 }, (_, n) => ({
    id: from + n,
    email: `p${from + n}@example.com`,
    ssn: '',
    note: '',
  }))
const conflicts = (tenant: TenantId) =>
  started.service.store.tenantQuery<{ prefix: string; reason: string }>(
    tenant,
    `select prefix, reason from svc.territory_conflict where table_name = 'people'
     and source = 'load' and prefix like '%/covenant-data-%' order by prefix`,
    [],
  )

test('files outside are scanned and listed where territory is observed, refused without a crash once it is enforced', async () => {
  const { store, owner } = started.service
  await started.commitPeople([{ rows: rows(0) }], 'gateway')
  await started.detect()
  const [seen] = (await listRuns(store, owner.tenant)).items
  expect(seen).toMatchObject({ state: 'done', reason: '' })
  const listed = await conflicts(owner.tenant)
  expect(listed.map(({ reason }) => reason)).toContain('unowned')
  expect(await conflicts(started.foreign.tenant)).toEqual([])

  await enforceTerritory(store, owner.tenant)
  await started.commitPeople([{ rows: rows(5) }], 'catalog')
  await started.detect()
  const [refused] = (await listRuns(store, owner.tenant)).items
  expect(refused).toMatchObject({
    state: 'failed',
    reason: 'its file lies outside the folders that belong to it',
  })
})
