/** Gives the database that is filled the months of history that the other has, in place of its own, which are empty. */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import type { ForeignKey } from './relations.ts'

interface Month {
  readonly name: string
  readonly parent: string
  /** The bounds of one that is attached. */
  readonly bound: string | null
  /** Its columns and constraints, and the statements of the indexes that no constraint makes. */
  readonly parts: readonly string[] | null
  readonly indexes: readonly string[] | null
  /** Columns that are stored in another way than their type is, as actions of `alter table`. */
  readonly storages: readonly string[] | null
  readonly secured: boolean
  readonly forced: boolean
  /** Its own triggers; those of each row are the parent's. */
  readonly triggers: readonly string[] | null
}

/** The statements that give the target the months of the source. @throws Fault `internal` for a table of another kind */
export async function monthStatements(
  source: postgres.Sql,
  target: postgres.Sql,
): Promise<readonly string[]> {
  const months = await readMonths(source)
  const made = await target<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_inherits i on i.inhrelid = c.oid
    join pg_class p on p.oid = i.inhparent
    where p.relnamespace = 'svc'::regnamespace and p.relkind = 'p' and c.relkind = 'r'
      and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'`
  const drops = made.map(({ name }) => `drop table svc.${quoteIdentifier(name)}`)
  return [...drops, ...months.flatMap(statementsOf)]
}

/** A column as a new table names it. No month has one that is an identity. */
const columnText = `format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
  (select format(' collate %I.%I', n.nspname, o.collname) from pg_collation o join pg_namespace n on n.oid = o.collnamespace
    where o.oid = a.attcollation and a.attcollation <> t.typcollation),
  case a.attgenerated when '' then ' default ' || pg_get_expr(d.adbin, d.adrelid)
    else format(' generated always as (%s) %s', pg_get_expr(d.adbin, d.adrelid), case a.attgenerated when 's' then 'stored' else 'virtual' end) end,
  case when a.attnotnull then ' not null' end)`

/**
 * Every month that still has its table: attached, or detached and not yet dropped. The detached ones come first, because
 * their indexes have names, and those of an attached one take names that are free.
 */
async function readMonths(sql: postgres.Sql): Promise<readonly Month[]> {
  return await sql.unsafe<Month[]>(`
    select m.name, m.parent, case when c.relispartition then pg_get_expr(c.relpartbound, c.oid) end as bound,
      (select json_agg(part order by number, part) from (
        select a.attnum as number, ${columnText} as part
          from pg_attribute a join pg_type t on t.oid = a.atttypid
            left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        union all select 10000, format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
          from pg_constraint k where k.conrelid = c.oid and k.contype in ('c', 'p', 'u', 'x')) own) as parts,
      (select json_agg(pg_get_indexdef(i.indexrelid)) from pg_index i
        where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid)) as indexes,
      (select json_agg(format('alter column %I set storage %s', a.attname,
          case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end))
        from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attstorage <> t.typstorage) as storages,
      c.relrowsecurity as secured, c.relforcerowsecurity as forced,
      (select json_agg(pg_get_triggerdef(t.oid) order by t.tgname) from pg_trigger t
        where t.tgrelid = c.oid and t.tgparentid = 0 and not t.tgisinternal) as triggers
    from svc.month_partition m
    join pg_class c on c.relname = m.name and c.relnamespace = 'svc'::regnamespace
    order by c.relispartition, m.name`)
}

function statementsOf(month: Month): readonly string[] {
  const { name, parent, bound, secured, forced, triggers } = month
  const [own, of] = [`svc.${quoteIdentifier(name)}`, `svc.${quoteIdentifier(parent)}`]
  return [
    ...(bound === null
      ? // What its parent was given since is not in it.
        [
          `create table ${own} (${(month.parts ?? []).join(', ')})`,
          ...(month.storages ?? []).map((action) => `alter table ${own} ${action}`),
          ...(month.indexes ?? []),
        ]
      : // It gets the indexes of its parent when it is attached.
        [`create table ${own} (like ${of} including defaults including constraints including storage)`]),
    ...(secured ? [`alter table ${own} enable row level security`] : []),
    ...(forced ? [`alter table ${own} force row level security`] : []),
    ...(triggers ?? []),
    ...(bound === null ? [] : [`alter table ${of} attach partition ${own} ${bound}`]),
  ]
}

/** A foreign key that is missing, added by the owner of a table, who sees all rows of both meanwhile. */
export function addKeyStatements(
  { table, referenced, name, definition }: ForeignKey,
  forced: ReadonlySet<string>,
): readonly string[] {
  const both = [...new Set([table, referenced])].filter((one) => forced.has(one))
  return [
    ...both.map((one) => `alter table ${one} no force row level security`),
    `alter table ${table} add constraint ${name} ${definition}`,
    ...both.map((one) => `alter table ${one} force row level security`),
  ]
}

/** @throws Fault `misconfigured` where a table would be left behind */
export function assertAllTables(names: readonly string[], there: ReadonlySet<string>): void {
  const missing = names.filter((name) => !there.has(name))
  if (missing.length > 0)
    throw new Fault(
      'misconfigured',
      `The embedded store has tables that this version does not make: ${missing.slice(0, 5).join(', ')}. They would be left behind, so nothing more is copied.`,
    )
}
