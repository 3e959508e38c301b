/** Words to write the JSON Schemas of an OpenAPI document with. */

/** A JSON Schema of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>

/** A string. */
export const text = { type: 'string' } as const
/** An RFC 3339 time. */
export const time = { type: 'string', format: 'date-time' } as const
/** A UUID in lower case. */
export const uuid = { type: 'string', format: 'uuid' } as const
/** A whole number from 0. */
export const count = { type: 'integer', minimum: 0 } as const

/** One of these strings. */
export function oneOf(values: readonly string[]) {
  return { type: 'string', enum: [...values] } as const
}

/** The schema with what it means. */
export function said(schema: Schema, description: string): Schema {
  return { ...schema, description }
}

/** An array of these. */
export function list(items: Schema): Schema {
  return { type: 'array', items }
}

/** An object with these members and no others; a name that ends in `?` may be absent. */
export function object(members: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(members)
  return {
    type: 'object',
    additionalProperties: false,
    required: names.filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
  }
}

/** A body of JSON. */
export function content(schema: Schema) {
  return { 'application/json': { schema: schema as object } }
}

/** An answer of JSON. */
export function answer(description: string, schema: Schema) {
  return { description, content: content(schema) }
}

const errorModel = object({ error: object({ message: text, type: text, code: { type: 'integer' } }) })

/** An answer that is an Iceberg ErrorModel. */
export function error(description: string) {
  return answer(description, errorModel)
}

/** A parameter of the query; optional unless said otherwise. */
export function query(name: string, schema: Schema, required = false) {
  return { name, in: 'query' as const, required, schema: schema as object }
}
