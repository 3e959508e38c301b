/** Checks a value strictly against an OpenAPI document: the part of JSON Schema that our documents use. */

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly anyOf?: readonly Schema[]
  readonly $ref?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly minimum?: number
  readonly maximum?: number
}

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
}

/** Every refusal's body (Iceberg REST, ErrorModel); for statements with what PostgreSQL would say besides. */
const errorModel: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['message', 'type', 'code'],
      properties: {
        message: { type: 'string', minLength: 1 },
        type: { type: 'string' },
        code: { type: 'integer' },
        sqlstate: { type: 'string' },
        position: { type: 'integer', minimum: 0 },
        hint: { type: 'string' },
        contract: { type: 'string' },
        problems: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['message'],
            properties: {
              line: { type: 'integer', minimum: 1 },
              column: { type: 'integer', minimum: 1 },
              path: { type: 'string' },
              message: { type: 'string', minLength: 1 },
            },
          },
        },
      },
    },
  },
}

/** Where and how `value` departs from `schema`; empty where it does not. */
export function departures(value: unknown, schema: Schema, at = '$'): readonly string[] {
  if (schema.$ref === '#/components/schemas/Error') return departures(value, errorModel, at)
  if (schema.$ref !== undefined) return [`${at}: ${schema.$ref} is not known here`]
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((one) => departures(value, one, at))
    return all.some((found) => found.length === 0) ? [] : all.flat()
  }
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return [`${at}: ${JSON.stringify(value)} is not listed`]
  switch (schema.type) {
    case 'object':
      return objectDepartures(value, schema, at)
    case 'null':
      return value === null ? [] : [`${at} is not null`]
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${at} is no boolean`]
    case 'array':
      return Array.isArray(value) && value.length >= (schema.minItems ?? 0)
        ? value.flatMap((item, index) => departures(item, schema.items ?? {}, `${at}[${index}]`))
        : [`${at} is no array`]
    case 'integer':
    case 'number': {
      const number = typeof value === 'number' ? value : Number.NaN
      const whole = schema.type === 'number' || Number.isInteger(number)
      const within =
        number >= (schema.minimum ?? Number.NEGATIVE_INFINITY) &&
        number <= (schema.maximum ?? Number.POSITIVE_INFINITY)
      return whole && within ? [] : [`${at}: ${JSON.stringify(value)} is no such ${schema.type}`]
    }
    case 'string': {
      const format = schema.format === undefined ? undefined : formats[schema.format]
      const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema
      const fits =
        typeof value === 'string' &&
        (format === undefined || format.test(value)) &&
        (pattern === undefined || new RegExp(pattern).test(value)) &&
        value.length >= minLength &&
        value.length <= maxLength
      return fits ? [] : [`${at}: ${JSON.stringify(value)} is no ${schema.format ?? 'string'}`]
    }
    default:
      return []
  }
}

function objectDepartures(value: unknown, schema: Schema, at: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at} is no object`]
  const properties = schema.properties ?? {}
  const missing = (schema.required ?? []).filter((name) => !(name in value))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const known = properties[name]
      if (known !== undefined) return departures(member, known, `${at}.${name}`)
      return schema.additionalProperties === false ? [`${at}.${name} is not described`] : []
    }),
  ]
}
