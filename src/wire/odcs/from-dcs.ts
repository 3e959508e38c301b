/**
 * Converts a document of the Data Contract Specification, 0.9 or 1.x, to one of ODCS 3.2. What the standard has no place
 * for is a custom property of the same name. It reads this document alone: references to other files are refused.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import {
  customOf,
  DcsMistake,
  linksOf,
  listAt,
  objectAt,
  propertiesOf,
  qualityOf,
  textAt,
} from './dcs-fields.ts'
import { toYamlText } from './edit-document.ts'
import { map, some } from './members.ts'
import { DocumentRefusal } from './problem.ts'
import { type ContractDocument, readDocument } from './read-document.ts'
import odcs320 from './schemas/odcs-3.2.0.schema.json' with { type: 'json' }
import { located, standardProblems } from './validate-document.ts'

/**
 * @param document a document of the Data Contract Specification
 * @returns the bytes of a document of ODCS 3.2, as YAML
 * @throws DocumentRefusal with the place in the given document
 */
export function fromDcs(document: ContractDocument): Uint8Array {
  try {
    const bytes = new TextEncoder().encode(toYamlText(convert(document.value)))
    // What is converted is judged as any document is, so that nothing is written that `validate` would refuse.
    const [problem] = standardProblems(readDocument(bytes, 'yaml'))
    if (problem !== undefined)
      throw new DocumentRefusal([
        {
          message: `What it becomes is no document of the standard: ${problem.path ?? ''}: ${problem.message}`,
        },
      ])
    return bytes
  } catch (thrown) {
    if (!(thrown instanceof DcsMistake)) throw thrown
    throw new DocumentRefusal([located(document, thrown.steps, thrown.message)])
  }
}

/** Whether a document says that it is one of the Data Contract Specification. */
export const isDcs = ({ value }: ContractDocument): boolean => value.has('dataContractSpecification')

const topMembers = [
  ...['dataContractSpecification', 'id', 'info', 'servers', 'terms', 'models', 'definitions'],
  ...['servicelevels', 'tags', 'links'],
]

function convert(value: JsonObject): JsonObject {
  const version = String(value.get('dataContractSpecification'))
  if (!/^(0\.9|1)(\.|$)/.test(version))
    throw new DcsMistake('The version must be 0.9 or 1.x', ['dataContractSpecification'])
  const info = objectAt(value.get('info'), ['info'])
  const terms = objectAt(value.get('terms'), ['terms'])
  const text = (from: JsonObject, at: string, name: string) => textAt(from.get(name), [at, name])
  const [id, said] = [textAt(value.get('id'), ['id']), text(info, 'info', 'version')]
  if (id === undefined) throw new DcsMistake('The field id is missing', [])
  if (said === undefined) throw new DcsMistake('The field version is missing', ['info'])
  const owner = text(info, 'info', 'owner')
  const description = map({
    purpose: text(info, 'info', 'description'),
    usage: text(terms, 'terms', 'usage'),
    limitations: text(terms, 'terms', 'limitations'),
    authoritativeDefinitions: some(policiesOf(terms.get('policies'))),
  })
  const within = (from: JsonObject, at: string, named: readonly string[]) =>
    customOf(from, named).map(
      (one) => new Map([...one, ['property', `${at}.${one.get('property')}`] as const]),
    )
  return map({
    apiVersion: 'v3.2.0',
    kind: 'DataContract',
    id,
    name: text(info, 'info', 'title'),
    version: said,
    status: text(info, 'info', 'status') ?? 'draft',
    description: description.size > 0 ? description : undefined,
    tags: some(listAt(value.get('tags'), ['tags'])),
    servers: some([...objectAt(value.get('servers'), ['servers'])].map(serverOf)),
    schema: some(
      [...objectAt(value.get('models'), ['models'])].map(([name, model]) => objectOf(name, model, value)),
    ),
    support: some(supportOf(info.get('contact'))),
    team: owner === undefined ? undefined : map({ name: owner }),
    slaProperties: some([...objectAt(value.get('servicelevels'), ['servicelevels'])].flatMap(levelOf)),
    authoritativeDefinitions: some(linksOf(value.get('links'), ['links'])),
    customProperties: some([
      ...within(info, 'info', ['title', 'version', 'status', 'description', 'owner', 'contact']),
      ...within(terms, 'terms', ['usage', 'limitations', 'policies']),
      ...customOf(value, topMembers),
    ]),
  })
}

function policiesOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listAt(value, ['terms', 'policies']).map((item, index) => {
    const steps = ['terms', 'policies', String(index)]
    const policy = objectAt(item, steps)
    const text = (name: string) => textAt(policy.get(name), [...steps, name])
    const description = text('description')
    return map({ url: text('url') ?? '', type: text('type') ?? text('name') ?? 'policy', description })
  })
}

function supportOf(value: JsonValue | undefined): readonly JsonObject[] {
  const contact = objectAt(value, ['info', 'contact'])
  const text = (name: string) => textAt(contact.get(name), ['info', 'contact', name])
  const [channel, url, email] = [text('name') ?? 'contact', text('url'), text('email')]
  const customProperties = some(customOf(contact, ['name', 'url', 'email']))
  const found = [
    ...(url === undefined ? [] : [map({ channel, url, customProperties })]),
    ...(email === undefined ? [] : [map({ channel, url: `mailto:${email}`, tool: 'email' })]),
  ]
  return found.length > 0 || contact.size === 0 ? found : [map({ channel, customProperties })]
}

interface ServerKind {
  readonly fields: readonly string[]
  readonly required: readonly string[]
}

const generalFields = ['type', 'description', 'environment', 'roles']

