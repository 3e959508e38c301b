/** The condition, in SQL, under which a table may be read. Every listing and walk that shows only such tables uses it. */

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`
const tableId = property('t', 'id')

/** Whether the tenant has opted in to tables without a contract; false where it was never set. */
const optedIn = "coalesce((select bool_or(s.uncontracted = 'readable') from svc.read_setting s), false)"

/**
 * Tables under an active contract, as `t`, with the contract as `k` and their edge as `e`. Where the tenant has opted
 * in, also tables without one that have had a commit. The sentinel's table (id '') is found by the same joins, and only
 * with its contract.
 */
export const readableFrom = `
  from "Table" t left join ("GOVERNS" e join "Contract" k on k.id = e.start_id
      and (${property('k', 'state')} = '"active"'::agtype or ${property('k', 'id')} = '""'::agtype))
    on e.end_id = t.id
  where (k.id is not null or (${optedIn} and (select true from "HAS_COLUMN" h where h.start_id = t.id limit 1)
    and ${tableId} <> '""'::agtype))`

/**
 * Whether the table of which an expression gives the id may be read. It is looked up for each row, so that a page of a
 * list costs what it looks at, however many tables there are.
 */
export const isReadable = (id: string) => isReadableKey(`to_jsonb(${id})::text::agtype`)

/** The same, where the id is a property of the graph. */
export const isReadableKey = (key: string) =>
  // Not EXISTS: PostgreSQL would hash all tables that may be read for one page.
  `coalesce((select true ${readableFrom} and ${tableId} = ${key} limit 1), false)`

/** Nodes of lineage datasets that are stored as a table that may not be read. */
export const hiddenDatasets = `
  select d.id from "Dataset" d where ${property('d', 'table_id')} is not null
    and ${property('d', 'table_id')} not in (select ${tableId} ${readableFrom})`
