/** Writes the SQL that creates a catalog of empty tables, and the SQL that drops it. */

import { quoteIdentifier, quoteText } from '../../../base/sql-text.ts'
import { isValidIdentifier } from '../../../query/compile/output/shown-columns.ts'
import { objectIds } from './object-ids.ts'
import { type ShadowForeignKey, type ShadowTable, typeText } from './shadow-table.ts'

/** OID of the role as which every session runs. The role is renamed to the session's principal. */
export const readerOid = 999_999

/** One tenant's catalog, as a database loads it: everything that a statement may see, and nothing else. */
export interface ShadowScope {
  /** Identifies the scope. The tenant is part of the key. */
  readonly key: string
  /** Each runs in one transaction, in this order. */
  readonly create: readonly string[]
  /** Runs in one transaction; empty where the database is replaced instead of emptied. */
  readonly drop: string
  /** Characters of all texts. */
  readonly textLength: number
  readonly tableCount: number
}

/** The reader's name while a scope is created. Afterwards it is renamed to a principal. */
export const readerNow = 'reader'

const named = (schemaName: string, tableName: string) =>
  `${quoteIdentifier(schemaName)}.${quoteIdentifier(tableName)}`
const list = (names: readonly string[]) => names.map(quoteIdentifier).join(', ')

/**
 * Writes the catalog of one tenant's tables.
 * @param database the database name that the client connected with
 */
export function shadowScopeOf(key: string, database: string, tables: readonly ShadowTable[]): ShadowScope {
  const oid = objectIds()
  const sorted = [...tables].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const schemas = [...new Set(sorted.map(({ schemaName }) => schemaName))].filter((name) => name !== 'public')
  const shown = new Map(sorted.map((table) => [orderOf(table), table]))
  const create = [
    ...firstNames(database),
    ...schemas.map(
      (name) => `insert into pg_namespace values (${oid('schema', name)}, ${quoteText(name)}, 10, null)`,
    ),
    ...sorted.flatMap((table) => createTable(table, oid, shown)),
    ...sorted.flatMap((table) =>
      (table.foreignKeys ?? [])
        .filter((key) => isValidKey(table, key, shown.get(orderOf(key))))
        .map((key) => addForeignKey(table, key)),
    ),
    ...[...schemas, ...(shown.size > 0 ? ['public'] : [])].flatMap((name) => [
      `grant usage on schema ${quoteIdentifier(name)} to ${readerNow}`,
      `grant select on all tables in schema ${quoteIdentifier(name)} to ${readerNow}`,
    ]),
  ]
  const inPublic = sorted.filter(({ schemaName }) => schemaName === 'public')
  const drop = [
    ...schemas.map((name) => `drop schema ${quoteIdentifier(name)} cascade`),
    ...inPublic.map(({ tableName }) => `drop table ${named('public', tableName)} cascade`),
  ]
  return scopeOf(key, [create.join(';\n')], drop.join(';\n'), sorted.length)
}

/** @param create see {@link ShadowScope} */
export function scopeOf(
  key: string,
  create: readonly string[],
  drop: string,
  tableCount: number,
): ShadowScope {
  const textLength = create.reduce((sum, text) => sum + text.length, drop.length)
  return { key, create, drop, textLength, tableCount }
}

/** Names the reader and the database, before anything is created. */
export function firstNames(database: string): readonly string[] {
  return [
    `update pg_authid set rolname = '${readerNow}' where oid = ${readerOid}`,
    `update pg_database set datname = ${quoteText(database)}`,
  ]
}

function orderOf({ schemaName, tableName }: { readonly schemaName: string; readonly tableName: string }) {
  return JSON.stringify([schemaName, tableName])
}

function createTable(
  table: ShadowTable,
  oid: (...key: readonly string[]) => number,
  shown: ReadonlyMap<string, ShadowTable>,
): readonly string[] {
  const { schemaName, tableName, columns, comment, primaryKey = [] } = table
  const name = named(schemaName, tableName)
  const id = (part: string) => oid(part, schemaName, tableName)
  const next = (what: string, part: string) =>
    `pg_catalog.binary_upgrade_set_next_${what}('${id(part)}'::oid)`
  const key = isKeyed(table)
    ? [`constraint ${quoteIdentifier(keyName(table, id('index'), shown))} primary key (${list(primaryKey)})`]
    : []
  const definitions = [
    ...columns.map(
      (column) => `${quoteIdentifier(column.name)} ${typeText(column)}${column.notNull ? ' not null' : ''}`,
    ),
    ...key,
  ]
  return [
    `select ${next('heap_pg_class_oid', 'table')}, ${next('heap_relfilenode', 'table')},
      ${next('pg_type_oid', 'type')}, ${next('array_pg_type_oid', 'array')}`,
    ...(key.length > 0
      ? [`select ${next('index_pg_class_oid', 'index')}, ${next('index_relfilenode', 'index')}`]
      : []),
    `create table ${name} (${definitions.join(', ')})`,
    ...(comment === undefined ? [] : [`comment on table ${name} is ${quoteText(comment)}`]),
    ...columns.flatMap((column) =>
      column.comment === undefined
        ? []
        : [`comment on column ${name}.${quoteIdentifier(column.name)} is ${quoteText(column.comment)}`],
    ),
  ]
}

/** Whether PostgreSQL accepts the primary key. An invalid key is left out, so that the catalog still loads. */
function isKeyed({ columns, primaryKey = [] }: ShadowTable): boolean {
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  const names = new Set(primaryKey)
  return (
    primaryKey.length > 0 &&
    primaryKey.length <= 32 &&
    names.size === primaryKey.length &&
    primaryKey.every((name) => types.has(name) && !/^jsonb?/.test(types.get(name) ?? ''))
  )
}

/** The name that PostgreSQL would choose, unless that is too long or names a table. */
function keyName(
  { schemaName, tableName }: ShadowTable,
  id: number,
  shown: ReadonlyMap<string, ShadowTable>,
): string {
  const name = `${tableName}_pkey`
  const isFree = !shown.has(orderOf({ schemaName, tableName: name }))
  return isFree && isValidIdentifier(name) ? name : `pkey_${id}`
}

/** Whether a foreign key refers to the primary key of a table that is shown, type by type. */
function isValidKey(table: ShadowTable, key: ShadowForeignKey, target: ShadowTable | undefined): boolean {
  if (target === undefined || !isKeyed(target)) return false
  const type = ({ columns }: ShadowTable, name: string | undefined) =>
    columns.find((column) => column.name === name)?.type
  return (
    // In any order, because columns are matched by pairs.
    Bun.deepEquals(key.referencedColumns.toSorted(), target.primaryKey?.toSorted()) &&
    key.columns.length === key.referencedColumns.length &&
    new Set(key.columns).size === key.columns.length &&
    key.columns.every((name, index) => {
      const own = type(table, name)
      return own !== undefined && own === type(target, key.referencedColumns[index])
    })
  )
}

function addForeignKey(table: ShadowTable, key: ShadowForeignKey): string {
  const target = `${named(key.schemaName, key.tableName)} (${list(key.referencedColumns)})`
  return `alter table ${named(table.schemaName, table.tableName)} add foreign key (${list(key.columns)}) references ${target}`
}
