/**
 * Gives numerics that engines compute as doubles the digits after the point that PostgreSQL shows: those of `round(x, n)`,
 * and those of a quotient by its rule (select_div_scale). A double has no more than 17 digits, so the rest are zeros. It
 * does not see the operands of a quotient: where the value does not tell, docs/sql.md says what is shown.
 */

/**
 * How many digits follow the point: so many, as PostgreSQL divides but no fewer than the operands have, or as many as a
 * value needs. Undefined: as the engine has it.
 */
export type TextScale = number | { readonly operands: number } | 'needed'

/** PostgreSQL divides to so many significant digits at least, in groups of four, and never shows more behind the point. */
const significantDigits = 16
const groupDigits = 4
const scaleMax = 1_000

/**
 * The scale of a quotient by its value. Where dividend and divisor begin with the same group of digits, PostgreSQL shows
 * one group more, which the value tells for powers of 10,000 only: no other quotient of whole numbers below 10,000 has
 * such operands. Zero is shown as divided by a number from 1 to 9,999.
 *
 * @param operands the most digits that an operand has after the point
 */
export function quotientScale(value: number, operands: number): number {
  const [, exponent = '0'] = Math.abs(value).toExponential().split('e')
  const weight = Math.floor(Number(exponent) / groupDigits)
  const isAlike = value === 0 || Math.abs(value) === Number(`1e${weight * groupDigits}`)
  const scale = significantDigits - groupDigits * (isAlike ? weight - 1 : weight)
  return Math.min(scaleMax, Math.max(0, operands, scale))
}

/** Digits at another scale, rounded half away from zero as PostgreSQL rounds. */
export function rescaled(digits: bigint, from: number, to: number): bigint {
  if (from <= to) return digits * 10n ** BigInt(to - from)
  const unit = 10n ** BigInt(from - to)
  const half = digits < 0n ? -unit / 2n : unit / 2n
  return (digits + half) / unit
}

/** The digits of one double at the scale that is shown. @param own the double's shortest digits */
export function shownDigits(
  value: number,
  own: { readonly digits: bigint; readonly scale: number },
  shown: TextScale | undefined,
): { readonly digits: bigint; readonly scale: number } {
  if (shown === undefined) return own
  if (shown === 'needed') return withoutZeros(own)
  const scale = typeof shown === 'number' ? shown : quotientScale(value, shown.operands)
  return { digits: rescaled(own.digits, own.scale, scale), scale }
}

function withoutZeros({ digits, scale }: { readonly digits: bigint; readonly scale: number }) {
  let [rest, left] = [digits, scale]
  while (left > 0 && rest % 10n === 0n) {
    rest /= 10n
    left--
  }
  return { digits: rest, scale: left }
}
