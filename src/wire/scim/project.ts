/** Chooses the attributes of an answer by `attributes` and `excludedAttributes` (RFC 7644, 3.9). */

import { isScimObject, type ScimObject } from './match.ts'
import { extensionOf, type Place, placeOf, type ResourceSchema } from './schemas.ts'
import { badScim } from './scim-fault.ts'

/** Which attributes an answer has. */
export type Projection =
  | { readonly kind: 'all' }
  | { readonly kind: 'only' | 'without'; readonly places: readonly (Place | string)[] }

const namesMax = 100

/**
 * Reads the two parameters; at most one of them may be there. An attribute that there is not is ignored.
 * @throws Fault `bad_request` (invalidSyntax)
 */
export function readProjection(
  schema: ResourceSchema,
  only: readonly string[],
  without: readonly string[],
): Projection {
  if (only.length > 0 && without.length > 0)
    throw badScim('invalidSyntax', 'Send `attributes` or `excludedAttributes`, not both.')
  const names = only.length > 0 ? only : without
  if (names.length > namesMax) throw badScim('invalidSyntax', `At most ${namesMax} attributes may be named.`)
  if (names.length === 0) return { kind: 'all' }
  const places = names.flatMap((name) => extensionOf(schema, name) ?? placeOf(schema, name) ?? [])
  return { kind: only.length > 0 ? 'only' : 'without', places }
}

/** Whether an answer shows an attribute at the top level, so that what it lacks need not be read. */
export function shows(projection: Projection, name: string): boolean {
  if (projection.kind === 'all') return true
  const isNamed = projection.places.some(
    (place) =>
      typeof place !== 'string' &&
      place.extension === undefined &&
      place.attribute.name === name &&
      (projection.kind === 'only' || place.sub === undefined),
  )
  return projection.kind === 'only' ? isNamed : !isNamed
}

const always = ['schemas', 'id']

/** The resource with the attributes that were asked for. `schemas` and `id` are always there. */
export function project(projection: Projection, resource: ScimObject): ScimObject {
  if (projection.kind === 'all') return resource
  return projection.kind === 'only' ? only(projection.places, resource) : without(projection.places, resource)
}

function only(places: readonly (Place | string)[], resource: ScimObject): ScimObject {
  const shown: Record<string, unknown> = {}
  for (const name of always) if (resource[name] !== undefined) shown[name] = resource[name]
  for (const place of places) {
    if (typeof place === 'string') {
      if (resource[place] !== undefined) shown[place] = resource[place]
      continue
    }
    const { extension, attribute, sub } = place
    const from = extension === undefined ? resource : resource[extension]
    if (!isScimObject(from) || from[attribute.name] === undefined) continue
    const to = extension === undefined ? shown : partOf(shown, extension)
    const value = from[attribute.name]
    if (sub === undefined) to[attribute.name] = value
    else to[attribute.name] = merged(to[attribute.name], value, sub.name)
  }
  return shown
}

function partOf(shown: Record<string, unknown>, extension: string): Record<string, unknown> {
  const held = isScimObject(shown[extension]) ? shown[extension] : {}
  shown[extension] = held
  return held
}

/** One part of a value, or of each of several, beside the parts that are there. */
function merged(there: unknown, value: unknown, part: string): unknown {
  if (Array.isArray(value))
    return value.map((one, at) => merged(Array.isArray(there) ? there[at] : undefined, one, part))
  const held = isScimObject(value) && value[part] !== undefined ? { [part]: value[part] } : {}
  return { ...(isScimObject(there) && there), ...held }
}

function without(places: readonly (Place | string)[], resource: ScimObject): ScimObject {
  const shown = structuredClone(resource) as Record<string, unknown>
  for (const place of places) {
    if (typeof place === 'string') {
      delete shown[place]
      continue
    }
    const { extension, attribute, sub } = place
    if (extension === undefined && always.includes(attribute.name)) continue
    const from = extension === undefined ? shown : shown[extension]
    if (!isScimObject(from)) continue
    const holder = from as Record<string, unknown>
    if (sub === undefined) delete holder[attribute.name]
    else
      for (const value of [holder[attribute.name]].flat())
        if (isScimObject(value)) delete (value as Record<string, unknown>)[sub.name]
  }
  return shown
}
