/**
 * Makes messy tables twice, empty and filled afterwards and in one transaction, and says with which tags each ends. Every
 * n-th column is taken, and one whose name alone says a class that its values refute.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messyColumns } from '../../bench/detection/messy-tables.ts'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { tableKey } from '../../src/core/table-ref.ts'
import { scanSnapshot } from '../../src/detection/scan/scan-snapshot.ts'
import { withdrawTag } from '../../src/store/contract/withdraw-tag.ts'
import { nodeId } from '../../src/store/database/names.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore } from '../support/store.ts'

const refuted = {
  name: 'ssn',
  values: ['1 84 12 75 116 004 08', '2 91 03 13 055 110 22', '1 70 05 69 123 456 77'],
}

/** The tags of both tables, and what the names of the empty one had said. */
export async function messyTwice(seed: number, everyNth: number) {
  const cells = 40
  const columns = messyColumns({ seed, cells }).filter((_, at) => at % everyNth === 0)
  const all = [
    ...columns,
    { ...refuted, values: Array.from({ length: cells }, (_, at) => refuted.values[at % 3]) },
  ]
  const fields = all.map(({ name }, at): Field => ({ id: at + 1, name: `${name} #${at}`, type: 'string' }))
  const rows = Array.from({ length: cells }, (_, row) =>
    Object.fromEntries(fields.map(({ name }, at) => [name, all[at]?.values[row] ?? null])),
  )
  const folder = mkdtempSync(join(tmpdir(), 'covenant-messy-'))
  await using store = await openTestStore()
  try {
    const { id: tenant } = await makeTenant(store, { name: 'home' })
    const scan = async (metadataLocation: string, table: TableRef) => {
      await enqueueHits(store, tenant, [{ tenant, source: 'baseline-poller', metadataLocation, table }])
      for (const claim of await claimRuns(store, { limit: 1, leaseMs: 600_000, triesMax: 1 })) {
        const access = { roots: [folder], s3: undefined }
        const result = await scanSnapshot({ metadataLocation, access, table })
        const { withdrawable = [] } = await finishRun(store, claim, { ...result, alert: false })
        for (const id of withdrawable) await withdrawTag(store, tenant, id)
      }
    }
    const tagsOf = async (table: TableRef) => {
      const edges = await store.tenantQuery<{ path: string; tag: string }>(
        tenant,
        `select e.properties::text::jsonb ->> 'path' as path, g.properties::text::jsonb ->> 'id' as tag
         from "TAGGED" e join "Tag" g on g.id = e.end_id join "Column" c on c.id = e.start_id
         where c.properties::text::jsonb ->> 'table_id' = $1`,
        [nodeId(tableKey(table))],
      )
      return edges.map(({ path, tag }) => `${path} ${tag}`).sort()
    }
    const [later, once] = [
      { namespace: ['heap'], name: 'later' },
      { namespace: ['heap'], name: 'once' },
    ] as const
    const filled = tableInFolder(folder, 'later', { fields })
    await scan(await filled.setProperties({}), later)
    const named = await tagsOf(later)
    await scan((await filled.append([{ rows }])).metadataLocation, later)
    const whole = await tableInFolder(folder, 'once', { fields }).append([{ rows }])
    await scan(whole.metadataLocation, once)
    return { named, later: await tagsOf(later), once: await tagsOf(once) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
