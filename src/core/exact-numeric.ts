/**
 * Computes numerics as PostgreSQL does, digits after the point included. The SQL for an engine writes what a result needs
 * in reverse Polish notation, as `501.25 3 /`, and the decoder of its rows computes it here. Only the digits that a client
 * sees are computed so; engines compute what their own conditions and orders need.
 */

import { rescaled } from './quotient-scale.ts'

interface Exact {
  readonly digits: bigint
  readonly scale: number
}

/** PostgreSQL's numeric has groups of so many digits, and at least so many significant ones in a quotient. */
const groupDigits = 4
const significantDigits = 16
const scaleMax = 1_000

const zero: Exact = { digits: 0n, scale: 0 }
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)
const power = (exponent: number): bigint => 10n ** BigInt(exponent)

/** As many digits as a numeric of PostgreSQL has, before and after the point. */
const wholeMax = 131_072
const fractionMax = 16_383
/** Products of digits that one batch may take: less than a second. */
const workMax = 1e11

const messages = {
  '22012': 'division by zero',
  '22003': 'value overflows numeric format',
  '54000': 'the digits of this numeric take too long to compute',
  XX000: 'not a numeric expression',
} as const

/** What cannot be computed: a division by zero, too many digits, or a text that is no such expression. */
export class ExactError extends Error {
  constructor(readonly sqlState: keyof typeof messages) {
    super(messages[sqlState])
  }
}

/** What is left of the work that a batch may take. */
export interface Work {
  left: number
}
/** The work of a whole batch. */
export const newWork = (): Work => ({ left: workMax })

/** @throws ExactError 54000 */
function spend(work: Work, values: readonly Exact[], more = 0): void {
  const [a = 1, b = 1] = values.map(({ scale }) => scale + more + 2 * significantDigits)
  work.left -= a * b
  if (work.left < 0) throw new ExactError('54000')
}

let tooLarge: bigint | undefined

/** A result with no more digits than a numeric has. @throws ExactError 22003 */
function bounded(value: Exact): Exact {
  const { digits, scale } = scaleAt(value)
  tooLarge ??= power(wholeMax)
  if (magnitude(digits) >= tooLarge && magnitude(digits) / power(scale) >= tooLarge)
    throw new ExactError('22003')
  return { digits, scale }
}

/** PostgreSQL rounds a product of more digits after the point. */
const scaleAt = (value: Exact): Exact => (value.scale > fractionMax ? cut(value, fractionMax, true) : value)

/** A decimal's text. @throws ExactError XX000 for another text */
export function parseExact(text: string): Exact {
  const found = /^(-?)(\d*)(?:\.(\d+))?$/.exec(text)
  if (found === null || text === '' || text === '-') throw new ExactError('XX000')
  const [, sign = '', whole = '', fraction = ''] = found
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length }
}

function aligned(a: Exact, b: Exact): readonly [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [rescaled(a.digits, a.scale, scale), rescaled(b.digits, b.scale, scale), scale]
}

/** The first group of digits that is not zero, and its place from the point. */
function firstGroup({ digits, scale }: Exact): readonly [group: number, weight: number] {
  if (digits === 0n) return [0, 0]
  const text = magnitude(digits)
    .toString()
    .padStart(scale + 1, '0')
  const whole = text.length - scale
  const padded = '0'.repeat((groupDigits - (whole % groupDigits)) % groupDigits) + text
  const groups = Math.ceil(whole / groupDigits)
  for (let place = 0; ; place++) {
    const group = Number(
      padded.slice(place * groupDigits, (place + 1) * groupDigits).padEnd(groupDigits, '0'),
    )
    if (group > 0) return [group, groups - 1 - place]
  }
}

/** As select_div_scale. */
function quotientScaleOf(a: Exact, b: Exact): number {
  const [dividend, dividendWeight] = firstGroup(a)
  const [divisor, divisorWeight] = firstGroup(b)
  const weight = dividendWeight - divisorWeight - (dividend <= divisor ? 1 : 0)
  const scale = significantDigits - weight * groupDigits
  return Math.min(scaleMax, Math.max(0, a.scale, b.scale, scale))
}

/** A quotient of integers rounded half away from zero. */
function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = [magnitude(dividend), magnitude(divisor)]
  const quotient = (2n * a + b) / (2n * b)
  return dividend < 0n === divisor < 0n ? quotient : -quotient
}

function quotient(a: Exact, b: Exact): Exact {
  if (b.digits === 0n) throw new ExactError('22012')
  const scale = quotientScaleOf(a, b)
  const shift = scale - a.scale + b.scale
  const dividend = shift >= 0 ? a.digits * power(shift) : a.digits
  const divisor = shift >= 0 ? b.digits : b.digits * power(-shift)
  return { digits: roundedQuotient(dividend, divisor), scale }
}

