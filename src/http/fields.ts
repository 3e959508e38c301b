/** JSON bodies of administration: read under the cap, field by field, each problem one sentence. */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from '../base/json.ts'
import { parseRfc3339 } from '../base/rfc3339.ts'
import { type SessionScope, sessionScopes } from '../core/session.ts'
import { limits } from '../limits.ts'
import { readBodyOf } from './read-body.ts'

/** The fields of one request's body. Every reader throws Fault `bad_request` naming the field. */
export class Fields {
  constructor(readonly object: JsonObject) {}

  text(name: string): string {
    const value = this.optionalText(name)
    if (value === undefined || value === '') throw new Fault('bad_request', `\`${name}\` is required.`)
    return value
  }

  optionalText(name: string): string | undefined {
    const value = this.object.get(name)
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw new Fault('bad_request', `\`${name}\` must be a string.`)
    return value
  }

  texts(name: string): readonly string[] {
    const value = this.object.get(name) ?? []
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      throw new Fault('bad_request', `\`${name}\` must be an array of strings.`)
    return value
  }

  scopes(name: string): readonly SessionScope[] {
    const names = this.texts(name)
    const scopes = sessionScopes.filter((scope) => names.includes(scope))
    if (scopes.length === 0 || scopes.length !== new Set(names).size)
      throw new Fault('bad_request', `\`${name}\` must hold some of ${sessionScopes.join(', ')}.`)
    return scopes
  }

  /** RFC 3339, in the future. */
  optionalFuture(name: string, nowMs: number): Date | undefined {
    const value = this.optionalText(name)
    if (value === undefined) return undefined
    const date = parseRfc3339(value)
    if (date === undefined || date.getTime() <= nowMs)
      throw new Fault('bad_request', `\`${name}\` must be a time in the future, as in RFC 3339.`)
    return date
  }

  /** A JSON object as a plain one. */
  plainObject(name: string): Readonly<Record<string, unknown>> {
    const value = this.object.get(name)
    if (!isJsonObject(value)) throw new Fault('bad_request', `\`${name}\` must be an object.`)
    return JSON.parse(stringifyJson(value)) as Record<string, unknown>
  }

  /** Refuses a field that nobody asked for: a mistyped `expires_at` must not mean `never`. */
  assertOnly(...names: readonly string[]): void {
    const stranger = [...this.object.keys()].find((name) => !names.includes(name))
    if (stranger !== undefined)
      throw new Fault('bad_request', `The body has an unknown field; known are ${names.join(', ')}.`)
  }
}

/** A request of a caller who has been looked up. */
export interface Asking {
  readonly request: Request
  /** Looks the caller up once more. @throws Fault where he may no more what he may when it began */
  readonly again: () => Promise<unknown>
}

/**
 * The body as fields.
 * @throws Fault `payload_too_large`, `bad_request` where it is not a JSON object of `names` only, and what `again` throws
 */
export async function readFields({ request, again }: Asking, ...names: readonly string[]): Promise<Fields> {
  const value: JsonValue = parseJson((await readBodyOf(request, limits.apiBodyBytesMax, again)).bytes)
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The body must be a JSON object.')
  const fields = new Fields(value)
  fields.assertOnly(...names)
  return fields
}
