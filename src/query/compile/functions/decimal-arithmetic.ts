/** Writes arithmetic of decimals for the engines, with room for every result of up to 38 digits. */

import type { NumericSize } from '../../../core/sql-type.ts'
import { fn, type Template, type TemplateCall } from '../base/function-definition.ts'
import { field, once, quotientOnDuckdb, quotientOnTrino, quotientSize } from './quotient.ts'

/** A template that writes its text itself. */
type Writer = Exclude<Template, string | null>

/** Operands of more characters are written once, so that a chain of divisions does not double with each. */
const shortLength = 80

/** Fails for a zero divisor, as PostgreSQL does; DuckDB returns NULL or infinity. */
export const checked =
  (write: (left: string, right: string) => string): Writer =>
  ([left = '', right = ''], { literals }) => {
    const constant = literals[1]
    if (typeof constant === 'string' && Number(constant) !== 0) return write(left, right)
    if (left.length + right.length <= shortLength) return write(left, divisor(left, right))
    const [a, b] = [field('o', 'a'), field('o', 'b')]
    return once(`struct_pack(a := ${left}, b := ${right})`, 'o', write(a, divisor(a, b)))
  }

const divisor = (left: string, right: string): string =>
  `CASE WHEN ${right} = 0 AND ${left} IS NOT NULL THEN error('division by zero') ELSE ${right} END`

/** DuckDB computes decimals of up to 18 digits in 64 bits, and fails where a result has more. */
export const wideEnough =
  (sign: '+' | '-' | '*', engine: 'duckdb' | 'trino' = 'duckdb'): Template =>
  ([left = '', right = ''], { sizeOf, isDouble }) => {
    if (isDouble()) return `(CAST(${left} AS DOUBLE) ${sign} CAST(${right} AS DOUBLE))`
    const [a, b] = [sizeOf(0), sizeOf(1)]
    if (engine === 'trino') return `(${left} ${sign} ${right})`
    // A factor of 38 digits widens a decimal whose size only the engine knows, and keeps its scale.
    if (a === undefined || b === undefined) return `(${left} * CAST(1 AS DECIMAL(38,0)) ${sign} ${right})`
    const digits = sign === '*' ? a[0] + b[0] : Math.max(a[0] - a[1], b[0] - b[1]) + Math.max(a[1], b[1]) + 1
    return digits <= 18 || a[0] > 18
      ? `(${left} ${sign} ${right})`
      : `(CAST(${left} AS DECIMAL(38,${a[1]})) ${sign} ${right})`
  }

/** The remainder, at the larger scale of its operands. */
export const remainder: Writer = (args, call) => {
  const [a, b] = [call.sizeOf(0), call.sizeOf(1)]
  const sized = (sql: string) =>
    a === undefined || b === undefined ? sql : `CAST(${sql} AS DECIMAL(38,${Math.max(a[1], b[1])}))`
  return checked((left, right) => `(${sized(left)} % ${sized(right)})`)(args, call)
}

/** A quotient of decimals, or of doubles where an operand is one. */
export const quotient =
  (engine: 'duckdb' | 'trino'): Writer =>
  (args, call) => {
    const [left = '', right = ''] = args
    const [a, b] = [call.sizeOf(0), call.sizeOf(1)]
    const size = a && b && quotientSize(a, b)
    if (a !== undefined && b !== undefined && size !== undefined)
      return engine === 'duckdb'
        ? quotientOnDuckdb(left, right, a, b, size)
        : quotientOnTrino(left, right, size)
    if (engine === 'trino')
      return `(CAST(${left} AS DOUBLE) / CASE WHEN ${right} = 0 THEN CAST(fail('division by zero') AS DOUBLE) ELSE CAST(${right} AS DOUBLE) END)`
    return checked((above, below) => `(CAST(${above} AS DOUBLE) / ${below})`)(args, call)
  }

/** A numeric as the double that stands for it. */
export const doubleOfNumeric = fn('double of numeric', 'numeric', 'numeric', 'CAST({0} AS DOUBLE)')

/** Whether decimals of these sizes have room to be integers of one scale. */
export function isWholeInIntegers(shapes: readonly (NumericSize | 'double' | undefined)[]): boolean {
  const sizes = shapes.flatMap((shape) => (typeof shape === 'object' ? [shape] : []))
  const scale = Math.max(...sizes.map(([, digits]) => digits))
  return sizes.length === shapes.length && sizes.every(([precision]) => precision + scale <= 38)
}

/** Such decimals are divided exactly. */
function wholeInIntegers(args: readonly string[], call: TemplateCall): string | undefined {
  const sizes = [call.sizeOf(0), call.sizeOf(1)]
  if (!isWholeInIntegers(sizes)) return undefined
  const scale = Math.max(...sizes.map((size) => size?.[1] ?? 0))
  const integer = (sql: string, index: number) =>
    `CAST(CAST(${sql} AS DECIMAL(38,${sizes[index]?.[1] ?? 0})) * CAST(1${'0'.repeat(scale)} AS DECIMAL(38,0)) AS HUGEINT)`
  const write = (left: string, right: string) =>
    `CAST(${integer(left, 0)} // ${integer(right, 1)} AS DECIMAL(38,0))`
  return checked(write)(args, call)
}

/** `div`: a quotient cut to its whole part. */
export const wholeQuotient =
  (engine: 'duckdb' | 'trino'): Writer =>
  (args, call) => {
    const whole = engine === 'duckdb' ? wholeInIntegers(args, call) : undefined
    if (whole !== undefined) return whole
    const sql = quotient(engine)(args, call)
    return engine === 'duckdb' ? `trunc(${sql})` : `truncate(${sql})`
  }
