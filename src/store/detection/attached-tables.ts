/**
 * The tables that what is known of a column governs now, whatever they were called when it was found: a table may have been
 * renamed since, and its clones and the other spellings of its name inherit its tags. It judges nothing.
 */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/** The folders above a metadata file, each with its slash, as in the index of territories. */
const foldersOf = (
  location: string,
) => `array(select left(${location}, at) from generate_series(1, length(${location})) at
    where substr(${location}, at, 1) = '/')`

/** Rows of the tables whose place holds a metadata file now. */
export const holdersOf = (
  location: string,
) => `select t.table_id, t.namespace, t.table_name, t.prefix from svc.territory t
    where t.tenant_id = $1 and t.prefix = any(${foldersOf(location)}) and t.kind in ('location', 'metadata-path')
      and t.released_at is null and t.dropped_at is null`

/**
 * The tables of a classification: those under whose names it was found, those that have these names' files now, those that
 * have its column in the graph, and all that inherit from them.
 * @returns undefined where its tag stands on a column of which the table cannot be told
 */
export async function attachedTables(
  tx: Tx,
  tenant: TenantId,
  classificationId: string,
): Promise<readonly TableRef[] | undefined> {
  const [row] = await tx.query<{ is_lost: boolean; tables: readonly TableRef[] }>(
    `with recursive place as materialized (
       select c.id, c.properties::text::jsonb ->> 'table_id' as table_id, exists (select from "TAGGED" g
           where ${property('g', 'id')} = to_jsonb(svc.pair_id($2, c.properties::text::jsonb ->> 'id'))::text::agtype) as is_tag
       from "Classification" n join "CLASSIFIED_AS" e on e.end_id = n.id join "Column" c on c.id = e.start_id
       where ${property('n', 'id')} = to_jsonb($2::text)::text::agtype),
     ran as materialized (
       select distinct on (r.table_id) r.table_id, r.snapshot_metadata_location as location
       from svc.detection_evidence e join svc.detection_run r on r.tenant_id = e.tenant_id and r.run_id = e.run_id
       where e.tenant_id = $1 and e.classification_id = $2 order by r.table_id, e.found_at desc),
     own as (
       select table_id from place union select table_id from ran
       union select t.properties::text::jsonb ->> 'id' from place p join "HAS_COLUMN" h on h.end_id = p.id
         join "Table" t on t.id = h.start_id
       union select h.table_id from ran cross join lateral (${holdersOf('ran.location')}) h),
     all_ids (id) as (
       select table_id from own where table_id is not null
       union
       select x.id from all_ids a cross join lateral (
         select n.new_key as id from lineage_renamed n where n.old_key = a.id
         union all select lower(a.id)
         union all select t.table_id from svc.territory t where t.tenant_id = $1 and t.source ->> 'table_id' = a.id
           and t.source is not null and t.kind = 'derived' and coalesce(t.released_at, 'infinity') > clock_timestamp()) x),
     known as materialized (
       select t.properties::text::jsonb ->> 'id' as id, t.properties::text::jsonb as facts
       from "Table" t where ${property('t', 'id')} = any(array(select to_jsonb(a.id)::text::agtype from all_ids a)))
     select exists (select from place p where p.is_tag and not exists (select from known k where k.id = p.table_id)
         and not exists (select from "HAS_COLUMN" h where h.end_id = p.id)) as is_lost,
       coalesce((select jsonb_agg(jsonb_build_object('namespace', k.facts -> 'namespace', 'name', k.facts -> 'name') order by k.id)
         from known k), '[]') as tables`,
    [tenant, classificationId],
  )
  return row === undefined || row.is_lost ? undefined : row.tables
}
