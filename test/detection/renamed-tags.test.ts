/**
 * Tags of detection follow a table to its new name, and a column to its new name, so that masks by tag do. Runs and
 * findings are written as detection would. A foreign tenant has the same tables.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, orderFields } from '../../demo/commits.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import type { FindingClass } from '../../src/core/classification.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { listTableTags, listTagChanges } from '../../src/store/contract/tag-changes.ts'
import { attachedTables } from '../../src/store/detection/attached-tables.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { decideFinding, listFindings } from '../../src/store/detection/findings.ts'
import { type ColumnFinding, finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { isMaskedFor } from '../../src/store/governance/protections.ts'
import { actorOf } from '../support/actor.ts'
import { emptyReport } from '../support/detection-rows.ts'
import {
  addTenant,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let foreign: TestTenant
const stella = actorOf('stella')
const analyst = { sub: 'ann', roles: [] }
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
})
afterAll(() => service[Symbol.asyncDispose]())

let counter = 0
const fresh = (): TableRef => ({ namespace: ['sales'], name: `renamed${++counter}` })
let scans = 0

interface Seen {
  readonly uuid: string
  readonly of?: FindingClass
  readonly columnName?: string
  readonly tenant?: TenantId
}

/** Scans a table, whose column of the field 1 holds values of a class, where one is given. */
async function scan(table: TableRef, seen: Seen): Promise<void> {
  const { uuid, of, columnName = 'id', tenant = service.owner.tenant } = seen
  const { store } = service
  const metadataLocation = `s3://lake/${uuid}/${++scans}.metadata.json`
  await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation, table }])
  const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
  if (claim?.tenant !== tenant) throw new Error('another tenant had something in the queue')
  const findings = (of === undefined ? [] : [of]).map(
    (each): ColumnFinding => ({
      finding: {
        ...{ column: columnName, class: each, shape: 'value', confidence: 0.92 },
        ...{ matched: 9, sampled: 9, maskedSample: undefined },
      },
      ...{ fieldId: 1n, columnName },
    }),
  )
  const report = {
    ...emptyReport,
    snapshotIds: [`${scans}`],
    filesAdded: 1,
    filesScanned: 1,
    tableUuid: uuid,
  }
  await finishRun(store, claim, { findings, judged: [], report, reason: '', alert: false })
}

const tagsOf = async (table: TableRef, tenant = service.owner.tenant) =>
  (await listTableTags(service.store, tenant, table)).map(({ column, tag }) => `${column} ${tag}`)
async function made(): Promise<TableRef> {
  const table = fresh()
  const body = createTable(table.name, orderFields)
  expect((await send(service, 'POST', '/namespaces/sales/tables', body)).status).toBe(200)
  return table
}
const rename = async (source: TableRef, destination: TableRef) =>
  (await send(service, 'POST', '/tables/rename', { source, destination })).status

