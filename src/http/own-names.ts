/**
 * Gives names of tables in the input of an operation the form that the tenant's catalogs have for them: lower case, where all
 * of them fold names. Of a tenant with a catalog that keeps names apart, what was sent stays.
 */

import { foldName } from '../core/name-case.ts'

/** Marks the schema of a name. JSON does not show it. */
export const isName = Symbol('name of a table or a level of a namespace')

/** As much of a schema as is looked at. */
interface NamedSchema {
  readonly [isName]?: true
  readonly items?: NamedSchema
  readonly properties?: Readonly<Record<string, NamedSchema>>
}

/** The input with every name folded. It is the same value where nothing changes. */
function foldNames<T>(schema: NamedSchema, value: T): T
function foldNames(schema: NamedSchema, value: unknown): unknown {
  if (schema[isName] && typeof value === 'string') return foldName(value)
  const { items, properties } = schema
  if (items !== undefined && Array.isArray(value)) {
    const folded = value.map((one: unknown) => foldNames(items, one))
    return folded.every((one, index) => one === value[index]) ? value : folded
  }
  if (properties === undefined || typeof value !== 'object' || value === null) return value
  const members = value as Readonly<Record<string, unknown>>
  const changed = Object.entries(properties).flatMap(([name, member]) => {
    const folded = foldNames(member, members[name])
    return folded === members[name] ? [] : [[name, folded] as const]
  })
  return changed.length === 0 ? value : { ...members, ...Object.fromEntries(changed) }
}

/**
 * The same, if the tenant's catalogs fold names. They are asked for only where some name is not in lower case.
 * @param foldsAll whether all catalogs of the tenant fold names
 */
export async function ownNames<T>(
  schema: object | undefined,
  value: T,
  foldsAll: () => Promise<boolean>,
): Promise<T> {
  const folded = schema === undefined ? value : foldNames(schema as NamedSchema, value)
  return folded !== value && (await foldsAll()) ? folded : value
}
