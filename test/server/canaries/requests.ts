/**
 * Derives requests from the schemas of operations and tools: members by name from what was planted and what lists
 * answered, the others as their schema says. A new operation is called without a line here.
 */

import type { DescribedOperation, Parameter } from '../../../src/server/rest/describe.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly format?: string
  readonly minimum?: number
  readonly minLength?: number
}

/** Values by the name of a member. */
export type Pool = Readonly<Record<string, unknown>>

/** A value that the schema takes, from the pool where the name of the member is there. */
export function valueFor(name: string, schema: Schema, pool: Pool, isWhole: boolean): unknown {
  const isObject = schema.type === 'object' && schema.properties !== undefined
  if (Object.hasOwn(pool, name) && fits(pool[name], schema)) return pool[name]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.default !== undefined) return schema.default
  if (schema.anyOf !== undefined)
    return valueFor(name, schema.anyOf.find(({ type }) => type !== 'null') ?? {}, pool, isWhole)
  if (isObject) return membersFor(schema, pool, isWhole)
  if (schema.type === 'array') return [valueFor(name.replace(/s$/, ''), schema.items ?? {}, pool, isWhole)]
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return false
  if (schema.format === 'uuid') return crypto.randomUUID()
  if (schema.format === 'date-time') return new Date().toISOString()
  return schema.type === 'object' ? {} : 'x'.repeat(schema.minLength ?? 1)
}

function fits(value: unknown, { type, anyOf, items }: Schema): boolean {
  if (anyOf !== undefined) return anyOf.some((one) => fits(value, one))
  if (type === 'array') return Array.isArray(value) && items !== undefined
  if (type === undefined) return true
  // Numbers of 64 bits are texts as well.
  return [type].flat().includes(typeof value === 'number' ? 'integer' : typeof value)
}

/** Required members, and where `isWhole` also optional ones that the pool has. */
function membersFor({ properties = {}, required = [] }: Schema, pool: Pool, isWhole: boolean): object {
  const wanted = Object.entries(properties).filter(
    ([name]) => required.includes(name) || (isWhole && Object.hasOwn(pool, name)),
  )
  return Object.fromEntries(wanted.map(([name, schema]) => [name, valueFor(name, schema, pool, isWhole)]))
}

export interface Asked {
  readonly method: string
  readonly target: string
  readonly body?: string
  readonly type?: string
}

const parameter = ({ name, schema }: Parameter, pool: Pool, isWhole: boolean) => {
  const given = pool[name]
  if (Array.isArray(given)) return given.join('\u001f')
  return String(valueFor(name, schema as Schema, pool, isWhole))
}

/** A request of an operation. @param isWhole whether optional members that the pool knows are sent */
export function requestOf(
  method: string,
  path: string,
  operation: DescribedOperation,
  pool: Pool,
  isWhole: boolean,
): Asked {
  const parameters = operation.parameters ?? []
  const inPath = (name: string) => {
    const found = parameters.find((one) => one.in === 'path' && one.name === name)
    return encodeURIComponent(found === undefined ? 'x' : parameter(found, pool, isWhole))
  }
  const query = parameters
    .filter((one) => one.in === 'query' && (one.required || (isWhole && Object.hasOwn(pool, one.name))))
    .map((one): [string, string] => [one.name, parameter(one, pool, isWhole)])
  const text = new URLSearchParams(query).toString()
  const target =
    path.replace(/\{(\w+)\}/g, (_, name: string) => inPath(name)) + (text === '' ? '' : `?${text}`)
  const contents = operation.requestBody?.content ?? {}
  const all = Object.entries(contents)
  const [type, content] = all.find(([name]) => name.includes('yaml')) ?? all[0] ?? []
  if (content === undefined) return { method, target }
  if (type !== 'application/json')
    return { method, target, type: type as string, body: String(pool.document) }
  const body = JSON.stringify(membersFor(content.schema as Schema, pool, isWhole))
  return { method, target, type: 'application/json', body }
}

/** The request of the operation's own example, with what the pool has in its places. */
export function exampleOf(
  method: string,
  path: string,
  operation: DescribedOperation,
  pool: Pool,
): Asked | undefined {
  const content = operation.requestBody?.content?.['application/json']
  if (content?.example === undefined) return undefined
  const { properties = {} } = content.schema as Schema
  const body = Object.fromEntries(
    Object.entries(content.example).map(([name, value]) => {
      const schema = properties[name] ?? {}
      const isOfTable = ['table', 'namespace', 'catalog', 'column', 'metrics', 'dimensions'].includes(name)
      return [name, isOfTable ? valueFor(name, schema, pool, false) : value]
    }),
  )
  return { ...requestOf(method, path, operation, pool, false), body: JSON.stringify(body) }
}
