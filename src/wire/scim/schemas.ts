/**
 * The schemas of SCIM resources that are served (RFC 7643, 4): users with the enterprise extension, and groups. Reading,
 * filters and patches follow from these tables, and `/Schemas` shows them.
 */

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** One attribute, as `/Schemas` describes it. */
export interface Attribute {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'complex' | 'binary'
  readonly multiValued?: true
  readonly required?: true
  readonly caseExact?: true
  readonly mutability?: 'readOnly' | 'writeOnly' | 'immutable'
  readonly returned?: 'always' | 'never'
  readonly uniqueness?: 'server'
  readonly sub?: readonly Attribute[]
}

/** What a kind of resource may hold: its own attributes, and those of extensions by their URN. */
export interface ResourceSchema {
  readonly name: 'User' | 'Group'
  readonly urn: string
  readonly attributes: readonly Attribute[]
  readonly extensions: Readonly<Record<string, readonly Attribute[]>>
}

const text = (name: string, more: Partial<Attribute> = {}): Attribute => ({ name, type: 'string', ...more })

/** A multi-valued attribute in the usual form: `value`, `display`, `type`, `primary`. */
const plural = (name: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'complex',
  multiValued: true,
  sub: [text('value', more), text('display'), text('type'), { name: 'primary', type: 'boolean' }],
})

/** Attributes of every resource (RFC 7643, 3.1). */
const common: readonly Attribute[] = [
  text('id', { caseExact: true, mutability: 'readOnly', returned: 'always', uniqueness: 'server' }),
  text('externalId', { caseExact: true }),
  {
    name: 'meta',
    type: 'complex',
    mutability: 'readOnly',
    sub: [
      text('resourceType', { caseExact: true }),
      { name: 'created', type: 'dateTime' },
      { name: 'lastModified', type: 'dateTime' },
      { name: 'location', type: 'reference', caseExact: true },
      text('version', { caseExact: true }),
    ],
  },
]

const address: readonly Attribute[] = [
  ...['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type'].map((name) =>
    text(name),
  ),
  { name: 'primary', type: 'boolean' },
]

/** Users. */
export const users: ResourceSchema = {
  name: 'User',
  urn: userSchema,
  attributes: [
    ...common,
    text('userName', { required: true, uniqueness: 'server' }),
    {
      name: 'name',
      type: 'complex',
      sub: ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'].map(
        (name) => text(name),
      ),
    },
    ...['displayName', 'nickName', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'].map(
      (name) => text(name),
    ),
    { name: 'profileUrl', type: 'reference' },
    { name: 'active', type: 'boolean' },
    text('password', { mutability: 'writeOnly', returned: 'never', caseExact: true }),
    plural('emails'),
    plural('phoneNumbers'),
    plural('ims'),
    plural('photos', { type: 'reference', caseExact: true }),
    { name: 'addresses', type: 'complex', multiValued: true, sub: address },
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      sub: [
        text('value', { caseExact: true }),
        text('$ref', { caseExact: true }),
        text('display'),
        text('type'),
      ],
    },
    plural('entitlements'),
    plural('roles'),
    plural('x509Certificates', { type: 'binary', caseExact: true }),
  ],
  extensions: {
    [enterpriseSchema]: [
      ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) => text(name)),
      {
        name: 'manager',
        type: 'complex',
        sub: [
          text('value', { caseExact: true }),
          text('$ref', { caseExact: true }),
          text('displayName', { mutability: 'readOnly' }),
        ],
      },
    ],
  },
}

/** Groups. A member is a user; a group within a group is refused. */
export const groups: ResourceSchema = {
  name: 'Group',
  urn: groupSchema,
  attributes: [
    ...common,
    text('displayName', { required: true, uniqueness: 'server' }),
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      sub: [
        text('value', { caseExact: true, mutability: 'immutable' }),
        text('$ref', { caseExact: true, mutability: 'immutable' }),
        text('display', { mutability: 'readOnly' }),
        text('type', { mutability: 'immutable' }),
      ],
    },
  ],
  extensions: {},
}

/** Where an attribute stands: in the resource itself, or in an extension; and which part of it is meant. */
export interface Place {
  readonly extension: string | undefined
  readonly attribute: Attribute
  readonly sub: Attribute | undefined
}

/** The attribute of a name, in any case of letters. */
export function attributeOf(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const folded = name.toLowerCase()
  return attributes.find((one) => one.name.toLowerCase() === folded)
}

/**
 * The place that a path of attributes names: `name.givenName`, `urn:…:User:department`.
 * @returns undefined where the schema has none; the URN of an extension alone is none either
 */
export function placeOf(schema: ResourceSchema, path: string): Place | undefined {
  const { extension, rest } = splitUrn(schema, path)
  const [first = '', second, third] = rest.split('.')
  if (third !== undefined) return undefined
  const attributes = extension === undefined ? schema.attributes : (schema.extensions[extension] ?? [])
  const attribute = attributeOf(attributes, first)
  if (attribute === undefined) return undefined
  if (second === undefined) return { extension, attribute, sub: undefined }
  const sub = attributeOf(attribute.sub ?? [], second)
  return sub && { extension, attribute, sub }
}

/** The URN of an extension that a text is, in any case of letters. */
export function extensionOf(schema: ResourceSchema, text: string): string | undefined {
  return Object.keys(schema.extensions).find((urn) => urn.toLowerCase() === text.toLowerCase())
}

function splitUrn(schema: ResourceSchema, path: string) {
  const folded = path.toLowerCase()
  for (const urn of [schema.urn, ...Object.keys(schema.extensions)])
    if (folded.startsWith(`${urn.toLowerCase()}:`))
      return { extension: urn === schema.urn ? undefined : urn, rest: path.slice(urn.length + 1) }
  return { extension: undefined, rest: path }
}

/** A schema as `/Schemas` shows it (RFC 7643, 7). */
export function describeSchema(urn: string, name: string, attributes: readonly Attribute[]) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: urn,
    name,
    attributes: attributes.filter((one) => !common.includes(one)).map(describeAttribute),
  }
}

function describeAttribute(attribute: Attribute): object {
  const { name, type, multiValued = false, required = false, caseExact = false, sub } = attribute
  const { mutability = 'readWrite', returned = 'default', uniqueness = 'none' } = attribute
  return {
    ...{ name, type, multiValued, required, caseExact, mutability, returned, uniqueness },
    description: `RFC 7643: ${name}`,
    ...(sub && { subAttributes: sub.map(describeAttribute) }),
    ...(type === 'reference' && { referenceTypes: ['external'] }),
  }
}