/** The square root, rounded to a scale. */
function root({ digits, scale }: Exact, wanted: number): Exact {
  const shift = 2 * wanted - scale
  const square = shift >= 0 ? digits * power(shift) : digits / power(-shift)
  let low = square === 0n ? 0n : 10n ** BigInt(Math.ceil(square.toString().length / 2))
  for (let next = low; square > 0n; ) {
    next = (low + square / low) / 2n
    if (next >= low) break
    low = next
  }
  return { digits: square - low * low > low ? low + 1n : low, scale: wanted }
}

/** Variance of a count, a sum and a sum of squares, as numeric_stddev_internal; undefined for too few values. */
function spread(
  count: Exact,
  sum: Exact,
  squares: Exact,
  sample: boolean,
  isRoot: boolean,
): Exact | undefined {
  const n = count.digits
  if (n <= (sample ? 1n : 0n)) return undefined
  const scale = 2 * sum.scale
  const numerator = n * rescaled(squares.digits, squares.scale, scale) - sum.digits * sum.digits
  if (numerator <= 0n) return zero
  const variance = quotient({ digits: numerator, scale }, { digits: n * (sample ? n - 1n : n), scale: 0 })
  return isRoot ? root(variance, variance.scale) : variance
}

const binary: Readonly<Record<string, (a: Exact, b: Exact) => Exact>> = {
  '+': (a, b) => {
    const [left, right, scale] = aligned(a, b)
    return { digits: left + right, scale }
  },
  '-': (a, b) => {
    const [left, right, scale] = aligned(a, b)
    return { digits: left - right, scale }
  },
  '*': (a, b) => ({ digits: a.digits * b.digits, scale: a.scale + b.scale }),
  '/': quotient,
  '%': (a, b) => {
    if (b.digits === 0n) throw new ExactError('22012')
    const [left, right, scale] = aligned(a, b)
    return { digits: left % right, scale }
  },
}

const unary: Readonly<Record<string, (a: Exact) => Exact>> = {
  neg: ({ digits, scale }) => ({ digits: -digits, scale }),
  abs: ({ digits, scale }) => ({ digits: magnitude(digits), scale }),
  floor: ({ digits, scale }) => {
    const whole = digits / power(scale)
    return { digits: digits < 0n && digits % power(scale) !== 0n ? whole - 1n : whole, scale: 0 }
  },
  ceil: ({ digits, scale }) => {
    const whole = digits / power(scale)
    return { digits: digits > 0n && digits % power(scale) !== 0n ? whole + 1n : whole, scale: 0 }
  },
}

/** Whether a sample, and whether a root, by the names of the aggregates. */
const spreads: Readonly<Record<string, readonly [sample: boolean, root: boolean]>> = {
  var_samp: [true, false],
  var_pop: [false, false],
  stddev_samp: [true, true],
  stddev_pop: [false, true],
}

/**
 * Computes an expression.
 * @param work that the expressions of one batch share
 * @returns undefined where it is NULL
 * @throws ExactError
 */
export function computeExact(text: string, work: Work = newWork()): Exact | undefined {
  const stack: Exact[] = []
  const pop = (): Exact => {
    const value = stack.pop()
    if (value === undefined) throw new ExactError('XX000')
    return value
  }
  for (const token of text.split(' ')) {
    const [, name = '', digits = ''] = /^([a-z_]+|[-+*/%])(-?\d+)?$/.exec(token) ?? []
    if (name === 'round' || name === 'trunc') {
      const value = pop()
      spend(work, [value], Math.abs(Number(digits)))
      stack.push(cut(value, Number(digits), name === 'round'))
    } else if (spreads[name] !== undefined) {
      const [squares, sum, count] = [pop(), pop(), pop()]
      const value = spread(count, sum, squares, spreads[name][0], spreads[name][1])
      if (value === undefined) return undefined
      stack.push(value)
    } else if (binary[name] !== undefined && digits === '') {
      const [right, left] = [pop(), pop()]
      spend(work, [left, right], name === '/' ? scaleMax : 0)
      stack.push(bounded(binary[name](left, right)))
    } else if (unary[name] !== undefined) stack.push(unary[name](pop()))
    else stack.push(parseExact(token))
  }
  const value = pop()
  if (stack.length > 0) throw new ExactError('XX000')
  return value
}

/** `round` and `trunc` to digits after the point, which may be negative. */
function cut({ digits, scale }: Exact, wanted: number, rounds: boolean): Exact {
  if (wanted >= scale)
    return { digits: rescaled(digits, scale, Math.min(wanted, scaleMax)), scale: Math.min(wanted, scaleMax) }
  const unit = power(scale - wanted)
  const kept = rounds ? roundedQuotient(digits, unit) : digits / unit
  return wanted >= 0 ? { digits: kept, scale: wanted } : { digits: kept * power(-wanted), scale: 0 }
}
