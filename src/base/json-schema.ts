/** Words to write the operations of an OpenAPI document with. */

/** A JSON Schema of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>

/** An answer of an operation. */
export interface Answer {
  description: string
  content?: Record<string, { schema: object }>
}

/** A parameter of an operation. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: object
  description?: string
}

/** What an OpenAPI document says of a route. */
export interface Operation {
  tags: string[]
  summary: string
  description?: string
  /** Empty: no session is needed. Absent: one is. */
  security?: never[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: object }> }
  responses: Record<number, Answer>
}

/** A string. */
export const text = { type: 'string' } as const
/** An RFC 3339 time. */
export const time = { type: 'string', format: 'date-time' } as const
/** A UUID in lower case. */
export const uuid = { type: 'string', format: 'uuid' } as const
/** A whole number from 0. */
export const count = { type: 'integer', minimum: 0 } as const
/** True or false. */
export const flag = { type: 'boolean' } as const
/** An object of members that are not told. */
export const anyObject = { type: 'object' } as const

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
  const required = names.filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    additionalProperties: false,
    // OpenAPI 3.0 admits no empty list.
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
  }
}

/** A body of JSON. */
export function content(schema: Schema) {
  return { 'application/json': { schema: schema as object } }
}

/** An answer of JSON. */
export function answer(description: string, schema: Schema): Answer {
  return { description, content: content(schema) }
}

const errorModel = object({ error: object({ message: text, type: text, code: { type: 'integer' } }) })

/** An answer that is an Iceberg ErrorModel. */
export function error(description: string): Answer {
  return answer(description, errorModel)
}

/** A parameter of the query; optional unless said otherwise. */
export function query(name: string, schema: Schema, required = false): Parameter {
  return { name, in: 'query', required, schema: schema as object }
}

/** A parameter of the path, where there is more to say of it than that it is text. */
export function inPath(name: string, schema: Schema): Parameter {
  return { name, in: 'path', required: true, schema: schema as object }
}

/** A body that a request must have, of JSON. */
export function body(schema: Schema) {
  return { required: true, content: content(schema) }
}

/** One page of a listing. */
export function page(items: Schema): Schema {
  return object({ items: list(items), 'next?': said(text, 'the `after` of the next page') })
}

/** The parameters by which pages are asked for. */
export const pages = [
  query('limit', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
  query('after', said(text, '`next` of the page before')),
]
