/**
 * Reads what a client sends for a resource (RFC 7644, 3.3): names in any case become those of the schema, read-only
 * attributes and passwords are left out, and what the schema does not have is refused.
 */

import { isScimObject, type ScimObject } from './match.ts'
import { type Attribute, attributeOf, extensionOf, type ResourceSchema } from './schemas.ts'
import { badScim } from './scim-fault.ts'

/** Bounds of a resource: characters of one text, and values of one attribute besides members of a group. */
const resourceBounds = { textMax: 4096, valuesMax: 100 } as const

/** Reads a whole resource. @throws Fault `bad_request` (invalidSyntax, invalidValue) */
export function readResource(schema: ResourceSchema, sent: unknown): ScimObject {
  if (!isScimObject(sent)) throw badScim('invalidSyntax', 'The body must be a JSON object.')
  assertSchemas(schema, sent.schemas)
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sent)) {
    if (name.toLowerCase() === 'schemas') continue
    const urn = extensionOf(schema, name)
    if (urn !== undefined) {
      const held = readParts(schema.extensions[urn] ?? [], value, urn)
      if (Object.keys(held).length > 0) read[urn] = held
      continue
    }
    const attribute = attributeOf(schema.attributes, name)
    if (attribute === undefined) throw unknown(schema.name, name)
    put(read, attribute, readValue(attribute, value))
  }
  for (const { name, required } of schema.attributes)
    if (required === true && (typeof read[name] !== 'string' || read[name].trim() === ''))
      throw badScim('invalidValue', `A ${schema.name} needs \`${name}\`.`)
  return read
}

/** @throws Fault `bad_request` (invalidSyntax) */
function assertSchemas(schema: ResourceSchema, sent: unknown): void {
  // Some clients leave it out of PUT; then the route says what it is.
  if (sent === undefined) return
  const names = Array.isArray(sent) ? sent.map((one) => String(one).toLowerCase()) : []
  if (!names.includes(schema.urn.toLowerCase()))
    throw badScim('invalidSyntax', `\`schemas\` must hold ${schema.urn}.`)
  for (const name of names)
    if (name !== schema.urn.toLowerCase() && extensionOf(schema, name) === undefined)
      throw badScim('invalidSyntax', `The schema ${JSON.stringify(name)} is not supported.`)
}

function put(read: Record<string, unknown>, { name }: Attribute, value: unknown): void {
  if (value !== undefined) read[name] = value
}

/**
 * Reads the value of an attribute.
 * @returns undefined for what is not stored: nothing, a read-only attribute, a password
 * @throws Fault `bad_request` (invalidValue, invalidSyntax)
 */
export function readValue(attribute: Attribute, sent: unknown): unknown {
  const { name, mutability, multiValued } = attribute
  if (mutability === 'readOnly' || mutability === 'writeOnly') return undefined
  if (sent === null || sent === undefined) return undefined
  if (multiValued !== true) return readOne(attribute, sent)
  // One value for a list of one, as Entra ID sends.
  const values = (Array.isArray(sent) ? sent : [sent]).map((one) => readOne(attribute, one))
  if (name !== 'members' && values.length > resourceBounds.valuesMax)
    throw badScim('invalidValue', `\`${name}\` may have ${resourceBounds.valuesMax} values.`)
  if (values.filter((one) => isScimObject(one) && one.primary === true).length > 1)
    throw badScim('invalidValue', `One value of \`${name}\` may be primary.`)
  return values.length === 0 ? undefined : values
}

function readOne(attribute: Attribute, sent: unknown): unknown {
  const { name, type, sub } = attribute
  if (sub !== undefined) {
    // A bare text is its `value`, as Entra ID sends for a manager.
    if (typeof sent === 'string' && sub.some((part) => part.name === 'value'))
      return { value: readOneText(attribute, sent) }
    const parts = readParts(sub, sent, name)
    if (attribute.multiValued === true && Object.keys(parts).length === 0)
      throw badScim('invalidValue', `A value of \`${name}\` is empty.`)
    return Object.keys(parts).length === 0 ? undefined : parts
  }
  if (type === 'boolean') return readBoolean(name, sent)
  return readOneText(attribute, sent)
}

function readOneText({ name }: Attribute, sent: unknown): string {
  if (typeof sent !== 'string') throw badScim('invalidValue', `\`${name}\` must be a text.`)
  if (sent.length > resourceBounds.textMax)
    throw badScim('invalidValue', `\`${name}\` may have ${resourceBounds.textMax} characters.`)
  if (sent.includes('\u0000') || !sent.isWellFormed())
    throw badScim('invalidValue', `\`${name}\` holds a character that cannot be stored.`)
  return sent
}

/** Entra ID sends "True" and "False". */
function readBoolean(name: string, sent: unknown): boolean {
  if (typeof sent === 'boolean') return sent
  const word = typeof sent === 'string' ? sent.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  throw badScim('invalidValue', `\`${name}\` must be true or false.`)
}

function readParts(attributes: readonly Attribute[], sent: unknown, of: string): ScimObject {
  if (!isScimObject(sent)) throw badScim('invalidValue', `\`${of}\` must be an object.`)
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sent)) {
    const attribute = attributeOf(attributes, name)
    if (attribute === undefined) throw unknown(of, name)
    put(read, attribute, readValue(attribute, value))
  }
  return read
}

function unknown(of: string, name: string) {
  const shown = JSON.stringify(name.slice(0, 100))
  return badScim('invalidSyntax', `\`${of}\` has no attribute ${shown}. Take it out of the mapping.`)
}
