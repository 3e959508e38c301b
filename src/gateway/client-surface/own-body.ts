/** Reads the body of a change, with the names in it as the catalog has them. All else stays byte for byte where no name changes. */

import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../base/json.ts'
import { foldName, nameCaseOf } from '../../core/name-case.ts'
import { settleNames } from '../stages/own-names.ts'
import { objectOf, type SurfaceRequest } from './surface-request.ts'

interface OwnBody {
  /** With what is known of the catalog's names by now. */
  readonly surface: SurfaceRequest
  readonly bytes: Uint8Array
  readonly object: JsonObject
}

/** Members that are a name, a list of names, or an object that has both. */
const nameMembers = ['name', 'namespace', 'source', 'destination', 'identifier'] as const

/** @throws Fault `bad_request` for a body that is no object; as `settleNames` */
export async function ownBody(surface: SurfaceRequest): Promise<OwnBody> {
  const { parts, tenant, body } = surface
  const sent = objectOf(body)
  const upstream = await settleNames(parts, tenant, surface.upstream, namesOf(sent))
  const own = { ...surface, upstream }
  if (nameCaseOf(upstream.credential) !== 'folded') return { surface: own, bytes: body.bytes, object: sent }
  const object = folded(sent)
  const text = stringifyJson(object)
  return { surface: own, bytes: text === stringifyJson(sent) ? body.bytes : Buffer.from(text), object }
}

function namesOf(from: JsonObject): readonly string[] {
  return nameMembers.flatMap((member) => {
    const value = from.get(member)
    if (typeof value === 'string') return [value]
    if (Array.isArray(value)) return value.filter((one: JsonValue) => typeof one === 'string')
    return isJsonObject(value) ? namesOf(value) : []
  })
}

function folded(from: JsonObject): JsonObject {
  return new Map(
    [...from].map(([member, value]) => [
      member,
      (nameMembers as readonly string[]).includes(member) ? foldedValue(value) : value,
    ]),
  )
}

function foldedValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return foldName(value)
  if (Array.isArray(value))
    return value.map((one: JsonValue) => (typeof one === 'string' ? foldName(one) : one))
  return isJsonObject(value) ? folded(value) : value
}
