/** Reads the input of an operation from its request: path members, then the query or the body. */

import { cleanText } from '../base/clean-text.ts'
import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { nearestName } from '../base/nearest-name.ts'
import type { Declaration } from '../core/operation.ts'
import { limits } from '../limits.ts'
import { pathMembers, pathPattern } from './operation-path.ts'
import { readBodyOf } from './read-body.ts'
import { type ReadableSchema, readValue } from './read-value.ts'

/** Levels of a namespace in a path or query, as in the Iceberg REST specification. */
const levelSeparator = '\u001f'

/** Where each member of an operation's input comes from, by name. */
export function placesOf({
  method,
  path,
  input,
}: Pick<Declaration, 'method' | 'path' | 'input'>): Readonly<
  Record<'path' | 'query' | 'body', readonly string[]>
> {
  const inPath = pathMembers(path)
  const others = Object.keys(input?.properties ?? {}).filter((name) => !inPath.includes(name))
  const hasBody = method !== 'GET' && method !== 'DELETE'
  return { path: inPath, query: hasBody ? [] : others, body: hasBody ? others : [] }
}

/**
 * Reads and checks the input of a request.
 * @param again checks the caller again if the body arrived slowly
 * @throws Fault `bad_request` naming the member, `payload_too_large`, and what `again` throws
 */
export async function readInput(
  declaration: Declaration,
  request: Request,
  again: () => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const { pathname, searchParams } = new URL(request.url)
  const places = placesOf(declaration)
  if (declaration.input === undefined) return {}
  const { properties, required = [] } = declaration.input as ReadableSchema
  const read = (names: readonly string[], values: JsonObject): object => {
    const schemas = Object.fromEntries(names.map((name) => [name, properties?.[name] ?? {}]))
    return readValue({ type: 'object', properties: schemas, required }, values, '') as object
  }
  const inPath = pathPattern(declaration.path).exec(pathname)?.groups ?? {}
  const schemaOf = (name: string) => properties?.[name] ?? {}
  const path = places.path.map((name) => [name, asJson(schemaOf(name), decoded(inPath[name] ?? ''))] as const)
  const query = places.query.flatMap((name) => {
    const value = searchParams.get(name)
    return value === null ? [] : [[name, asJson(schemaOf(name), value)] as const]
  })
  return {
    ...read(places.path, new Map(path)),
    ...read(places.query, new Map(query)),
    ...(places.body.length > 0 &&
      read(places.body, await readObject(request, again, required.length === places.path.length))),
  }
}

/** Characters of a parameter's name that an error repeats. */
const nameCharsMax = 60

/** Others serve protocols and probes, which say what to do about parameters that they do not name, or send some. */
export function refusesUnknown({ path }: Pick<Declaration, 'path'>): boolean {
  return path.startsWith('/api/v1/') || path.startsWith('/admin/')
}

/**
 * A mistyped filter must not mean that there is none.
 * @throws Fault `bad_request` for a query parameter that the operation does not take, or that is given twice
 */
export function assertQuery(declaration: Declaration, request: Request): void {
  if (!refusesUnknown(declaration)) return
  const given = new URL(request.url).searchParams
  const { path, query, body } = placesOf(declaration)
  for (const name of new Set(given.keys())) {
    const shown = cleanText(name, nameCharsMax)
    if (query.includes(name)) {
      if (given.getAll(name).length === 1) continue
      throw new Fault('bad_request', `The query parameter \`${shown}\` is given more than once.`)
    }
    if (path.includes(name) || body.includes(name)) {
      const place = path.includes(name) ? 'path' : 'body'
      throw new Fault('bad_request', `\`${shown}\` is no query parameter: it belongs into the ${place}.`)
    }
    const nearest = nearestName(name, query)
    const meant = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`
    const taken = query.length === 0 ? 'It takes none.' : `It takes ${query.join(', ')}.`
    throw new Fault('bad_request', `This operation has no query parameter \`${shown}\`.${meant} ${taken}`)
  }
}

/** @param mayBeEmpty whether no member of the body is required, so that a client may leave the body out */
async function readObject(
  request: Request,
  again: () => Promise<unknown>,
  mayBeEmpty: boolean,
): Promise<JsonObject> {
  const { bytes } = await readBodyOf(request, limits.apiBodyBytesMax, again)
  if (mayBeEmpty && bytes.length === 0) return new Map()
  const value = parseJson(bytes, { membersMax: limits.documentKeysMax })
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The body must be a JSON object.')
  return value
}

/** Converts text of a path or query to the JSON type of its schema; text that does not fit stays text. */
function asJson({ type }: ReadableSchema, value: string): JsonValue {
  if (type === 'array') return value.split(levelSeparator)
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value)
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return BigInt(value)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
  return value
}

/** Decodes a path segment. Text that is not percent-encoded UTF-8 becomes '', which matches nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}
