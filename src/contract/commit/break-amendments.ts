/**
 * Says what a commit makes of the columns that a contract declares: in words, and as amendments of the document. A pure
 * function; it finds what the policies of derive-policies.ts deny.
 */

import type { TableColumns } from '../../core/contract-break.ts'
import type { GoverningSchema } from '../../store/contract/put-in-force.ts'
import type { Amendment, PropertyMembers } from '../../wire/odcs/amend-document.ts'
import type { ModelProperty } from '../../wire/odcs/model.ts'
import { admits, admittedTypes, logicalTypeOf } from './admitted-types.ts'
import { columnPaths } from './column-paths.ts'

export interface BrokenColumn {
  /** A clause without a full stop: `the column email is dropped`. */
  readonly what: string
  readonly amendment: Amendment
}

type Columns = ReadonlyMap<string, TableColumns['columns'][number]>

/** What a commit breaks of an object of a contract. */
export function brokenColumns(
  schema: GoverningSchema,
  before: TableColumns | undefined,
  after: TableColumns,
): readonly BrokenColumn[] {
  const [was, is] = [columnsByName(before), columnsByName(after)]
  const wereKeys = new Set(before?.identifierFieldIds)
  const keys = new Set(after.identifierFieldIds)
  const broken: BrokenColumn[] = []
  const taken = new Set<string>()
  for (const [property, name] of columnPaths(schema.properties)) {
    const old = was.get(name)
    const add = (what: string, amendment: Amendment) =>
      broken.push({ what: `the column ${name} ${what}`, amendment })
    const set = (what: string, members: PropertyMembers) =>
      add(what, { kind: 'set', property: property.name, members })
    const renamed =
      is.has(name) || old === undefined
        ? undefined
        : [...is.values()].find(({ fieldId }) => fieldId === old.fieldId)
    const now = renamed ?? is.get(name)
    taken.add(now?.name ?? name)
    if (now === undefined) {
      add(old === undefined ? 'is missing' : 'is dropped', { kind: 'remove', property: property.name })
      continue
    }
    if (renamed !== undefined)
      add(`is renamed to ${renamed.name}`, {
        ...{ kind: 'rename', property: property.name, to: lastStep(renamed.name, name) },
      })
    if (!admits(admittedTypes(property), now.type))
      set(`has the type ${now.type}`, typeMembers(property, now.type))
    if (old !== undefined && old.fieldId !== now.fieldId)
      set('is another column of the same name', { id: `${lastStep(name, name)}-${now.fieldId}` })
    if (property.required && old?.required === true && !now.required) set('may be null', { required: false })
    if (property.primaryKey && old !== undefined && wereKeys.has(old.fieldId) && !keys.has(now.fieldId))
      set('is no identifier field any more', { primaryKey: false })
  }
  return [...broken, ...(schema.additionalColumns === 'deny' ? addedColumns(is, taken) : [])]
}

/** Top-level columns that no property names. */
function addedColumns(columns: Columns, named: ReadonlySet<string>): readonly BrokenColumn[] {
  return [...columns]
    .filter(([name]) => !name.includes('.') && !named.has(name))
    .map(([name, { type }]) => {
      const logicalType = logicalTypeOf(type)
      const members = { name, ...(logicalType !== undefined && { logicalType }), physicalType: type }
      return { what: `the column ${name} is not in the contract`, amendment: { kind: 'add', members } }
    })
}

/** Without spaces, as `manifest.column_type` writes types. */
function columnsByName(columns: TableColumns | undefined): Columns {
  return new Map(
    columns?.columns.map((column) => [column.name, { ...column, type: column.type.replaceAll(' ', '') }]),
  )
}

/** The members by which the property admits a type; what the document does not state stays unstated. */
function typeMembers(property: ModelProperty, type: string) {
  const { physicalType, logicalType } = property
  const logical = logicalTypeOf(type)
  const fits = admits(admittedTypes({ ...(logicalType !== undefined && { logicalType }) }), type)
  return {
    ...(physicalType !== undefined && { physicalType: type }),
    ...(logicalType !== undefined && !fits && logical !== undefined && { logicalType: logical }),
  }
}

/** The name of a nested column in its struct; the whole name of a top-level one. */
function lastStep(name: string, sibling: string): string {
  const around = sibling.slice(0, sibling.lastIndexOf('.') + 1)
  return around !== '' && name.startsWith(around) ? name.slice(around.length) : name
}
