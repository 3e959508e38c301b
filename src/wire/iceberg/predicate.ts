/**
 * Reads and writes Iceberg's predicates as JSON (Iceberg REST OpenAPI document, Predicate): the present form with `left`,
 * `right` and `child`, and the older one with `term` and `value`. Binds no names and decodes no values.
 */

import type { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObject } from '../../base/json.ts'

/** What a predicate tests. `other`: a transform or function, which is not evaluated here. */
export type Operand =
  | { readonly kind: 'field'; readonly id: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'other' }

export const comparisons = [
  'lt',
  'lt-eq',
  'gt',
  'gt-eq',
  'eq',
  'not-eq',
  'starts-with',
  'not-starts-with',
] as const
export type ComparisonType = (typeof comparisons)[number]
const unaryTests = ['is-null', 'not-null', 'is-nan', 'not-nan'] as const
type UnaryTest = (typeof unaryTests)[number]

export type Predicate =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly left: Predicate; readonly right: Predicate }
  | { readonly kind: 'not'; readonly child: Predicate }
  | { readonly kind: 'unary'; readonly type: UnaryTest; readonly operand: Operand }
  | {
      readonly kind: 'comparison'
      readonly type: ComparisonType
      readonly operand: Operand
      /** In JSON single-value form. Undefined where it is no literal. */
      readonly value: JsonValue | undefined
    }
  | {
      readonly kind: 'set'
      readonly type: 'in' | 'not-in'
      readonly operand: Operand
      readonly values: readonly JsonValue[]
    }

interface PredicateBounds {
  /** Most predicates in one. */
  readonly nodesMax: number
  /** Most values of one set. */
  readonly valuesMax: number
}

/**
 * @param fault makes the Fault for a predicate that is malformed, has an unknown type or is too large
 * @throws what `fault` makes
 */
export function parsePredicate(
  value: JsonValue,
  { nodesMax, valuesMax }: PredicateBounds,
  fault: (what: string) => Fault,
): Predicate {
  let nodes = 0
  const read = (given: JsonValue | undefined): Predicate => {
    if (++nodes > nodesMax) throw fault(`a predicate has more than ${nodesMax} parts`)
    if (typeof given === 'boolean') return { kind: 'constant', value: given }
    if (!isJsonObject(given)) throw fault('a predicate must be a boolean or an object')
    const type = given.get('type')
    const test = unaryTests.find((one) => one === type)
    if (test !== undefined) return { kind: 'unary', type: test, operand: operandOf(childOf(given)) }
    const comparison = comparisons.find((one) => one === type)
    if (comparison !== undefined) return compared(given, comparison)
    switch (type) {
      // Java writes a constant as the text alone or as its type.
      case 'true':
      case 'false':
      case true:
      case false:
        return { kind: 'constant', value: String(type) === 'true' }
      case 'and':
      case 'or':
        return { kind: type, left: read(given.get('left')), right: read(given.get('right')) }
      case 'not':
        return { kind: 'not', child: read(given.get('child')) }
      case 'in':
      case 'not-in': {
        const values = valuesOf(given.get('values'))
        if (values.length > valuesMax) throw fault(`a set has more than ${valuesMax} values`)
        return { kind: 'set', type, operand: operandOf(childOf(given)), values }
      }
      default:
        throw fault('a predicate has an unknown type')
    }
  }

  function compared(given: JsonObject, type: ComparisonType): Predicate {
    const isOld = given.has('term')
    const left = given.get(isOld ? 'term' : 'left')
    const right = given.get(isOld ? 'value' : 'right')
    if (left === undefined || right === undefined) throw fault(`a predicate of type ${type} lacks an operand`)
    if (!isOld && isLiteral(left) && !isLiteral(right)) {
      const operand = operandOf(right)
      const flipped = flippedTypes.get(type)
      // Which text a column begins is not asked of a column.
      if (flipped === undefined)
        return { kind: 'comparison', type, operand: { kind: 'other' }, value: undefined }
      return { kind: 'comparison', type: flipped, operand, value: literalOf(left) }
    }
    return {
      kind: 'comparison',
      type,
      operand: isOld ? operandOf(left) : isLiteral(left) ? { kind: 'other' } : operandOf(left),
      value: isLiteral(right) ? literalOf(right) : undefined,
    }
  }

  function operandOf(given: JsonValue | undefined): Operand {
    if (typeof given === 'string') return { kind: 'name', name: given }
    if (!isJsonObject(given)) throw fault('a predicate tests no field')
    if (given.get('type') !== 'reference') return { kind: 'other' }
    const id = given.get('id')
    if (typeof id === 'bigint') return { kind: 'field', id: Number(id) }
    const name = given.get('name') ?? given.get('term')
    if (typeof name === 'string') return { kind: 'name', name }
    throw fault('a reference has neither id nor name')
  }

  function valuesOf(given: JsonValue | undefined): readonly JsonValue[] {
    const listed = isJsonObject(given) ? given.get('values') : given
    if (!Array.isArray(listed)) throw fault('a set lacks its values')
    return (listed as readonly JsonValue[]).map(literalOf)
  }

  return read(value)
}

const flippedTypes: ReadonlyMap<ComparisonType, ComparisonType> = new Map([
  ['eq', 'eq'],
  ['not-eq', 'not-eq'],
  ['lt', 'gt'],
  ['lt-eq', 'gt-eq'],
  ['gt', 'lt'],
  ['gt-eq', 'lt-eq'],
])

function childOf(given: JsonObject): JsonValue | undefined {
  return given.get(given.has('term') ? 'term' : 'child')
}

function isLiteral(value: JsonValue): boolean {
  return !isJsonObject(value) || value.get('type') === 'literal'
}

function literalOf(value: JsonValue): JsonValue {
  return isJsonObject(value) && value.get('type') === 'literal' ? (value.get('value') ?? null) : value
}

/** The predicate in the present form, with fields by id. @throws RangeError for a field without an id */
export function predicateJson(predicate: Predicate): JsonValue {
  switch (predicate.kind) {
    case 'constant':
      return predicate.value
    case 'and':
    case 'or':
      return jsonObject({
        type: predicate.kind,
        left: predicateJson(predicate.left),
        right: predicateJson(predicate.right),
      })
    case 'not':
      return jsonObject({ type: 'not', child: predicateJson(predicate.child) })
    case 'unary':
      return jsonObject({ type: predicate.type, child: referenceJson(predicate.operand) })
    case 'comparison': {
      if (predicate.value === undefined) throw new RangeError('a comparison without a value')
      const { type, operand, value } = predicate
      return jsonObject({ type, left: referenceJson(operand), right: literalJson(value) })
    }
    case 'set': {
      const { type, operand, values } = predicate
      return jsonObject({ type, child: referenceJson(operand), values: [...values] })
    }
  }
}

function referenceJson(operand: Operand): JsonObject {
  if (operand.kind !== 'field') throw new RangeError('a field without an id')
  return jsonObject({ type: 'reference', id: BigInt(operand.id) })
}

function literalJson(value: JsonValue): JsonObject {
  return jsonObject({ type: 'literal', value })
}
