/**
 * The tick meter. CEL itself bounds nothing, so comprehension steps and functions whose cost grows with
 * their input charge ticks here. One meter per thread: evaluation is synchronous and never nested.
 */

/** Made once: it is thrown at every step of a loop that unwinds, and its stack tells nothing. */
const exhaustedError = new Error('the tick budget is exhausted')

let ticksLeft = 0
let exhausted = false

/** Opens the meter with `ticksMax` ticks. */
export function startMeter(ticksMax: number): void {
  ticksLeft = ticksMax
  exhausted = false
}

/**
 * Whether the budget ran out since `startMeter`. It must be asked after every evaluation, because CEL's
 * `… || true` absorbs the error that exhaustion throws.
 */
export function meterExhausted(): boolean {
  return exhausted
}

/** Takes `ticks`; throws once the budget is spent, and at every later call. */
export function charge(ticks: number): void {
  ticksLeft -= ticks
  if (ticksLeft >= 0) return
  exhausted = true
  throw exhaustedError
}
