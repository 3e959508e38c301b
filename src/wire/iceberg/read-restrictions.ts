/**
 * Reads, joins and writes Iceberg's `read-restrictions`, by which a catalog limits what a caller sees of a table. What is
 * malformed or not known counts as a restriction that nobody can apply.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObject, parseJson } from '../../base/json.ts'
import type { IcebergType } from '../../core/iceberg-type.ts'
import { chooseMask, isMaskAction, type MaskAction } from '../../core/mask.ts'
import { limits } from '../../limits.ts'
import { type Predicate, parsePredicate, predicateJson } from './predicate.ts'

export const restrictionsMember = 'read-restrictions'

/** The actions of the specification: ours without `apply-expression`. */
export type ToldAction = Exclude<MaskAction, 'apply-expression'>

export interface ReadRestrictions {
  /** Rows for which it is not true are hidden. Undefined: none is. */
  readonly filter: Predicate | undefined
  /** The action of each masked field, by field id. */
  readonly projections: ReadonlyMap<number, ToldAction>
}

export const unrestricted: ReadRestrictions = { filter: undefined, projections: new Map() }

/** @param value the member's value; undefined where the reply has no such member */
export function restrictsReading(value: JsonValue | undefined): boolean {
  if (value === undefined) return false
  if (!isJsonObject(value)) return true
  return [...value].some(
    ([key, part]) => !(key === 'required-column-projections' && Array.isArray(part) && part.length === 0),
  )
}

/** As {@link restrictsReading}, for the members of a reply as bytes. */
export function isRestricted(members: ReadonlyMap<string, Uint8Array>): boolean {
  const raw = members.get(restrictionsMember)
  if (raw === undefined) return false
  try {
    return restrictsReading(parseJson(raw, { depthMax: limits.jsonDepthMax }))
  } catch {
    return true
  }
}

const bounds = { nodesMax: 10_000, valuesMax: 100_000 } as const
const notUnderstood = (what: string) => new Fault('upstream_failed', `The upstream's restrictions: ${what}.`)

/**
 * The restrictions of a reply.
 * @returns undefined where they are malformed, or say what is not known here
 */
export function readRestrictions(members: ReadonlyMap<string, Uint8Array>): ReadRestrictions | undefined {
  const raw = members.get(restrictionsMember)
  if (raw === undefined) return unrestricted
  try {
    const value = parseJson(raw, { depthMax: limits.jsonDepthMax })
    if (!isJsonObject(value)) return undefined
    const known = ['required-row-filter', 'required-column-projections']
    if ([...value.keys()].some((key) => !known.includes(key))) return undefined
    const filter = value.get('required-row-filter')
    const predicate = filter === undefined ? undefined : parsePredicate(filter, bounds, notUnderstood)
    // Only what can be written again, with fields by id, was understood.
    if (predicate !== undefined) predicateJson(predicate)
    const projections = projectionsOf(value.get('required-column-projections'))
    return projections && { filter: predicate, projections }
  } catch {
    return undefined
  }
}

function projectionsOf(value: JsonValue | undefined): ReadonlyMap<number, ToldAction> | undefined {
  if (value === undefined) return new Map()
  if (!Array.isArray(value)) return undefined
  const found = new Map<number, ToldAction>()
  for (const one of value as readonly JsonValue[]) {
    const id = isJsonObject(one) && one.size === 2 ? one.get('field-id') : undefined
    const action = isJsonObject(one) ? one.get('action') : undefined
    if (typeof id !== 'bigint' || typeof action !== 'string') return undefined
    if (!isMaskAction(action) || action === 'apply-expression' || found.has(Number(id))) return undefined
    found.set(Number(id), action)
  }
  return found
}

/** A field as far as a mask must fit it. */
interface MaskableField {
  readonly type: IcebergType
  readonly required: boolean
}

/**
 * Restrictions that hide what either of two hides: both filters, and of two masks on a field the stricter.
 * @param fields the top-level fields of all schemas of the table, by id
 * @returns undefined where a mask does not fit its field, neither of two is the stricter, or a field is not there
 */
export function joinRestrictions(
  left: ReadRestrictions,
  right: ReadRestrictions,
  fields: ReadonlyMap<number, MaskableField>,
): ReadRestrictions | undefined {
  const projections = new Map<number, ToldAction>()
  for (const id of [...left.projections.keys(), ...right.projections.keys()]) {
    const field = fields.get(id)
    if (field === undefined) return undefined
    const actions = [left.projections.get(id), right.projections.get(id)].filter((one) => one !== undefined)
    const { mask } = chooseMask(
      actions.map((action) => ({ action })),
      field.type,
      field.required,
    )
    if (mask === undefined) return undefined
    projections.set(id, mask.action)
  }
  const filters = [left.filter, right.filter].filter((one) => one !== undefined)
  const [first, second] = filters
  const filter: Predicate | undefined =
    first === undefined || second === undefined ? first : { kind: 'and', left: first, right: second }
  return { filter, projections }
}

/** The member of a LoadTableResult; undefined where nothing is restricted. */
export function restrictionsJson({ filter, projections }: ReadRestrictions): JsonObject | undefined {
  if (filter === undefined && projections.size === 0) return undefined
  return jsonObject({
    'required-row-filter': filter && predicateJson(filter),
    'required-column-projections':
      projections.size === 0
        ? undefined
        : [...projections].map(([id, action]) => jsonObject({ 'field-id': BigInt(id), action })),
  })
}
