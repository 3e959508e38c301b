/** Reads when the data of tables was last changed: the time of the snapshot that is read, as its committer wrote it. */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

const property = (name: string) => `agtype_access_operator(variadic array[s.properties, '"${name}"'::agtype])`

/**
 * The times in milliseconds by tableKey. A table without a snapshot in the graph has the time when its metadata was
 * received, and one that the graph does not have is left out.
 * @param pinned ids of the snapshots to which tables are pinned, by tableKey
 */
export async function snapshotTimes(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  pinned: ReadonlyMap<string, bigint>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (tables.length === 0) return new Map()
  const asked = tables.map((table) => {
    const key = tableKey(table)
    const pin = pinned.get(key)
    return { key, id: nodeId(key), ...(pin !== undefined && { pin: `${nodeId(key)}\u001f${pin}` }) }
  })
  const rows = await store.tenantQuery<{ key: string; ms: string | null }>(
    tenant,
    `select asked.key, coalesce(
         (select s.properties::text::jsonb ->> 'timestamp_ms' from "Snapshot" s
          where ${property('snapshot_key')} = to_jsonb(coalesce(asked.pin, g.snapshot_key))::text::agtype
          order by s.id desc limit 1),
         case when asked.pin is null then trunc(g.as_of_ms)::text end) as ms
     from jsonb_to_recordset($2::text::jsonb) asked (key text, id text, pin text)
     join svc.ingested_table g on g.tenant_id = $1 and g.table_id = asked.id`,
    [tenant, storableJson(asked)],
    signal && { signal },
  )
  return new Map(rows.flatMap(({ key, ms }) => (ms === null ? [] : [[key, Number(ms)] as const])))
}
