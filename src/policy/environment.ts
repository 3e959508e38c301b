/**
 * Defines the CEL environment of every policy: the library's standard functions, and those of
 * docs/reference/policies.md 3.1. It replaces functions that are unbounded (`+`, `in`, `==`, `matches`), lenient
 * (`int("")` is 0) or wrong (a key that holds null looks absent). Names that start with `@` are for rewritten programs.
 */

import {
  type CelFunc,
  type CelList,
  type CelMap,
  CelScalar,
  celEnv,
  celFunc,
  celList,
  celMethod,
  celUint,
  isCelList,
  isCelMap,
  listType,
  mapType,
  objectType,
} from '@bufbuild/cel'
import { create } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import { RE2JS } from '@bufbuild/re2'
import { int64Max, int64Min, uint64Max } from '../base/int64.ts'
import { Lru } from '../base/lru.ts'
import { charge } from './budget.ts'
import { calendarFunctions } from './calendar.ts'
import { columnFunctions, columnId } from './columns.ts'
import {
  factsKey,
  functionOf,
  type ManifestFact,
  manifestFactNames,
  manifestFactTypes,
  nullCountFunction,
  nullCountsKey,
} from './manifest-facts.ts'

const { BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT } = CelScalar
const LIST = listType(DYN)
const MAP = mapType(DYN, DYN)
const TIMESTAMP = objectType(TimestampSchema)

/** Copying, comparing or searching this many characters costs about one comprehension step. */
const charactersPerTick = 32
/** Copying or counting this many entries of a list or map costs about one comprehension step. */
const entriesPerTick = 8
const matchTicks = 8
const compileRegexTicks = 400
const timestampSecondsMin = -62_135_596_800n
const timestampSecondsMax = 253_402_300_799n

/** Functions that only rewritten programs call (see instrument.ts). */
export const internalFunctions = {
  tick: '@tick',
  range: '@range',
  has: '@has',
  newList: '@new_list',
  append: '@append',
} as const

const regexes = new Lru<string, RE2JS>(500)

/** Must be called after every evaluation that was cut off, because a matcher that stopped halfway may be corrupt. */
export function dropRegexCache(): void {
  regexes.clear()
}

/** What is wrong with an RE2 pattern; undefined if it is valid. */
export function regexProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

function matches(text: string, pattern: string): boolean {
  charge(matchTicks + (text.length + pattern.length) / charactersPerTick)
  let regex = regexes.get(pattern)
  if (regex === undefined) {
    charge(compileRegexTicks + pattern.length)
    regex = RE2JS.compile(pattern)
    regexes.set(pattern, regex)
  }
  return regex.test(text)
}

/** Charges for every value that a comparison of `value` may visit. */
function chargeWeight(value: unknown): void {
  if (typeof value === 'string') charge(value.length / charactersPerTick)
  else if (value instanceof Uint8Array) charge(value.length / charactersPerTick)
  else if (isCelList(value)) {
    charge(1 + value.size / entriesPerTick)
    for (const element of value) chargeWeight(element)
  } else if (isCelMap(value)) {
    charge(1 + value.size / entriesPerTick)
    for (const [, element] of value) chargeWeight(element)
  }
}

function isContainer(value: unknown): boolean {
  return isCelList(value) || isCelMap(value)
}

/** The library's functions: its `@in` and `==` are called, so that equality has one implementation. */
const standard = celEnv().funcs

function standardCall(name: string, args: readonly [unknown, unknown]): boolean {
  const result: unknown = standard.find(name)?.call(0, undefined, [...args] as never)
  if (typeof result !== 'boolean') throw result instanceof Error ? result : new Error(`${name} failed`)
  return result
}

function equal(left: unknown, right: unknown): boolean {
  if (isContainer(left) && isContainer(right)) chargeWeight(left)
  else if (typeof left === 'string' && typeof right === 'string') charge(left.length / charactersPerTick)
  return standardCall('_==_', [left, right])
}

function inList(value: unknown, list: CelList): boolean {
  charge(list.size / entriesPerTick)
  if (isContainer(value)) chargeWeight(list)
  return standardCall('@in', [value, list])
}

/** Looks for the key, not for its value: a key that holds null is present, as in CEL. */
function inMap(key: unknown, map: CelMap): boolean {
  if (typeof key !== 'string') charge(map.size / entriesPerTick)
  return map.get(key as string) !== undefined
}

function concatLists(left: CelList, right: CelList): CelList {
  charge(1 + (left.size + right.size) / entriesPerTick)
  return celList([...left, ...right])
}

const appendable = new WeakMap<CelList, unknown[]>()

/** The accumulator of `map` and `filter`. It is appended in place, because the library's nests deeper at each step. */
function newList(): CelList {
  const elements: never[] = []
  const list = celList(elements)
  appendable.set(list, elements)
  return list
}

function append(list: CelList, element: unknown): CelList {
  const elements = appendable.get(list)
  if (elements === undefined) throw new TypeError('append to a list that is no accumulator')
  elements.push(element)
  return list
}

function parseInteger(text: string, least: bigint, greatest: bigint): bigint {
  if (!/^[+-]?\d{1,20}$/.test(text)) throw new Error('not an integer')
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  if (value < least || value > greatest) throw new Error('integer out of range')
  return value
}

function parseDouble(text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) || /^(NaN|[+-]?Infinity)$/.test(text))
    return Number(text)
  throw new Error('not a number')
}

function secondsToTimestamp(seconds: bigint) {
  if (seconds < timestampSecondsMin || seconds > timestampSecondsMax)
    throw new Error('timestamp out of range')
  return create(TimestampSchema, { seconds, nanos: 0 })
}