describe('a tag of detection', () => {
  test('is that of the new name as soon as the gateway renames the table, and a mask by it applies there', async () => {
    const { store, owner } = service
    const [table, to, uuid] = [await made(), fresh(), crypto.randomUUID()]
    await scan(table, { uuid, of: 'email' })
    await scan(table, { uuid, of: 'email', tenant: foreign.tenant })
    expect(await rename(table, to)).toBe(204)
    expect(await tagsOf(to)).toEqual(['id sensitive.email'])
    expect(await tagsOf(to, foreign.tenant)).toEqual([])
    expect((await listTagChanges(store, owner.tenant, { table: to })).items).toMatchObject([
      { action: 'set', source: 'classifier', tag: 'sensitive.email', column: 'id', by: undefined },
    ])
    const on = { store, tenant: owner.tenant, actor: stella, checkPolicies: () => [] }
    await putMask(
      on,
      { tag: 'sensitive.email' },
      { id: 'hide', action: 'replace-with-null', exemptRoles: [] },
    )
    expect(await isMaskedFor(store, owner.tenant, to, analyst)).toBe(true)
    // The same values under the new name change nothing, and the next rename would make the mask fall: it is refused.
    await scan(to, { uuid, of: 'email' })
    expect(await tagsOf(to)).toEqual(['id sensitive.email'])
    expect(await rename(to, fresh())).toBe(403)
  })

  test('is that of the new name where the gateway finds that the catalog renamed the table', async () => {
    const [table, to] = [await made(), fresh()]
    const path = ({ name }: TableRef) => `/namespaces/sales/tables/${name}`
    expect((await send(service, 'GET', path(table))).status).toBe(200)
    await scan(table, { uuid: crypto.randomUUID(), of: 'us_ssn' })
    const renamed = await fetch(`${service.catalog.url}/v1/dev/tables/rename`, {
      method: 'POST',
      headers: await upstreamHeaders(service.catalog),
      body: JSON.stringify({ source: table, destination: to }),
    })
    expect(renamed.status).toBe(204)
    expect((await send(service, 'GET', path(to))).status).toBe(200)
    expect(await tagsOf(to)).toEqual(['id sensitive.us_ssn'])
  })

  test('is found again under the new name where no rename was seen', async () => {
    const [table, to, uuid] = [await made(), await made(), crypto.randomUUID()]
    await scan(table, { uuid, of: 'iban' })
    await scan(to, { uuid, of: 'iban' })
    expect(await tagsOf(to)).toEqual(['id sensitive.iban'])
  })

  test('is not that of another table whose column has the same field and name', async () => {
    const [table, other] = [await made(), await made()]
    await scan(table, { uuid: crypto.randomUUID(), of: 'iban' })
    await scan(other, { uuid: crypto.randomUUID() })
    expect([await tagsOf(table), await tagsOf(other)]).toEqual([['id sensitive.iban'], []])
  })

  test('stays where the column is renamed', async () => {
    const [table, uuid] = [await made(), crypto.randomUUID()]
    await scan(table, { uuid, of: 'credit_card' })
    await scan(table, { uuid, of: 'credit_card', columnName: 'number' })
    expect(await tagsOf(table)).toEqual(['id sensitive.credit_card'])
  })

  test('falls under every name of the table where a person rejects it, and is back where one confirms it', async () => {
    const { store, owner } = service
    const [table, to, uuid] = [await made(), fresh(), crypto.randomUUID()]
    await scan(table, { uuid, of: 'iban' })
    expect(await rename(table, to)).toBe(204)
    const [finding] = (await listFindings(store, owner.tenant, { table })).items
    const decide = (decision: 'reject' | 'confirm') =>
      store.tenantTransaction(owner.tenant, (tx) =>
        decideFinding(tx, owner.tenant, finding?.id ?? '', { decision, reason: 'No.', actor: stella }),
      )
    await decide('reject')
    expect([await tagsOf(table), await tagsOf(to)]).toEqual([[], []])
    expect((await listTagChanges(store, owner.tenant, { table: to })).items).toMatchObject([
      { action: 'removed', source: 'person', by: 'stella' },
      { action: 'set' },
    ])
    await decide('confirm')
    expect([await tagsOf(table), await tagsOf(to)]).toEqual([['id sensitive.iban'], ['id sensitive.iban']])
  })

  test('is known with all names that have it, before a contract would be loosened', async () => {
    const { store, owner } = service
    const [table, to, uuid] = [await made(), fresh(), crypto.randomUUID()]
    await scan(table, { uuid, of: 'iban' })
    expect(await rename(table, to)).toBe(204)
    const ids = await store.tenantQuery<{ id: string }>(
      owner.tenant,
      `select f.classification_id as id from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id)
       where f.tenant_id = $1 and r.table_name = $2`,
      [owner.tenant, table.name],
    )
    const attached = await store.tenantTransaction(owner.tenant, (tx) =>
      attachedTables(tx, owner.tenant, ids[0]?.id ?? ''),
    )
    expect(attached?.map(({ name }) => name).sort()).toEqual([table.name, to.name].sort())
  })
})
