/**
 * Reads and binds the schema that a contract declares. It is on the edge between contract and table, so it ends with
 * the contract. On save, column names are bound to field ids where the graph has the columns, as in filters and masks.
 */

import { Fault } from '../../base/fault.ts'
import { type ContractSchema, foreignKeysOf } from '../../core/contract-schema.ts'
import type { BoundNames } from '../../core/governed-table.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { type RunQuery, readGovernances } from './governance.ts'

export interface DeclaredSchema {
  readonly schema: ContractSchema
  /** By tableKey, for the table and for those that its foreign keys name. */
  readonly bound: Readonly<Record<string, BoundNames>>
}

/**
 * Binds the names of a schema to columns. A table without a commit through the gateway has no columns yet, so its
 * names are looked up whenever they are shown.
 * @throws Fault `unprocessable` for a column that its table does not have
 */
export async function bindSchema(tx: Tx, table: TableRef, schema: ContractSchema): Promise<DeclaredSchema> {
  const wanted: [TableRef, readonly string[]][] = [
    [table, (schema.properties ?? []).map(({ name }) => name)],
    ...foreignKeysOf(schema, table).flatMap((key): [TableRef, readonly string[]][] => [
      [table, key.columns],
      [key.table, key.referencedColumns],
    ]),
  ]
  const byTable = Map.groupBy(wanted, ([ref]) => tableKey(ref))
  const refs = [...byTable.values()].flatMap(([first]) => (first ? [first[0]] : []))
  const governances = await readGovernances((text, params) => tx.query(text, params), refs)
  const bound = refs.map((ref) => {
    const columns = governances.get(tableKey(ref))?.columns.filter(({ current }) => current) ?? []
    const ids = new Map(columns.map(({ name, fieldId }) => [name, fieldId]))
    const names = (byTable.get(tableKey(ref)) ?? []).flatMap(([, columnNames]) => columnNames)
    const missing = names.find((name) => ids.size > 0 && !ids.has(name))
    if (missing !== undefined)
      throw new Fault('unprocessable', `Table ${tableName(ref)} has no column ${missing}.`)
    const found = names.flatMap((name) => {
      const fieldId = ids.get(name)
      return fieldId === undefined ? [] : [[name, fieldId] as const]
    })
    return [tableKey(ref), Object.fromEntries(found)] as const
  })
  return { schema, bound: Object.fromEntries(bound) }
}

/** The properties of the edge for a declared schema; none where the schema is empty. */
export function schemaProperties({ schema, bound }: DeclaredSchema): Properties {
  return Object.keys(schema).length === 0 ? {} : { schema, bound }
}

/** The declared schema of an edge; undefined where its contract declares nothing. */
export function declaredSchema({ schema, bound }: Properties): DeclaredSchema | undefined {
  if (schema === undefined) return undefined
  return { schema: schema as ContractSchema, bound: bound as DeclaredSchema['bound'] }
}

/** The one of `columns` that a declared column is bound to; undefined where there is none. */
export function boundColumn<C extends { readonly fieldId: number; readonly name: string }>(
  { bound }: DeclaredSchema,
  table: TableRef,
  name: string,
  columns: readonly C[],
): C | undefined {
  const names = new Map(Object.entries(bound)).get(tableKey(table)) ?? {}
  const fieldId = new Map(Object.entries(names)).get(name)
  return columns.find((column) => (fieldId === undefined ? column.name === name : column.fieldId === fieldId))
}

/**
 * The schema that the contract of a table declares.
 * @returns undefined where there is no contract or it declares no schema
 * @throws Fault of the store
 */
export async function loadDeclaredSchema(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<ContractSchema | undefined> {
  return (await readDeclared((text, params) => store.tenantQuery(tenant, text, params), table))?.schema
}

/** The field ids that the columns of a table's contract are bound to, by name; empty without a contract. */
export async function readBoundNames(run: RunQuery, table: TableRef): Promise<BoundNames> {
  const bound = (await readDeclared(run, table))?.bound ?? {}
  return new Map(Object.entries(bound)).get(tableKey(table)) ?? {}
}

async function readDeclared(run: RunQuery, table: TableRef): Promise<DeclaredSchema | undefined> {
  const [row] = await run<{ properties: string }>(
    `select e.properties from "GOVERNS" e
     where agtype_access_operator(variadic array[e.properties, '"id"'::agtype]) = to_jsonb($1::text)::text::agtype`,
    [nodeId(tableKey(table))],
  )
  return row && declaredSchema(parseAgtype(row.properties) as Properties)
}