/** Whether `<document>.<part>.fields[].name` has `name`. A document without that list is an error, never false. */
function hasField(document: CelMap, part: string, name: string): boolean {
  const holder = document.get(part)
  const fields = isCelMap(holder) ? holder.get('fields') : undefined
  if (!isCelList(fields)) throw new Error(`the table has no ${part}.fields`)
  for (const field of fields) {
    charge(1)
    if (!isCelMap(field)) throw new Error(`${part}.fields holds something that is no field`)
    if (field.get('name') === name) return true
  }
  return false
}

/** A fact of the commit's manifests. One that was not read is an error, never 0 or false. */
function manifestFact(commit: CelMap, name: ManifestFact): unknown {
  const facts = commit.get(factsKey)
  const value = isCelMap(facts) ? facts.get(name) : undefined
  if (value === undefined)
    throw new Error(
      name === 'transform_current'
        ? 'the plan of the commit was not checked'
        : 'the manifests of the commit were not read',
    )
  return value
}

/** Nulls that the added data files have in a column. What a file's manifest does not count is an error, never 0. */
function nullCount(commit: CelMap, column: string): bigint {
  if (manifestFact(commit, 'added_files') === 0n) return 0n
  const result = commit.get('result')
  const id = isCelMap(result) ? columnId(result, column) : undefined
  if (id === undefined) throw new Error(`the table has no column ${column} after the commit`)
  const facts = commit.get(factsKey)
  const counts = isCelMap(facts) ? facts.get(nullCountsKey) : undefined
  const nulls = isCelMap(counts) ? counts.get(String(id)) : undefined
  // Files without rows need not count any.
  if (nulls === undefined && counts !== undefined && manifestFact(commit, 'added_rows') === 0n) return 0n
  if (typeof nulls !== 'bigint')
    throw new Error(`a manifest of the commit does not count the nulls of ${column} in every added file`)
  return nulls
}

function hasRole(principal: CelMap, role: string): boolean {
  const roles = principal.get('roles')
  if (roles === undefined) return false
  if (!isCelList(roles)) throw new Error('principal.roles is not a list')
  return inList(role, roles)
}

function sized(length: number): void {
  charge(length / charactersPerTick)
}

const functions: CelFunc[] = [
  ...calendarFunctions,
  ...columnFunctions,
  celFunc('manifest.has_column', [MAP, STRING], BOOL, (table, name) => hasField(table, 'schema', name)),
  celFunc('manifest.has_partition', [MAP, STRING], BOOL, (table, name) =>
    hasField(table, 'partition_spec', name),
  ),
  ...manifestFactNames.map((name) =>
    celFunc(
      functionOf(name),
      [MAP],
      manifestFactTypes[name] === 'bool' ? BOOL : INT,
      (commit) => manifestFact(commit, name) as never,
    ),
  ),
  celFunc(nullCountFunction, [MAP, STRING], INT, nullCount),
  celFunc('principal.role', [MAP, STRING], BOOL, hasRole),

  celFunc('_==_', [DYN, DYN], BOOL, equal),
  celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !equal(left, right)),
  celFunc('@in', [DYN, LIST], BOOL, inList),
  celFunc('@in', [STRING, MAP], BOOL, inMap),
  celFunc('@in', [DOUBLE, MAP], BOOL, inMap),
  celFunc('@in', [INT, MAP], BOOL, inMap),
  celFunc('@in', [BOOL, MAP], BOOL, inMap),
  celFunc('@in', [UINT, MAP], BOOL, inMap),
  celFunc('_+_', [LIST, LIST], LIST, concatLists),
  celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
    sized(left.length + right.length)
    return left + right
  }),
  celFunc('_+_', [BYTES, BYTES], BYTES, (left, right) => {
    sized(left.length + right.length)
    return Buffer.concat([left, right])
  }),
  celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
    return matches(this, pattern)
  }),
  celFunc('matches', [STRING, STRING], BOOL, matches),
  celMethod('contains', STRING, [STRING], BOOL, function (part) {
    sized(this.length + part.length)
    return this.includes(part)
  }),
  celFunc('size', [STRING], INT, countCodePoints),
  celMethod('size', STRING, [], INT, function () {
    return countCodePoints(this)
  }),
  celFunc('string', [BYTES], STRING, (bytes) => {
    sized(bytes.length)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  }),
  celFunc('bytes', [STRING], BYTES, (text) => {
    sized(text.length)
    return new TextEncoder().encode(text)
  }),
  celFunc('int', [STRING], INT, (text) => parseInteger(text, int64Min, int64Max)),
  celFunc('uint', [STRING], UINT, (text) => celUint(parseInteger(text, 0n, uint64Max))),
  celFunc('double', [STRING], DOUBLE, parseDouble),
  celFunc('timestamp', [INT], TIMESTAMP, secondsToTimestamp),

  celFunc(internalFunctions.tick, [DYN, DYN], DYN, (condition, ticks) => {
    charge(Number(ticks))
    return condition
  }),
  celFunc(internalFunctions.range, [DYN], DYN, (range) => {
    if (isCelList(range) || isCelMap(range)) charge(1 + range.size / entriesPerTick)
    return range
  }),
  celFunc(internalFunctions.has, [MAP, STRING], BOOL, (map, key) => map.get(key) !== undefined),
  celFunc(internalFunctions.newList, [], LIST, newList),
  celFunc(internalFunctions.append, [LIST, DYN], LIST, append),
]

function countCodePoints(text: string): bigint {
  sized(text.length)
  let count = 0n
  for (const _ of text) count++
  return count
}

/** The environment that every policy is checked against and planned in. */
export const environment = celEnv({ funcs: functions })
