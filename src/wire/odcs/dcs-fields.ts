/**
 * Converts fields and their quality rules from the Data Contract Specification to ODCS 3.2. What the standard has no
 * place for is a custom property of the same name. Definitions are written out where they are referred to.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { map, some } from './members.ts'

/** A mistake in the document that is converted, with its place there. */
export class DcsMistake extends Error {
  /** @param message a sentence without its full stop */
  constructor(
    message: string,
    readonly steps: readonly string[],
  ) {
    super(message)
  }
}

/** The members of an object; none where it is left out. @throws DcsMistake where it is something else */
export function objectAt(value: JsonValue | undefined, steps: readonly string[]): JsonObject {
  if (value === undefined || value === null) return new Map()
  if (!isJsonObject(value)) throw new DcsMistake('The value must be an object', steps)
  return value
}

/** The items of a list; none where it is left out. @throws DcsMistake where it is something else */
export function listAt(value: JsonValue | undefined, steps: readonly string[]): readonly JsonValue[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new DcsMistake('The value must be a list', steps)
  return value
}

/** @returns undefined where the value is left out @throws DcsMistake where it is no text */
export function textAt(value: JsonValue | undefined, steps: readonly string[]): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new DcsMistake('The value must be a text', steps)
  return value
}

/** Custom properties of the members that are not among the named ones. */
export function customOf(value: JsonObject, named: readonly string[]): readonly JsonObject[] {
  return [...value]
    .filter(([name]) => !named.includes(name))
    .map(([property, member]) => map({ property, value: member }))
}

/** Links by their names, as authoritative definitions. */
export function linksOf(value: JsonValue | undefined, steps: readonly string[]): readonly JsonObject[] {
  return [...objectAt(value, steps)].map(([type, url]) =>
    map({ url: textAt(url, [...steps, type]) ?? '', type }),
  )
}

const logicalTypes: Readonly<Record<string, string>> = {
  ...{ string: 'string', text: 'string', varchar: 'string', uuid: 'string' },
  ...{ number: 'number', decimal: 'number', numeric: 'number', float: 'number', double: 'number' },
  ...{ integer: 'integer', int: 'integer', long: 'integer', bigint: 'integer', smallint: 'integer' },
  ...{ tinyint: 'integer', boolean: 'boolean', date: 'date', time: 'time' },
  ...{ timestamp: 'timestamp', timestamp_tz: 'timestamp', timestamp_ntz: 'timestamp' },
  ...{ array: 'array', map: 'map', object: 'object', record: 'object', struct: 'object' },
}

const range = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  ...{ number: [...range, 'multipleOf'], integer: [...range, 'multipleOf'] },
  ...{ date: ['format', ...range], time: ['format', ...range], timestamp: ['format', ...range] },
  array: ['minItems', 'maxItems', 'uniqueItems'],
}

/** Members of a field that are converted by name; others are custom properties. */
const fieldMembers = [
  ...['type', 'title', 'description', 'required', 'unique', 'primaryKey', 'primary', 'references', 'enum'],
  ...['precision', 'scale', 'example', 'examples', 'pii', 'classification', 'tags', 'links', 'fields'],
  ...['items', 'keys', 'values', 'quality', '$ref'],
]

/** What a field is converted with. */
interface FieldContext {
  readonly document: JsonObject
  /** Positions of columns in the key that their model declares. */
  readonly keys: ReadonlyMap<string, number>
}

/** Properties of fields by their names. @throws DcsMistake */
export function propertiesOf(
  fields: JsonValue | undefined,
  steps: readonly string[],
  context: FieldContext,
): readonly JsonObject[] {
  return [...objectAt(fields, steps)].map(([name, field]) =>
    propertyOf(name, field, [...steps, name], context),
  )
}

function propertyOf(
  name: string | undefined,
  value: JsonValue,
  steps: readonly string[],
  context: FieldContext,
): JsonObject {
  const field = withDefinition(objectAt(value, steps), steps, context.document)
  const at = (member: string) => [...steps, member]
  const text = (member: string) => textAt(field.get(member), at(member))
  const type = text('type')
  const logicalType = logicalTypes[type?.toLowerCase() ?? '']
  const options = optionsOf[logicalType ?? ''] ?? []
  const zone = type === 'timestamp_tz' ? true : type === 'timestamp_ntz' ? false : undefined
  const chosen = new Map([...field].filter(([member]) => options.includes(member)))
  if (zone !== undefined) chosen.set('timezone', zone)
  const inner = { document: context.document, keys: new Map<string, number>() }
  const position = name === undefined ? undefined : context.keys.get(name)
  const isKey = position !== undefined || field.get('primaryKey') === true || field.get('primary') === true
  const reference = text('references')
  const example = field.get('example')
  const tags = listAt(field.get('tags'), at('tags'))
  return map({
    name,
    businessName: text('title'),
    description: text('description'),
    logicalType,
    physicalType: physicalType(type, field),
    logicalTypeOptions: chosen.size > 0 ? chosen : undefined,
    required: field.get('required'),
    unique: field.get('unique'),
    primaryKey: isKey ? true : undefined,
    primaryKeyPosition: position,
    classification: text('classification'),
    tags: some(field.get('pii') === true && !tags.includes('pii') ? [...tags, 'pii'] : tags),
    examples: some([
      ...(example === undefined ? [] : [example]),
      ...listAt(field.get('examples'), at('examples')),
    ]),
    relationships: reference === undefined ? undefined : [map({ type: 'foreignKey', to: reference })],
    authoritativeDefinitions: some(linksOf(field.get('links'), at('links'))),
    properties:
      logicalType === 'object' ? some(propertiesOf(field.get('fields'), at('fields'), inner)) : undefined,
    items: field.has('items')
      ? propertyOf(undefined, field.get('items') ?? null, at('items'), inner)
      : undefined,
    map: logicalType === 'map' ? mapOf(field, steps, inner) : undefined,
    enum: some(listAt(field.get('enum'), at('enum')).map((one) => map({ value: one }))),
    quality: some(qualityOf(field.get('quality'), at('quality'))),
    customProperties: some([
      ...customOf(field, [...fieldMembers, ...options]),
      ...(field.get('pii') === false ? [map({ property: 'pii', value: false })] : []),
    ]),
  })
}

