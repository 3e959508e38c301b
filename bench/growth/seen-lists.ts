/**
 * What must not grow with tables and rows where lists leave out what their reader may not see: the slowest first page of
 * ten of all lists that filter by sight, over tables of which every second may be read.
 */

import type { TenantId } from '../../src/core/tenant.ts'
import { listCheckRuns } from '../../src/store/check/check-results.ts'
import { listContracts } from '../../src/store/contract/contract-list.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { listRuns as listScans } from '../../src/store/detection/run-list.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { listDatasets, listJobs, listRuns } from '../../src/store/lineage/listings.ts'
import { listTableModels } from '../../src/store/semantics/models.ts'
import type { Store } from '../../src/store/store.ts'
import { requestRun } from '../../test/support/check-rows.ts'
import { recordFinding } from '../../test/support/detection-rows.ts'
import { receivedEvent } from '../../test/support/lineage.ts'
import { medianMs, overTenant } from './over-tenant.ts'

const runs = 9
const limit = 10
/** Tables that are added at once. */
const chunkCount = 2_000
const page = { limit, readableOnly: true } as const

/** The lists, by what they list. */
const lists = {
  findings: (store: Store, tenant: TenantId) => listFindings(store, tenant, page),
  scans: (store: Store, tenant: TenantId) => listScans(store, tenant, page),
  'check runs': (store: Store, tenant: TenantId) => listCheckRuns(store, tenant, page),
  contracts: (store: Store, tenant: TenantId) => listContracts(store, tenant, page),
  models: (store: Store, tenant: TenantId) => listTableModels(store, tenant, page),
  datasets: (store: Store, tenant: TenantId) => listDatasets(store, tenant, page),
  jobs: (store: Store, tenant: TenantId) => listJobs(store, tenant, page),
  'lineage runs': (store: Store, tenant: TenantId) => listRuns(store, tenant, page),
} as const

const idOf = (alias: string) => `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
const member = (alias: string, sql: string) => `${idOf(alias)} = to_jsonb(${sql})::text::agtype`
/** Every second table is under a contract; each has rows of every kind. Tables, jobs and datasets have these ids. */
const tableId = `'sales' || chr(31) || 't' || i`
const datasetId = `'lake' || chr(31) || 'd' || i`
const jobId = `'etl' || chr(31) || 'j' || i`

interface Range {
  readonly tenant: TenantId
  readonly from: number
  readonly to: number
}

/** Statements that add what is numbered `from` + 1 to `to`. */
function additions({ tenant, from, to }: Range): readonly string[] {
  const numbers = `generate_series(${from} + 1, ${to}) i`
  const vertex = (label: string, members: string) =>
    `insert into "${label}" (properties)
     select jsonb_build_object('tenant_id', '${tenant}', ${members})::text::agtype from ${numbers}`
  const edge = (
    label: string,
    start: readonly [string, string],
    end: readonly [string, string],
    where = 'true',
  ) =>
    `insert into "${label}" (start_id, end_id, properties)
     select a.id, b.id, jsonb_build_object('tenant_id', '${tenant}', 'id', ${end[1]})::text::agtype
     from ${numbers} join "${start[0]}" a on ${member('a', start[1])} join "${end[0]}" b on ${member('b', end[1])}
     where ${where}`
  /** Copies of one row of a table. */
  const copies = (table: string, changed: string) =>
    `insert into ${table} overriding system value
     select (jsonb_populate_record(null::${table}, to_jsonb(t) || jsonb_build_object(${changed}))).*
     from (select * from ${table} limit 1) t, ${numbers}`
  const ofTable = `'table_id', ${tableId}, 'table_name', 't' || i`
  return [
    vertex('Table', `'id', ${tableId}, 'namespace', '["sales"]'::jsonb, 'name', 't' || i`),
    vertex('Contract', `'id', 'c' || i, 'version', 1, 'state', 'active'`),
    edge('GOVERNS', ['Contract', `'c' || i`], ['Table', tableId], 'i % 2 = 0'),
    vertex('Dataset', `'id', ${datasetId}, 'namespace', 'lake', 'name', 'd' || i, 'table_id', ${tableId}`),
    vertex('Job', `'id', ${jobId}, 'namespace', 'etl', 'name', 'j' || i`),
    edge('PRODUCED_BY', ['Dataset', datasetId], ['Job', jobId]),
    copies(
      'svc.detection_run',
      `'run_id', md5('run' || i)::uuid, 'snapshot_metadata_location', 's3://lake/' || i, ${ofTable}`,
    ),
    copies(
      'svc.detection_finding',
      `'finding_id', gen_random_uuid(), 'run_id', md5('run' || i)::uuid, 'classification_id', 'f' || i, ${ofTable}`,
    ),
    copies('svc.check_run', `'run_id', gen_random_uuid(), 'run_seq', 1000 + i, ${ofTable}`),
    `insert into svc.table_model (tenant_id, table_id, number, definition, actor)
     select '${tenant}', ${tableId}, 1, '{}', '{}' from ${numbers}`,
    copies(
      'lineage_inbox',
      `'event_seq', 1000 + i, 'run_id', gen_random_uuid(), 'job_namespace', 'etl', 'job_name', 'j' || i`,
    ),
  ]
}

export const seenLists = overTenant(
  {
    name: 'seen-lists',
    of: 'tables, with a row of each list for each',
    unit: 'ms of the slowest page that leaves out what is not seen',
    declared: 'flat',
    sizes: [300, 3_000, 30_000],
    smokeSizes: [30, 60, 120],
  },
  ({ store, tenant }) => {
    let there = 0
    return async (size) => {
      if (there === 0) await plantFirst(store, tenant)
      while (there < size) {
        const to = Math.min(there + chunkCount, size)
        await store.ownerTransaction(tenant, async (tx) => {
          for (const statement of additions({ tenant, from: there, to })) await tx.query(statement)
          // Else the joins of the next part would be planned for empty tables.
          await tx.script('analyze "Table"; analyze "Contract"; analyze "Dataset"; analyze "Job"')
        })
        there = to
      }
      await store.ownerTransaction(tenant, (tx) => tx.script(`analyze`))
      const costs: number[] = []
      for (const [name, list] of Object.entries(lists)) {
        if ((await list(store, tenant)).items.length !== limit)
          throw new Error(`a page of ${name} is not whole`)
        costs.push(await medianMs(runs, () => list(store, tenant)))
      }
      return Math.max(...costs)
    }
  },
)

/** One row of each kind that is copied. */
async function plantFirst(store: Store, tenant: TenantId): Promise<void> {
  await recordFinding(
    store,
    tenant,
    { namespace: ['sales'], name: 'first' },
    { fieldId: 1n, columnName: 'a' },
  )
  await requestRun(store, tenant)
  await receiveLineage(store, tenant, [receivedEvent({ inputs: ['in'], outputs: ['out'] })], true)
}
