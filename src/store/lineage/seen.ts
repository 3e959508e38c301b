/**
 * The conditions, in SQL, under which somebody who does not look after all tables sees what lineage names. A dataset is
 * seen unless it is stored as a table that may not be read. A job is seen where it has made such a dataset, or one of
 * the jobs whose runs it starts has; and where they have made nothing, if they read such a dataset.
 */

import type { TenantId } from '../../core/tenant.ts'
import { nodeIdText, storableJson } from '../database/names.ts'
import { isReadableKey } from '../graph/readable.ts'
import type { Store } from '../store.ts'

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`
const named = (alias: string, namespace: string, name: string) => {
  const key = nodeIdText(`(${namespace} || chr(31) || ${name})`)
  return `${property(alias, 'id')} = to_jsonb(${key})::text::agtype`
}

/** Of a node of the graph. */
export const isSeenDataset = (alias: string) =>
  `(${property(alias, 'table_id')} is null or ${isReadableKey(property(alias, 'table_id'))})`

/** Of the id of a job's node. */
export const isSeenJob = (id: string) => `exists (
  with recursive family (id) as (
    select ${id} union select c.end_id from family f join "PARENT_OF" c on c.start_id = f.id)
  select 1 from family f join "PRODUCED_BY" p on p.end_id = f.id join "Dataset" d on d.id = p.start_id
  where ${isSeenDataset('d')}
  union all
  select 1 from family f join "CONSUMED_BY" c on c.end_id = f.id join "Dataset" d on d.id = c.start_id
  where ${isSeenDataset('d')} and not exists (
    select from family any_job join "PRODUCED_BY" p on p.end_id = any_job.id))`

/** Of the names of a job, both texts. Without a name nothing is known of its tables, so it is not seen. */
export const isSeenJobNamed = (namespace: string, name: string) =>
  `exists (select 1 from "Job" named where ${named('named', namespace, name)} and ${isSeenJob('named.id')})`

/** Whether every dataset that a refusal names is seen. One without a node is not. */
export const isSeenRefusal = (refusal: string) => `not exists (
  select 1 from jsonb_path_query(${refusal}, '$.** ? (exists (@.namespace) && exists (@.name))') r (one)
  where not exists (select 1 from "Dataset" d
    where ${named('d', "(r.one ->> 'namespace')", "(r.one ->> 'name')")} and ${isSeenDataset('d')}))`

/** Those of these graph ids of datasets that are seen. One without a node is not. */
export async function seenDatasets(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await store.tenantQuery<{ id: string }>(
    tenant,
    `select given.id from (select distinct id from jsonb_array_elements_text($1::text::jsonb) id) given
       join "Dataset" d on ${property('d', 'id')} = to_jsonb(given.id)::text::agtype
     where ${isSeenDataset('d')}`,
    [storableJson(ids)],
    { readOnly: true },
  )
  return new Set(rows.map(({ id }) => id))
}

/** The names, in lower case, of tables that may not be read: those among the words, and all that are not plain words. */
export async function hiddenTableNames(
  store: Store,
  tenant: TenantId,
  words: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await store.tenantQuery<{ name: string }>(
    tenant,
    `select distinct name from "Table" named, lateral (select named.properties::text::jsonb ->> 'name' as name) n
     where (lower(name) in (select jsonb_array_elements_text($1::text::jsonb)) or name !~ '^[A-Za-z0-9_$]+$')
       and ${property('named', 'id')} <> '""'::agtype and not ${isReadableKey(property('named', 'id'))}`,
    [storableJson(words)],
    { readOnly: true },
  )
  return new Set(rows.map(({ name }) => name.toLowerCase()))
}
