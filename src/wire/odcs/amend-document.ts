/**
 * Writes what a table's columns have become into the contract document that declares them, as edits of single paths. It
 * decides nothing: which properties change, and how, is said by the caller.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { DocumentEdit } from './edit-document.ts'
import { pointerOf } from './pointer.ts'
import { DocumentRefusal } from './problem.ts'
import type { ContractDocument } from './read-document.ts'

/** A change of one property, named as in the model. */
export type Amendment =
  | { readonly kind: 'remove'; readonly property: string }
  /** Sets members; those that are undefined are left. */
  | { readonly kind: 'set'; readonly property: string; readonly members: PropertyMembers }
  /** The column has another name: the physical name where there is one, else the name. */
  | { readonly kind: 'rename'; readonly property: string; readonly to: string }
  | { readonly kind: 'add'; readonly members: PropertyMembers & { readonly name: string } }

export interface PropertyMembers {
  readonly id?: string
  readonly name?: string
  readonly logicalType?: string
  readonly physicalType?: string
  readonly required?: boolean
  readonly primaryKey?: boolean
}

export interface Amendments {
  /** The version number of the amended document. */
  readonly version: string
  /** Index of the object in `schema`. */
  readonly schema: number
  readonly amendments: readonly Amendment[]
}

/** The edits. @throws DocumentRefusal where a property is not there */
export function amendmentEdits(
  { value }: ContractDocument,
  { version, schema, amendments }: Amendments,
): readonly DocumentEdit[] {
  const all = value.get('schema')
  const object = Array.isArray(all) ? (all as readonly JsonValue[])[schema] : undefined
  const at = ['schema', String(schema)]
  if (!isJsonObject(object)) throw missing(at)
  const edits: DocumentEdit[] = [{ op: 'replace', path: '/version', value: version }]
  const removed: (readonly string[])[] = []
  for (const one of amendments) {
    if (one.kind === 'add') {
      edits.push({ op: 'add', path: pointerOf([...at, 'properties', '-']), value: membersOf(one.members) })
      continue
    }
    const found = find(object, [...at, 'properties'], one.property)
    if (found === undefined) throw missing([...at, 'properties'])
    if (one.kind === 'remove') removed.push(found.steps)
    else {
      const members =
        one.kind === 'set'
          ? membersOf(one.members)
          : new Map([[found.property.has('physicalName') ? 'physicalName' : 'name', one.to]])
      for (const [name, member] of members)
        edits.push({ op: 'add', path: pointerOf([...found.steps, name]), value: member })
    }
  }
  // The last goes first, because a removal moves what follows it; what is inside goes with what is around it.
  const inOrder = removed
    .filter((steps) => !removed.some((other) => other.length < steps.length && startsWith(steps, other)))
    .toSorted((a, b) => -comparePaths(a, b))
  return [...edits, ...inOrder.map((steps) => ({ op: 'remove' as const, path: pointerOf(steps) }))]
}

const startsWith = (steps: readonly string[], start: readonly string[]) =>
  start.every((step, index) => steps[index] === step)

function comparePaths(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((step, index) => step !== b[index])
  return at < 0 ? a.length - b.length : Number(a[at]) - Number(b[at] ?? -1)
}

const membersOf = (members: PropertyMembers): JsonObject =>
  new Map(
    Object.entries(members).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined),
  )

function find(
  holder: JsonObject,
  at: readonly string[],
  name: string,
  prefix = '',
): { readonly property: JsonObject; readonly steps: readonly string[] } | undefined {
  const properties = holder.get('properties')
  if (!Array.isArray(properties)) return undefined
  for (const [index, property] of (properties as readonly JsonValue[]).entries()) {
    if (!isJsonObject(property) || property.get('semanticType') === 'measure') continue
    const path = `${prefix}${String(property.get('name'))}`
    const steps = [...at, String(index)]
    if (path === name) return { property, steps }
    const inner = name.startsWith(`${path}.`)
      ? find(property, [...steps, 'properties'], name, `${path}.`)
      : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

function missing(steps: readonly string[]): DocumentRefusal {
  return new DocumentRefusal([{ path: pointerOf(steps), message: 'There is no such property' }])
}
