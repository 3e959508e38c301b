/**
 * Reads PATCH requests of SCIM (RFC 7644, 3.5.2) and applies them to a resource. Members of a group are not applied
 * here: `group-patch.ts` makes additions and removals of them.
 */

import { type PatchPath, parsePath } from './filter.ts'
import { isScimObject, matches, type ScimObject } from './match.ts'
import { readValue } from './read-resource.ts'
import { type Attribute, extensionOf, type ResourceSchema } from './schemas.ts'
import { badScim } from './scim-fault.ts'

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** Operations of one PATCH request. */
const patchOperationsMax = 1000

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: PatchPath
  /** What the client sent. */
  readonly value: unknown
}

/**
 * Reads the operations of a request. One without a path becomes one for each member of its value; a member may be a
 * path, as Entra ID sends (`{"name.givenName": "A"}`).
 * @throws Fault `bad_request` (invalidSyntax, invalidPath, invalidFilter, noTarget)
 */
export function readPatch(schema: ResourceSchema, sent: unknown): readonly PatchOperation[] {
  if (!isScimObject(sent)) throw badScim('invalidSyntax', 'The body must be a JSON object.')
  const { schemas } = sent
  if (!Array.isArray(schemas) || !schemas.includes(patchSchema))
    throw badScim('invalidSyntax', `\`schemas\` must hold ${patchSchema}.`)
  const operations = sent.Operations ?? sent.operations
  if (!Array.isArray(operations) || operations.length === 0)
    throw badScim('invalidSyntax', '`Operations` must be a list of operations.')
  if (operations.length > patchOperationsMax)
    throw badScim('invalidSyntax', `A request may have ${patchOperationsMax} operations.`)
  return operations.flatMap((one) => readOperation(schema, one))
}

function readOperation(schema: ResourceSchema, sent: unknown): readonly PatchOperation[] {
  if (!isScimObject(sent)) throw badScim('invalidSyntax', 'An operation must be an object.')
  const { path, value } = sent
  const op = typeof sent.op === 'string' ? sent.op.toLowerCase() : ''
  if (op !== 'add' && op !== 'remove' && op !== 'replace')
    throw badScim('invalidSyntax', 'An operation has `op`: add, remove or replace.')
  if (op !== 'remove' && value === undefined)
    throw badScim('invalidValue', `An operation to ${op} needs a \`value\`.`)
  if (typeof path === 'string' && path !== '') {
    const urn = extensionOf(schema, path)
    if (urn !== undefined) return ofMembers(schema, op, value, `${urn}:`)
    return [{ op, path: parsePath(schema, path), value }]
  }
  if (path !== undefined && path !== null && path !== '')
    throw badScim('invalidPath', '`path` must be a text.')
  if (op === 'remove') throw badScim('noTarget', 'An operation to remove needs a `path`.')
  return ofMembers(schema, op, value, '')
}

/** Okta sends `id` beside what it changes. What is read-only in a whole resource is left alone. */
const ignored: ReadonlySet<string> = new Set(['schemas', 'id', 'meta', 'groups'])

function ofMembers(
  schema: ResourceSchema,
  op: PatchOperation['op'],
  value: unknown,
  before: string,
): readonly PatchOperation[] {
  if (op === 'remove')
    return Object.values(schema.extensions[before.slice(0, -1)] ?? []).map(({ name }) => ({
      ...{ op, path: parsePath(schema, `${before}${name}`), value: undefined },
    }))
  if (!isScimObject(value))
    throw badScim('invalidValue', 'Without a path, `value` must be an object of attributes.')
  return Object.entries(value).flatMap(([name, part]) => {
    if (before === '' && ignored.has(name.toLowerCase())) return []
    const urn = before === '' ? extensionOf(schema, name) : undefined
    if (urn !== undefined) return ofMembers(schema, op, part, `${urn}:`)
    return [{ op, path: parsePath(schema, `${before}${name}`), value: part }]
  })
}

