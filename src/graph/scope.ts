/** Types of values in a graph query, the names in scope, and the parameters of the statement that is being made. */

import type { EdgeLabel, VertexLabel } from '../store/database/names.ts'
import { storableJson, storableText } from '../store/database/names.ts'
import type { Value } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import type { Audience } from './schema.ts'

export type Scalar = 'text' | 'number' | 'boolean'
type Single = Scalar | 'node' | 'edge' | 'path' | 'null'
export type Type = Single | { readonly list: Single }

/** What a name stands for: a column of the rows so far. */
export interface Binding {
  readonly type: Type
  readonly column: string
  /** Of a node, unless a procedure found it. */
  readonly label?: VertexLabel
  /** Of an edge. */
  readonly edge?: EdgeLabel
}

/** A value of a parameter that the caller gives. */
export type Parameter = Value | null | readonly Value[]

export interface Scope {
  readonly names: ReadonlyMap<string, Binding>
  readonly statement: StatementValues
  readonly as: Audience
}

/** Bounds of parameters (docs/reference/graph.md 2.4). */
const parameterBounds = { countMax: 100, itemsMax: 100, charsMax: 4_096 } as const

/** The caller's parameters, and the values of the statement as $1 …. */
export class StatementValues {
  readonly #given: ReadonlyMap<string, Parameter>
  readonly #values: (string | number | boolean)[] = []

  /** @throws Fault `bad_request` for values beyond the bounds */
  constructor(given: Readonly<Record<string, unknown>>) {
    const entries = Object.entries(given)
    if (entries.length > parameterBounds.countMax)
      refuse(`there are at most ${parameterBounds.countMax} parameters`)
    this.#given = new Map(entries.map(([name, value]) => [name, checkParameter(value)]))
  }

  get values(): readonly (string | number | boolean)[] {
    return this.#values
  }

  /** @throws Fault `bad_request` where the caller gave none */
  given(name: string): Parameter {
    const value = this.#given.get(name)
    if (value === undefined) refuse('a parameter of the text was not given')
    return value
  }

  /** Adds a value. @returns SQL that stands for it */
  add(value: Value): string {
    if (typeof value === 'string') return `$${this.#values.push(storableText(value))}::text`
    return `$${this.#values.push(value)}::${typeof value === 'number' ? 'float8' : 'boolean'}`
  }

  /** Adds a list. @returns SQL that stands for it */
  addList(values: readonly Value[]): string {
    return `$${this.#values.push(storableJson(values))}::text::jsonb`
  }
}

function checkParameter(value: unknown): Parameter {
  if (value === null) return null
  if (!Array.isArray(value)) return checkValue(value)
  const { itemsMax } = parameterBounds
  if (value.length > itemsMax) refuse(`a list in a parameter has at most ${itemsMax} items`)
  const values = value.map(checkValue)
  if (new Set(values.map((one) => typeof one)).size > 1) refuse('a list in a parameter has items of one type')
  return values
}

function checkValue(value: unknown): Value {
  // Bodies are parsed with exact integers.
  const plain = typeof value === 'bigint' ? Number(value) : value
  if (typeof plain === 'boolean') return plain
  if (typeof plain === 'number') {
    if (!Number.isFinite(plain) || Math.abs(plain) > Number.MAX_SAFE_INTEGER)
      refuse('a number is too large: compare ids as texts')
    return plain
  }
  const { charsMax } = parameterBounds
  if (typeof plain !== 'string') refuse('a parameter is a text, a number, a boolean, null, or a list of such')
  if (plain.length > charsMax) refuse(`a text in a parameter has at most ${charsMax} characters`)
  return plain
}

/** The type of a value. */
export function scalarOf(value: Value): Scalar {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'number' : 'boolean'
}

/** The element type of a list type; undefined for another type. */
export function itemsOf(type: Type): Single | undefined {
  return typeof type === 'object' ? type.list : undefined
}

/** Whether values of this type can be compared, ordered and put into lists by value. */
export function isScalar(type: Type): type is Scalar {
  return type === 'text' || type === 'number' || type === 'boolean'
}
