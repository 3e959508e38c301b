/**
 * Reads typed fields of parsed Iceberg JSON. The caller chooses the Fault for a missing or mistyped field: bad_request
 * where a client sent the document, upstream_failed where the upstream did.
 */

import type { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'

export interface FieldReader {
  /** The Fault for a document that is invalid. @param what a phrase such as "`uuid` must be a string" */
  fault(what: string): Fault
  string(from: JsonObject, key: string): string
  integer(from: JsonObject, key: string): bigint
  object(from: JsonObject, key: string): JsonObject
  objects(from: JsonObject, key: string): readonly JsonObject[]
  strings(from: JsonObject, key: string): readonly string[]
  integers(from: JsonObject, key: string): readonly bigint[]
  /** The optional methods return undefined where the key is absent or null. */
  optionalString(from: JsonObject, key: string): string | undefined
  optionalInteger(from: JsonObject, key: string): bigint | undefined
  optionalIntegers(from: JsonObject, key: string): readonly bigint[] | undefined
  optionalObject(from: JsonObject, key: string): JsonObject | undefined
  optionalObjects(from: JsonObject, key: string): readonly JsonObject[] | undefined
}

const isString = (value: JsonValue): value is string => typeof value === 'string'
const isInteger = (value: JsonValue): value is bigint => typeof value === 'bigint'
const isArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
const isArrayOf =
  <T extends JsonValue>(isItem: (value: JsonValue) => value is T) =>
  (value: JsonValue): value is readonly T[] & JsonValue =>
    isArray(value) && value.every(isItem)

const isObjects = isArrayOf(isJsonObject)
const isStrings = isArrayOf(isString)
const isIntegers = isArrayOf(isInteger)

/** @param fault makes the Fault that every method throws */
export function fieldReader(fault: (what: string) => Fault): FieldReader {
  function optional<T extends JsonValue>(
    is: (value: JsonValue) => value is T,
    name: string,
  ): (from: JsonObject, key: string) => T | undefined {
    return (from, key) => {
      const value = from.get(key)
      if (value === undefined || value === null) return undefined
      if (!is(value)) throw fault(`\`${key}\` must be ${name}`)
      return value
    }
  }
  function required<T extends JsonValue>(
    is: (value: JsonValue) => value is T,
    name: string,
  ): (from: JsonObject, key: string) => T {
    const read = optional(is, name)
    return (from, key) => {
      const value = read(from, key)
      if (value === undefined) throw fault(`\`${key}\` is missing`)
      return value
    }
  }
  return {
    fault,
    string: required(isString, 'a string'),
    integer: required(isInteger, 'an integer'),
    object: required(isJsonObject, 'an object'),
    objects: required(isObjects, 'an array of objects'),
    strings: required(isStrings, 'an array of strings'),
    integers: required(isIntegers, 'an array of integers'),
    optionalString: optional(isString, 'a string'),
    optionalInteger: optional(isInteger, 'an integer'),
    optionalIntegers: optional(isIntegers, 'an array of integers'),
    optionalObject: optional(isJsonObject, 'an object'),
    optionalObjects: optional(isObjects, 'an array of objects'),
  }
}
