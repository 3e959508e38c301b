/** Reads what a move takes from one database to another: tables, sequences, and what holds between them. Copies nothing. */

import type postgres from 'postgres'
import { quoteIdentifier, quoteText } from '../../base/sql-text.ts'

/** A table that holds rows itself: no parent of partitions. */
export interface MovedTable {
  readonly schema: string
  readonly name: string
  /** Both, quoted for a statement. */
  readonly sqlName: string
  /** What is written; by the order of their names. */
  readonly columns: readonly MovedColumn[]
  /** Pages of the rows themselves. */
  readonly blocks: number
  /** Of all that belongs to the rows, indexes left out. */
  readonly bytes: number
  readonly isForced: boolean
  /** Triggers that a copy would set off, quoted. */
  readonly triggers: readonly string[]
}

interface MovedColumn {
  readonly name: string
  readonly type: string
}

/** A foreign key of a table that is no partition's. */
export interface ForeignKey {
  readonly table: string
  readonly referenced: string
  readonly name: string
  readonly definition: string
}

const listed = (schemas: readonly string[]) => schemas.map(quoteText).join(', ')

/** Settings under which both sides write the same text for the same value. */
export const sameTexts = `set search_path = pg_catalog; set datestyle = 'ISO, YMD'; set timezone = 'UTC';
set intervalstyle = 'iso_8601'; set extra_float_digits = 1; set bytea_output = 'hex'; set client_encoding = 'UTF8';
set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`

/** The tables of the schemas, by schema and name. */
export async function readTables(
  sql: postgres.Sql,
  schemas: readonly string[],
): Promise<readonly MovedTable[]> {
  const rows = await sql.unsafe<
    {
      schema: string
      name: string
      forced: boolean
      blocks: number
      bytes: number
      columns: readonly MovedColumn[] | null
      triggers: readonly string[] | null
    }[]
  >(`select n.nspname as schema, c.relname as name, c.relforcerowsecurity as forced,
      (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::float8 as blocks,
      pg_table_size(c.oid)::float8 as bytes,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attname)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select json_agg(quote_ident(t.tgname) order by t.tgname) from pg_trigger t
        where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled <> 'D' and t.tgtype::int & 36 <> 0) as triggers
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in (${listed(schemas)})
    order by n.nspname collate "C", c.relname collate "C"`)
  return rows.map(({ schema, name, forced, blocks, bytes, columns, triggers }) => ({
    ...{ schema, name, blocks, bytes },
    sqlName: `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
    columns: columns ?? [],
    isForced: forced,
    triggers: triggers ?? [],
  }))
}

/**
 * What a column is copied as. Numbers of transactions are those of one server: zero is older than any, and all that is
 * moved has committed.
 */
export function copiedAs({ name, type }: MovedColumn): string {
  return type === 'xid8' ? `'0'::xid8 as ${quoteIdentifier(name)}` : quoteIdentifier(name)
}

/** Foreign keys of the schemas. */
export async function readForeignKeys(
  sql: postgres.Sql,
  schemas: readonly string[],
): Promise<readonly ForeignKey[]> {
  return await sql.unsafe<ForeignKey[]>(`select k.conrelid::regclass::text as table,
      k.confrelid::regclass::text as referenced, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and k.conparentid = 0 and n.nspname in (${listed(schemas)})
    order by 1, 3`)
}

/** The sequences of the schemas with their state, by their quoted names. */
export async function readSequences(
  sql: postgres.Sql,
  schemas: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = await sql.unsafe<{ name: string }[]>(`select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'S' and n.nspname in (${listed(schemas)}) order by 1`)
  const states = new Map<string, string>()
  for (let at = 0; at < names.length; at += sequencesPerStatement) {
    const selects = names
      .slice(at, at + sequencesPerStatement)
      .map(
        ({ name }) =>
          `select ${quoteText(name)} as name, last_value || ',' || is_called as state from ${name}`,
      )
    for (const { name, state } of await sql.unsafe<{ name: string; state: string }[]>(
      selects.join(' union all '),
    ))
      states.set(name, state)
  }
  return states
}

const sequencesPerStatement = 200

/** Sets the sequences as `readSequences` found them. */
export async function setSequences(sql: postgres.Sql, states: ReadonlyMap<string, string>): Promise<void> {
  const calls = [...states].map(([name, state]) => {
    const [value = '1', isCalled = 'false'] = state.split(',')
    return `setval(${quoteText(name)}::regclass, ${BigInt(value)}, ${isCalled === 'true'})`
  })
  for (let at = 0; at < calls.length; at += sequencesPerStatement)
    await sql.unsafe(`select ${calls.slice(at, at + sequencesPerStatement).join(', ')}`)
}

/** What must be the same on both sides besides rows, as lines: rights of rows, triggers, keys, and the labels of graphs. */
export async function readShape(sql: postgres.Sql, schemas: readonly string[]): Promise<ReadonlySet<string>> {
  const of = `c.relnamespace in (select oid from pg_namespace where nspname in (${listed(schemas)}))`
  const rows = await sql.unsafe<{ line: string }[]>(`
    select format('%s: row security %s, forced %s', c.oid::regclass, c.relrowsecurity, c.relforcerowsecurity) as line
      from pg_class c where c.relkind in ('r', 'p') and ${of}
    union all select format('%s: columns %s', c.oid::regclass, (select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attname)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
      from pg_class c where c.relkind in ('r', 'p') and ${of}
    union all select format('%s: policy %s', c.oid::regclass, p.polname) from pg_policy p join pg_class c on c.oid = p.polrelid where ${of}
    union all select format('%s: trigger %s %s', c.oid::regclass, t.tgname, t.tgenabled)
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_proc f on f.oid = t.tgfoid
      where not t.tgisinternal and t.tgenabled <> 'D' and f.pronamespace <> 'ag_catalog'::regnamespace and ${of}
    union all select format('%s: key %s', c.oid::regclass, pg_get_constraintdef(k.oid))
      from pg_constraint k join pg_class c on c.oid = k.conrelid where k.contype in ('f', 'p', 'u') and k.conparentid = 0 and ${of}
    union all select format('%s: partition %s', c.oid::regclass, pg_get_expr(c.relpartbound, c.oid))
      from pg_class c where c.relkind = 'r' and c.relispartition and ${of}
    union all select format('graph %s: label %s %s %s', g.name, l.name, l.id, l.kind)
      from ag_catalog.ag_label l join ag_catalog.ag_graph g on g.graphid = l.graph where g.name in (${listed(schemas)})`)
  return new Set(rows.map(({ line }) => line))
}
