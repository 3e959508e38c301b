/** Reads from a running service which operations it has, out of its OpenAPI document. It calls none of them. */

import { Fault } from '../base/fault.ts'
import type { Operation } from '../core/operation.ts'
import { openHttpClient } from './http-client.ts'
import type { ServiceAddress } from './service-address.ts'

export interface ServedOperation {
  readonly name: string
  readonly method: Operation['method']
  readonly path: Operation['path']
  readonly tag: string
  readonly summary: string
  readonly description: string | undefined
  readonly parameters: readonly ServedMember[]
  /** Members of a JSON body; none where a document is its body. */
  readonly members: readonly ServedMember[]
  /** Media types of its body. */
  readonly media: readonly string[]
}

export interface ServedMember {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly required: boolean
  /** Of JSON Schema. */
  readonly type: string | undefined
  readonly choices: readonly string[]
  readonly description: string | undefined
}

interface Schema {
  /** Several where a value may have either: an id of 64 bits is text or a number. */
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Described {
  readonly operationId?: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required?: boolean
    readonly description?: string
    readonly schema?: Schema
  }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

/** The operations of a service, by name. @throws Fault where it cannot be reached, or is no such service */
export async function servedOperations(
  service: ServiceAddress,
  signal: AbortSignal | undefined,
): Promise<readonly ServedOperation[]> {
  const named = () => ({ method: 'GET', path: '/api/v1/openapi.json' }) as const
  const client = openHttpClient(service, { named, ...(signal && { signal }) })
  const document = (await client.run('get_openapi', {})) as {
    readonly paths?: Readonly<Record<string, Readonly<Record<string, Described>>>>
  }
  const found = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(
      ([method, described]) =>
        served(path as Operation['path'], method.toUpperCase() as Operation['method'], described) ?? [],
    ),
  )
  if (found.length === 0)
    throw new Fault('unavailable', 'What answers at this address describes no operations: it is no Covenant.')
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function served(
  path: Operation['path'],
  method: Operation['method'],
  one: Described,
): ServedOperation | undefined {
  if (one.operationId === undefined) return undefined
  const content = one.requestBody?.content ?? {}
  const body = content['application/json']?.schema
  const required = new Set(body?.required ?? [])
  return {
    ...{ name: one.operationId, method, path },
    tag: one.tags?.[0] ?? '',
    summary: one.summary ?? '',
    description: one.description,
    parameters: (one.parameters ?? []).map(({ name, in: place, required = false, schema, description }) => ({
      ...{ name, place, required },
      ...typeOf(schema, description),
    })),
    members: Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
      ...{ name, place: 'body' as const, required: required.has(name) },
      ...typeOf(schema),
    })),
    media: Object.keys(content),
  }
}

function typeOf(schema: Schema = {}, description = schema.description) {
  const types = [schema.type ?? []].flat()
  // Text first: a number of 64 bits would be rounded.
  const type = types.includes('string') ? 'string' : types[0]
  return { type, choices: (schema.enum ?? []).map(String), description }
}

/** All that an operation takes. */
export function membersOf({ parameters, members }: ServedOperation): readonly ServedMember[] {
  return [...parameters, ...members]
}

/** The operation of this name, with - or _ between its words. */
export function findOperation(
  operations: readonly ServedOperation[],
  word: string,
): ServedOperation | undefined {
  const name = word.replaceAll('-', '_')
  return operations.find((one) => one.name === name || one.name === word)
}
