/**
 * Writes the SQL that loads a catalog of very many tables: their rows in pg_class, pg_attribute and pg_description, as
 * if they had been created. It is a tenth of the time and memory of creating them. They have no keys, no files and no
 * row types, and the database that holds them is replaced, never emptied.
 */

import { eachInTurns } from '../../../base/in-turns.ts'
import { quoteIdentifier, quoteText } from '../../../base/sql-text.ts'
import { objectIds } from './object-ids.ts'
import { firstNames, readerNow, type ShadowScope, scopeOf } from './shadow-ddl.ts'
import { type ShadowTable, typeText } from './shadow-table.ts'

/** Tables of one transaction. */
const tablesOfText = 250
/** OID of the schema `public`. */
const publicOid = 2200
/** OIDs of a table that has a column of each type. Rows are copied from its rows. They lie below those of tables. */
const sampleOid = 999_998
const sampleTypeOids = [999_997, 999_996] as const
const sampleName = 'public."covenant sample"'
/** PostgreSQL's most columns of a table. */
const sampleColumnsMax = 1_600

/**
 * Writes the catalog of one tenant's tables.
 * @param database the database name that the client connected with
 */
export async function bulkScopeOf(
  key: string,
  database: string,
  tables: readonly ShadowTable[],
): Promise<ShadowScope> {
  const oid = objectIds()
  const types = new Map<string, number>()
  const schemas = new Map<string, number>([['public', publicOid]])
  const loads: string[] = []
  let rows = newRows()
  await eachInTurns(tables, undefined, (table, index) => {
    const { schemaName, tableName } = table
    const schema = schemas.get(schemaName) ?? oid('schema', schemaName)
    schemas.set(schemaName, schema)
    addTable(rows, table, { id: oid('table', schemaName, tableName), schema, types })
    if ((index + 1) % tablesOfText !== 0 && index + 1 < tables.length) return
    loads.push(textOf(rows))
    rows = newRows()
  })
  const first = [...firstNames(database), ...schemaTexts(schemas), ...sampleTexts(types)]
  return scopeOf(key, [first.join(';\n'), ...loads, `drop table ${sampleName}`], '', tables.length)
}

interface Rows {
  readonly tables: string[]
  readonly columns: string[]
  readonly comments: string[]
}

const newRows = (): Rows => ({ tables: [], columns: [], comments: [] })

interface TableIds {
  readonly id: number
  readonly schema: number
  /** Place of each type's column in the sample. */
  readonly types: Map<string, number>
}

function addTable(rows: Rows, { tableName, columns, comment }: ShadowTable, ids: TableIds): void {
  const { id, schema, types } = ids
  const commented = (number: number, text: string | undefined) => {
    if (text !== undefined) rows.comments.push(`(${id},${number},${quoteText(text)})`)
  }
  rows.tables.push(`(${id},${quoteText(tableName)},${schema},${columns.length})`)
  commented(0, comment)
  for (const [index, column] of columns.entries()) {
    const type = typeText(column)
    const place = types.get(type) ?? types.size + 1
    types.set(type, place)
    if (place > sampleColumnsMax) throw new RangeError('the catalog has too many types')
    rows.columns.push(`(${id},${quoteText(column.name)},${index + 1},${place},${column.notNull})`)
    commented(index + 1, column.comment)
  }
}

function textOf({ tables, columns, comments }: Rows): string {
  const texts = [
    `insert into pg_class select v.id, v.name, v.schema, 0, s.reloftype, s.relowner, s.relam, v.id, s.reltablespace,
      s.relpages, s.reltuples, s.relallvisible, s.relallfrozen, 0, false, s.relisshared, s.relpersistence, s.relkind,
      v.columns, 0, false, false, false, false, false, true, s.relreplident, false, 0, s.relfrozenxid, s.relminmxid,
      s.relacl, null, null
    from (values ${tables.join()}) as v (id, name, schema, columns), pg_class s where s.oid = ${sampleOid}`,
  ]
  if (columns.length > 0)
    texts.push(`insert into pg_attribute (attrelid, attname, attnum, attnotnull, atttypid, attlen, atttypmod, attndims,
      attbyval, attalign, attstorage, attcompression, atthasdef, atthasmissing, attidentity, attgenerated, attisdropped,
      attislocal, attinhcount, attcollation)
    select v.id, v.name, v.number, v.required, s.atttypid, s.attlen, s.atttypmod, s.attndims, s.attbyval, s.attalign,
      s.attstorage, s.attcompression, false, false, '', '', false, true, 0, s.attcollation
    from (values ${columns.join()}) as v (id, name, number, place, required)
      join pg_attribute s on s.attrelid = ${sampleOid} and s.attnum = v.place`)
  if (comments.length > 0)
    texts.push(`insert into pg_description (objoid, classoid, objsubid, description)
    select v.id, 'pg_class'::regclass, v.number, v.comment from (values ${comments.join()}) as v (id, number, comment)`)
  return texts.join(';\n')
}

function schemaTexts(schemas: ReadonlyMap<string, number>): readonly string[] {
  return [...schemas].flatMap(([name, id]) => [
    ...(id === publicOid ? [] : [`insert into pg_namespace values (${id}, ${quoteText(name)}, 10, null)`]),
    `grant usage on schema ${quoteIdentifier(name)} to ${readerNow}`,
  ])
}

function sampleTexts(types: ReadonlyMap<string, number>): readonly string[] {
  const next = (what: string, id: number) => `pg_catalog.binary_upgrade_set_next_${what}('${id}'::oid)`
  const columns = [...types].map(([type, place]) => `c${place} ${type}`)
  return [
    `select ${next('heap_pg_class_oid', sampleOid)}, ${next('heap_relfilenode', sampleOid)},
      ${next('pg_type_oid', sampleTypeOids[0])}, ${next('array_pg_type_oid', sampleTypeOids[1])}`,
    `create table ${sampleName} (${columns.join(', ')})`,
    `grant select on ${sampleName} to ${readerNow}`,
  ]
}