/**
 * Applies operations, all or none.
 * @returns the resource as it is afterwards; the given one is not changed
 * @throws Fault `bad_request` (mutability, noTarget, invalidValue, invalidPath)
 */
export function applyPatch(
  schema: ResourceSchema,
  resource: ScimObject,
  operations: readonly PatchOperation[],
): ScimObject {
  const patched = structuredClone(resource) as Record<string, unknown>
  for (const operation of operations) applyOne(schema, patched, operation)
  for (const { name, required } of schema.attributes) {
    if (required !== true) continue
    const held = patched[name]
    if (typeof held !== 'string')
      throw badScim('mutability', `\`${name}\` is required and cannot be removed.`)
    if (held.trim() === '') throw badScim('invalidValue', `A ${schema.name} needs \`${name}\`.`)
  }
  return patched
}

function applyOne(
  schema: ResourceSchema,
  resource: Record<string, unknown>,
  operation: PatchOperation,
): void {
  const { op, path } = operation
  const { place } = path
  const { attribute } = place
  // A client that sends back what it read does not mean to change it.
  if (attribute.mutability === 'writeOnly') return
  if (attribute.mutability === 'readOnly' || (path.sub ?? attribute).mutability === 'readOnly')
    throw badScim('mutability', `\`${path.sub?.name ?? attribute.name}\` is read-only.`)
  const holder = holderOf(resource, place.extension)
  if (path.filter !== undefined) applyToSome(holder, operation)
  else if (attribute.multiValued === true) applyToList(holder, operation)
  else applyToOne(holder, operation)
  prune(resource, holder, place.extension)
  if (op !== 'remove' && attribute.required === true && holder[attribute.name] === undefined)
    throw badScim('invalidValue', `A ${schema.name} needs \`${attribute.name}\`.`)
}

function holderOf(resource: Record<string, unknown>, extension: string | undefined): Record<string, unknown> {
  if (extension === undefined) return resource
  const held = isScimObject(resource[extension]) ? (resource[extension] as Record<string, unknown>) : {}
  resource[extension] = held
  return held
}

function prune(resource: Record<string, unknown>, holder: object, extension: string | undefined): void {
  if (extension !== undefined && Object.keys(holder).length === 0) delete resource[extension]
}

function applyToOne(holder: Record<string, unknown>, { op, path, value }: PatchOperation): void {
  const { attribute } = path.place
  const { sub } = path
  if (sub === undefined) {
    const read = op === 'remove' ? undefined : readValue(attribute, value)
    const held = holder[attribute.name]
    // What is added to a complex attribute joins its other parts.
    if (op === 'add' && isScimObject(held) && isScimObject(read))
      holder[attribute.name] = { ...held, ...read }
    else set(holder, attribute.name, read)
    return
  }
  const held = isScimObject(holder[attribute.name]) ? { ...(holder[attribute.name] as ScimObject) } : {}
  set(held, sub.name, op === 'remove' ? undefined : readValue(sub, value))
  set(holder, attribute.name, Object.keys(held).length === 0 ? undefined : held)
}

function applyToList(holder: Record<string, unknown>, { op, path, value }: PatchOperation): void {
  const { attribute } = path.place
  const held = listOf(holder, attribute)
  if (path.sub !== undefined) {
    const { sub } = path
    const read = op === 'remove' ? undefined : readValue(sub, value)
    putList(
      holder,
      attribute,
      held.map((one) => withPart(one, sub, read)),
    )
    return
  }
  if (op === 'remove') {
    // Entra ID and others name the values to remove by `value`. An empty list names none.
    const named =
      value === undefined || value === null
        ? undefined
        : ((readValue(attribute, value) ?? []) as ScimObject[])
    putList(
      holder,
      attribute,
      named === undefined ? [] : held.filter((one) => !named.some((other) => isNamed(one, other))),
    )
    return
  }
  const read = (readValue(attribute, value) ?? []) as ScimObject[]
  putList(holder, attribute, op === 'replace' ? read : joined(held, read))
}

