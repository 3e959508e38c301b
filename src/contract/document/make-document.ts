/**
 * Makes a document of a contract that was put on its tables without one. It says what the contract declares of them and
 * which row filters and masks they have by name, and nothing that nobody said, such as types.
 */

import type { JsonObject } from '../../base/json.ts'
import { type ContractSchema, foreignKeysOf, type SchemaProperty } from '../../core/contract-schema.ts'
import type { Governance } from '../../core/governance.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { map, maskMember, ours, some } from '../../wire/odcs/members.ts'

/** A table with what governs it and what its contract declares. */
export interface MadeTable {
  readonly governance: Governance
  readonly declared: ContractSchema
}

/** The document of a contract on these tables. Tags, and what came by one, are not the contract's to say. */
export function makeDocument(id: string, version: number, tables: readonly MadeTable[]): JsonObject {
  const names = objectNames(tables)
  return map({
    apiVersion: 'v3.2.0',
    kind: 'DataContract',
    id,
    version: `${version}.0.0`,
    status: 'active',
    schema: tables.map((table) => objectOf(table, names.get(tableKey(table.governance.ref)) ?? '')),
  })
}

/**
 * Objects are named as their tables, unless two have one name, or `namespace.table.column` would be read as a reference
 * into the object.
 */
function objectNames(tables: readonly MadeTable[]): ReadonlyMap<string, string> {
  const refs = tables.map(({ governance }) => governance.ref)
  const others = tables.flatMap(({ governance, declared }) => foreignKeysOf(declared, governance.ref))
  const namespaces = new Set(
    [...refs, ...others.map(({ table }) => table)].map(({ namespace }) => namespace[0]),
  )
  const isTaken = (name: string) => namespaces.has(name) || refs.filter((one) => one.name === name).length > 1
  return new Map(
    refs.map((ref) => [tableKey(ref), isTaken(ref.name) ? tableName(ref).replaceAll('.', '__') : ref.name]),
  )
}

const reference = (table: TableRef, column: string) => `${tableName(table)}.${column}`

function objectOf({ governance, declared }: MadeTable, name: string): JsonObject {
  const { ref, rowFilters, columns } = governance
  const undeclared = columns.filter(
    (column) =>
      protectionOf(governance, column.name) !== undefined &&
      !declared.properties?.some((one) => one.name === column.name),
  )
  const properties = [...(declared.properties ?? []), ...undeclared.map((column) => ({ name: column.name }))]
  const own = rowFilters.filter(({ origin }) => origin.kind === 'table').map(filterOf)
  const table = map({ namespace: [...ref.namespace], name: ref.name })
  return map({
    name,
    description: declared.description,
    customProperties: [ours(map({ table, rowFilters: some(own) }))],
    properties: some(properties.map((property) => propertyOf(property, governance))),
    relationships: some(
      foreignKeysOf({ relationships: declared.relationships ?? [] }, ref).map((key) =>
        map({
          type: 'foreignKey',
          from: key.columns.map((column) => reference(ref, column)),
          to: key.referencedColumns.map((column) => reference(key.table, column)),
        }),
      ),
    ),
  })
}

function propertyOf(property: SchemaProperty, governance: Governance): JsonObject {
  const { name, description, primaryKey, primaryKeyPosition: position, unique } = property
  const protection = protectionOf(governance, name)
  return map({
    name,
    description,
    primaryKey,
    primaryKeyPosition: position === undefined ? undefined : BigInt(position),
    unique,
    relationships: some(
      foreignKeysOf({ properties: [property] }, governance.ref).map((key) =>
        map({ type: 'foreignKey', to: reference(key.table, key.referencedColumns[0] ?? '') }),
      ),
    ),
    customProperties: protection && [ours(protection)],
  })
}

/** The masks and row filters of a column; undefined where it has none of its own. */
function protectionOf({ columns, rowFilters }: Governance, name: string): JsonObject | undefined {
  const column = columns.find((one) => one.current && one.name === name)
  const masks = (column?.masks ?? []).filter(({ origin }) => origin.kind === 'column').map(maskMember)
  const filters = rowFilters
    .filter(({ origin, fieldId }) => origin.kind === 'column' && fieldId === column?.fieldId)
    .map(filterOf)
  if (masks.length + filters.length === 0) return undefined
  return map({ masks: some(masks), rowFilters: some(filters) })
}

function filterOf({ policyId, expression, exemptRoles }: Governance['rowFilters'][number]): JsonObject {
  return map({ id: policyId, expression, exemptRoles: some(exemptRoles) })
}