/** What the standard lets a server of each type say, read from its own schema. */
const serverKinds: ReadonlyMap<string, ServerKind> = new Map(
  odcs320.$defs.Server.allOf.map(({ if: of, then: { $ref: reference } }) => {
    const name = reference.split('/').at(-1) as keyof typeof odcs320.$defs.ServerSource
    const kind: { properties: object; required?: readonly string[] } = odcs320.$defs.ServerSource[name]
    return [of.properties.type.const, { fields: Object.keys(kind.properties), required: kind.required ?? [] }]
  }),
)

/** A server that says less than its type must, or that has a type of its own, is a custom one. */
function serverOf([name, value]: readonly [string, JsonValue]): JsonObject {
  const steps = ['servers', name]
  const given = new Map(
    [...objectAt(value, steps)].map(([field, member]) => [
      field === 'service_name' ? 'serviceName' : field,
      portOf(field, member),
    ]),
  )
  const type = textAt(given.get('type'), [...steps, 'type']) ?? 'custom'
  const found = serverKinds.get(type)
  const isWhole = found?.required.every((field) => fits(field, given.get(field))) ?? false
  const kind = isWhole ? found : serverKinds.get('custom')
  const fields = [...given].filter(([field, member]) => kind?.fields.includes(field) && fits(field, member))
  const named = [...generalFields, ...fields.map(([field]) => field)]
  return map({
    server: name,
    type: isWhole ? type : 'custom',
    description: textAt(given.get('description'), [...steps, 'description']),
    environment: textAt(given.get('environment'), [...steps, 'environment']),
    ...Object.fromEntries(fields),
    roles: some(listAt(given.get('roles'), [...steps, 'roles']).map((role) => roleOf(role, steps))),
    customProperties: some([
      ...(isWhole || type === 'custom' ? [] : [map({ property: 'type', value: type })]),
      ...customOf(given, named),
    ]),
  })
}

/** A port may be written as a text. */
const portOf = (field: string, value: JsonValue): JsonValue =>
  field === 'port' && typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value

const fits = (field: string, value: JsonValue | undefined): boolean =>
  field === 'port' ? typeof value === 'number' || typeof value === 'bigint' : typeof value === 'string'

function roleOf(value: JsonValue, steps: readonly string[]): JsonObject {
  const role = objectAt(value, [...steps, 'roles'])
  const description = textAt(role.get('description'), [...steps, 'roles'])
  const customProperties = some(customOf(role, ['name', 'description']))
  return map({ role: textAt(role.get('name'), [...steps, 'roles']), description, customProperties })
}

function objectOf(name: string, value: JsonValue, document: JsonObject): JsonObject {
  const steps = ['models', name]
  const model = objectAt(value, steps)
  const text = (member: string) => textAt(model.get(member), [...steps, member])
  const key = listAt(model.get('primaryKey'), [...steps, 'primaryKey'])
  const keys = new Map(key.map((column, index) => [String(column), index + 1]))
  const named = ['type', 'title', 'description', 'fields', 'primaryKey', 'quality', 'tags', 'links']
  return map({
    name,
    businessName: text('title'),
    description: text('description'),
    logicalType: 'object',
    physicalType: text('type'),
    tags: some(listAt(model.get('tags'), [...steps, 'tags'])),
    authoritativeDefinitions: some(linksOf(model.get('links'), [...steps, 'links'])),
    properties: some(propertiesOf(model.get('fields'), [...steps, 'fields'], { document, keys })),
    quality: some(qualityOf(model.get('quality'), [...steps, 'quality'])),
    customProperties: some(customOf(model, named)),
  })
}

/** The member that says what is promised; other members of a level are promises of their own. */
const promised: Readonly<Record<string, string>> = {
  ...{ availability: 'percentage', retention: 'period', latency: 'threshold', freshness: 'threshold' },
  ...{ frequency: 'interval', support: 'time', backup: 'interval' },
}

function levelOf([name, value]: readonly [string, JsonValue]): readonly JsonObject[] {
  const steps = ['servicelevels', name]
  const level = objectAt(value, steps)
  const main = promised[name]
  const elements = [...level]
    .filter(([member]) => member.endsWith('Field'))
    .map(([, element]) => String(element))
  const description = textAt(level.get('description'), [...steps, 'description'])
  const promises = [...level].filter(([member]) => member !== 'description' && !member.endsWith('Field'))
  return promises.map(([member, said]) => {
    if (isJsonObject(said) || Array.isArray(said))
      throw new DcsMistake('The value must be a text or a number', [...steps, member])
    const isMain = member === main
    return map({
      property: isMain ? name : `${name}.${member}`,
      ...amountOf(said),
      element: isMain && elements.length > 0 ? elements.join(', ') : undefined,
      description: isMain || promises.length === 1 ? description : undefined,
    })
  })
}

/** A number and its unit, where the text says just that: `25h`, `1 week`, `99.9%`, `P1Y`. */
function amountOf(said: JsonValue): { readonly value: JsonValue; readonly unit?: string } {
  const text = String(said)
  const plain = /^(\d+(?:\.\d+)?)\s*(%|[a-zA-Z]+)$/.exec(text)
  const iso = /^PT?(\d+)([YMWDHS])$/.exec(text)
  const isMinutes = iso?.[2] === 'M' && text.startsWith('PT')
  const [, amount, unit] = plain ?? iso ?? []
  if (amount === undefined || unit === undefined) return { value: said }
  const word = iso === null ? unit : isMinutes ? 'minutes' : isoUnits[unit]
  return word === undefined ? { value: said } : { value: Number(amount), unit: word }
}

const isoUnits: Readonly<Record<string, string>> = {
  ...{ Y: 'years', M: 'months', W: 'weeks', D: 'days', H: 'hours', S: 'seconds' },
}