function applyToSome(holder: Record<string, unknown>, operation: PatchOperation): void {
  const { op, path } = operation
  const { attribute } = path.place
  const { filter, sub } = path
  const held = listOf(holder, attribute)
  const isMeant = (one: ScimObject) => filter !== undefined && matches(filter, one)
  if (op === 'remove') {
    const left = held.flatMap((one) =>
      !isMeant(one) ? [one] : sub === undefined ? [] : [withPart(one, sub, undefined)],
    )
    putList(holder, attribute, left)
    return
  }
  const changed = held.map((one) => (isMeant(one) ? changedValue(attribute, one, operation) : one))
  if (held.some(isMeant)) {
    putList(
      holder,
      attribute,
      onePrimary(
        changed,
        changed.filter((_, at) => isMeant(held[at] ?? {})),
      ),
    )
    return
  }
  if (op === 'replace')
    throw badScim('noTarget', `No value of \`${attribute.name}\` fulfils the filter of the path.`)
  // Entra ID adds `emails[type eq "work"].value` where there is none: the value has what the filter demands.
  const demanded = filter === undefined ? undefined : demandedBy(filter)
  if (demanded === undefined)
    throw badScim(
      'noTarget',
      `No value of \`${attribute.name}\` fulfils the filter, and none can be made from it.`,
    )
  putList(holder, attribute, joined(held, [changedValue(attribute, demanded, operation)]))
}

function changedValue(
  attribute: Attribute,
  one: ScimObject,
  { op, path, value }: PatchOperation,
): ScimObject {
  if (path.sub !== undefined) return withPart(one, path.sub, readValue(path.sub, value))
  const read = ((readValue(attribute, value) ?? []) as ScimObject[])[0] ?? {}
  return op === 'replace' ? read : { ...one, ...read }
}

/** The parts that a filter of `eq`, joined by `and`, demands. */
function demandedBy(filter: NonNullable<PatchPath['filter']>): ScimObject | undefined {
  if (filter.op === 'and') {
    const [left, right] = [demandedBy(filter.left), demandedBy(filter.right)]
    return left && right && { ...left, ...right }
  }
  return filter.op === 'eq' ? { [filter.place.attribute.name]: filter.value } : undefined
}

function withPart(one: ScimObject, { name }: Attribute, value: unknown): ScimObject {
  const { [name]: _, ...others } = one
  return value === undefined ? others : { ...others, [name]: value }
}

/** Values that are there already are not added again. */
function joined(held: readonly ScimObject[], added: readonly ScimObject[]): readonly ScimObject[] {
  const fresh = added.filter((one) => !held.some((other) => Bun.deepEquals(one, other)))
  return onePrimary([...held, ...fresh], fresh)
}

/** Where a new value is primary, no other is (RFC 7644, 3.5.2). */
function onePrimary(values: readonly ScimObject[], fresh: readonly ScimObject[]): readonly ScimObject[] {
  const primary = fresh.findLast((one) => one.primary === true)
  if (primary === undefined) return values
  return values.map((one) => (one !== primary && one.primary === true ? { ...one, primary: false } : one))
}

/** Whether a held value is the one that a client names to remove it. */
function isNamed(held: ScimObject, named: ScimObject): boolean {
  return Object.entries(named).every(([name, value]) => held[name] === value)
}

function listOf(holder: ScimObject, { name }: Attribute): readonly ScimObject[] {
  const held = holder[name]
  return Array.isArray(held) ? held.filter(isScimObject) : []
}

function putList(holder: Record<string, unknown>, attribute: Attribute, values: readonly ScimObject[]): void {
  const left = values.filter((one) => Object.keys(one).length > 0)
  // Read again for its bounds.
  set(holder, attribute.name, left.length === 0 ? undefined : readValue(attribute, left))
}

function set(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete holder[name]
  else holder[name] = value
}
