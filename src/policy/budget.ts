/**
 * Meters the cost of an evaluation in ticks, because CEL itself has no limits. Comprehension steps charge ticks, and so
 * do functions whose cost grows with their input. There is one meter per thread: evaluation is synchronous, not nested.
 */

/** Created once, because every step of a loop that unwinds throws it, and its stack is of no use. */
const exhaustedError = new Error('the tick budget is exhausted')

let ticksLeft = 0
let exhausted = false

/** Resets the meter to `ticksMax` ticks. */
export function startMeter(ticksMax: number): void {
  ticksLeft = ticksMax
  exhausted = false
}

/**
 * Whether the budget ran out since `startMeter`. Every evaluation must be followed by this check, because CEL's
 * `… || true` absorbs the error that exhaustion throws.
 */
export function meterExhausted(): boolean {
  return exhausted
}

/** Charges `ticks`. Throws once the budget is spent, and at every later call. */
export function charge(ticks: number): void {
  ticksLeft -= ticks
  if (ticksLeft >= 0) return
  exhausted = true
  throw exhaustedError
}
