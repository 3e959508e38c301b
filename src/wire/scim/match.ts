/**
 * Evaluates filters of SCIM over a resource (RFC 7644, 3.4.2.2). Texts are compared without case unless the attribute
 * is `caseExact`. A comparison over several values holds where one of them fulfils it. An attribute without a value
 * fulfils only `ne`, and `eq null`.
 */

import { comparedAttribute, type Filter } from './filter.ts'
import type { Attribute, Place } from './schemas.ts'

/** A resource or a value of a complex attribute, as JSON. */
export type ScimObject = Readonly<Record<string, unknown>>

/** Whether a resource fulfils a filter. */
export function matches(filter: Filter, resource: ScimObject): boolean {
  switch (filter.op) {
    case 'and':
      return matches(filter.left, resource) && matches(filter.right, resource)
    case 'or':
      return matches(filter.left, resource) || matches(filter.right, resource)
    case 'not':
      return !matches(filter.of, resource)
    case 'some':
      return valuesOf(filter.place, resource).some(
        (value) => isScimObject(value) && matches(filter.of, value),
      )
    case 'pr':
      return valuesOf(filter.place, resource).some(isPresent)
    default:
      return comparesWith(filter, resource)
  }
}

/** Whether a filter says anything of an attribute of this name. */
export function mentions(filter: Filter, name: string): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return mentions(filter.left, name) || mentions(filter.right, name)
    case 'not':
      return mentions(filter.of, name)
    default:
      return filter.place.extension === undefined && filter.place.attribute.name === name
  }
}

/** Whether a value is an object of JSON. */
export function isScimObject(value: unknown): value is ScimObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function comparesWith(filter: Filter & { readonly value: unknown }, resource: ScimObject): boolean {
  const { op, place, value: wanted } = filter as Extract<Filter, { readonly value: unknown }>
  const attribute = comparedAttribute(place)
  if (attribute === undefined) return false
  const values = comparedValues(place, resource).filter(isPresent)
  if (wanted === null) return op === 'eq' ? values.length === 0 : values.length > 0
  if (values.length === 0) return op === 'ne'
  return values.some((value) => holds(op, attribute, value, wanted))
}

function holds(op: string, attribute: Attribute, value: unknown, wanted: string | boolean): boolean {
  if (attribute.type === 'boolean') {
    const isEqual = String(value) === String(wanted).toLowerCase()
    return op === 'eq' ? isEqual : !isEqual
  }
  if (typeof value !== 'string') return op === 'ne'
  const isPart = op === 'co' || op === 'sw' || op === 'ew'
  if (attribute.type === 'dateTime' && !isPart)
    return ordered(op, Math.sign(Date.parse(value) - Date.parse(String(wanted))))
  const [one, other] = [folded(attribute, value), folded(attribute, String(wanted))]
  if (op === 'co') return one.includes(other)
  if (op === 'sw') return one.startsWith(other)
  if (op === 'ew') return one.endsWith(other)
  return ordered(op, one === other ? 0 : one < other ? -1 : 1)
}

function ordered(op: string, sign: number): boolean {
  switch (op) {
    case 'eq':
      return sign === 0
    case 'ne':
      return sign !== 0
    case 'gt':
      return sign > 0
    case 'ge':
      return sign >= 0
    case 'lt':
      return sign < 0
    default:
      return sign <= 0
  }
}

function folded({ caseExact }: Attribute, text: string): string {
  return caseExact === true ? text : text.toLowerCase()
}

function isPresent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return !isScimObject(value) || Object.values(value).some(isPresent)
}

function valuesOf({ extension, attribute, sub }: Place, resource: ScimObject): readonly unknown[] {
  const holder = extension === undefined ? resource : resource[extension]
  const held = isScimObject(holder) ? holder[attribute.name] : undefined
  const values = Array.isArray(held) ? held : [held]
  return sub === undefined
    ? values
    : values.map((value) => (isScimObject(value) ? value[sub.name] : undefined))
}

/** The compared values: of a complex attribute, those of its `value`. */
function comparedValues(place: Place, resource: ScimObject): readonly unknown[] {
  const values = valuesOf(place, resource)
  return values.map((value) => (isScimObject(value) ? value.value : value))
}