/** With its size, as SQL writes it: `decimal(10,2)`. */
function physicalType(type: string | undefined, field: JsonObject): string | undefined {
  const [precision, scale] = [field.get('precision'), field.get('scale')]
  if (type === undefined || precision === undefined || type.includes('(')) return type
  return `${type}(${String(precision)}${scale === undefined ? '' : `,${String(scale)}`})`
}

function mapOf(field: JsonObject, steps: readonly string[], context: FieldContext): JsonObject {
  const side = (member: string) =>
    propertyOf(undefined, field.get(member) ?? new Map(), [...steps, member], context)
  return map({ key: side('keys'), value: side('values') })
}

/** A field over the definition that it refers to, and that over its own. @throws DcsMistake */
function withDefinition(field: JsonObject, steps: readonly string[], document: JsonObject): JsonObject {
  let merged = field
  let reference = field.get('$ref')
  for (let depth = 0; reference !== undefined; depth++) {
    const at = [...steps, '$ref']
    if (typeof reference !== 'string' || !reference.startsWith('#/'))
      throw new DcsMistake('Only a reference into the same document is read: #/definitions/…', at)
    if (depth > limits.contractDocumentDepthMax)
      throw new DcsMistake('The reference leads back to itself', at)
    let found: JsonValue | undefined = document
    for (const step of reference.slice(2).split('/')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isJsonObject(found) ? found.get(name) : undefined
    }
    if (!isJsonObject(found)) throw new DcsMistake('The reference leads to nothing', at)
    // A definition's own name is not the column's.
    merged = new Map([...found].filter(([name]) => name !== 'name').concat([...merged]))
    reference = found.get('$ref')
  }
  return merged
}

const ruleMembers = [
  ...[
    'description',
    'dimension',
    'name',
    'severity',
    'type',
    'unit',
    'businessImpact',
    'schedule',
    'scheduler',
  ],
  ...['tags', 'method', 'mustBe', 'mustNotBe', 'mustBeGreaterThan', 'mustBeLessThan', 'mustBeBetween'],
  ...['mustNotBeBetween', 'mustBeGreaterOrEqualTo', 'mustBeLessOrEqualTo'],
]
const membersOfKind: Readonly<Record<string, readonly string[]>> = {
  sql: ['query'],
  library: ['metric', 'rule', 'arguments'],
  custom: ['engine', 'implementation'],
}
const renamed: Readonly<Record<string, string>> = {
  mustBeGreaterThanOrEqualTo: 'mustBeGreaterOrEqualTo',
  mustBeLessThanOrEqualTo: 'mustBeLessOrEqualTo',
}
/** Rules of version 1.1 by the metrics that they became. */
const metricOfRule: Readonly<Record<string, string>> = {
  ...{ nullCheck: 'nullValues', uniqueCheck: 'duplicateValues', countCheck: 'rowCount' },
  ...{ nullValues: 'nullValues', missingValues: 'missingValues', invalidValues: 'invalidValues' },
  ...{ duplicateValues: 'duplicateValues', duplicateCount: 'duplicateValues', rowCount: 'rowCount' },
}

/** Quality rules of a model or a field. @throws DcsMistake */
export function qualityOf(value: JsonValue | undefined, steps: readonly string[]): readonly JsonObject[] {
  return listAt(value, steps).map((item, index) => {
    const given = objectAt(item, [...steps, String(index)])
    const rule = new Map([...given].map(([name, member]) => [renamed[name] ?? name, member] as const))
    const metric = rule.get('metric') ?? metricOfRule[String(rule.get('rule'))]
    const kind = rule.get('type') ?? (metric !== undefined ? 'library' : rule.has('query') ? 'sql' : 'text')
    if (kind === 'library' && metric === undefined && !rule.has('rule'))
      throw new DcsMistake('A rule of the library needs its metric', [...steps, String(index)])
    const own = [...ruleMembers, ...(membersOfKind[String(kind)] ?? [])]
    const placed = [...rule].filter(
      ([name]) => own.includes(name) && !['rule', 'metric', 'type'].includes(name),
    )
    return map({
      type: kind,
      ...(kind === 'library' && { metric: metric ?? rule.get('rule') }),
      ...Object.fromEntries(placed),
      customProperties: some(customOf(rule, own)),
    })
  })
}
