/** Statistics of the benchmarks: exact percentiles, seeded random numbers, the bootstrap of a ratio. No I/O. */

/** A number in [0, 1). */
export type Random = () => number

/** Random numbers that a seed determines (mulberry32); good enough to shuffle and resample, for nothing else. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A copy in random order (Fisher–Yates). */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items]
  for (let last = copy.length - 1; last > 0; last--) {
    const pick = Math.floor(random() * (last + 1))
    const moved = copy[last] as T
    copy[last] = copy[pick] as T
    copy[pick] = moved
  }
  return copy
}

/**
 * The smallest sample that at least the share `quantile` of all samples does not exceed (nearest rank): a value
 * that was measured, not one interpolated or rounded to a histogram's bucket.
 * @param quantile above 0, at most 1; 0.95 for P95
 * @throws RangeError where there is no sample or the quantile is out of range
 */
export function percentile(samples: ArrayLike<number>, quantile: number): number {
  return sortedPercentile(Float64Array.from(samples).sort(), quantile)
}

function sortedPercentile(sorted: Float64Array, quantile: number): number {
  if (!(quantile > 0 && quantile <= 1)) throw new RangeError(`no quantile: ${quantile}`)
  // The subtrahend keeps 0.95 * 100, which is 95.00000000000001 in some orders of operation, from becoming rank 96.
  const rank = Math.ceil(quantile * sorted.length - 1e-9)
  const value = sorted[Math.max(rank, 1) - 1]
  if (value === undefined) throw new RangeError('no samples')
  return value
}

/** What was measured side by side, so that whatever else the machine did then touched both. */
export interface Round {
  readonly base: readonly number[]
  readonly target: readonly number[]
}

export interface Interval {
  readonly value: number
  readonly low: number
  readonly high: number
}

/**
 * The ratio of a percentile of `target` to that of `base`, with its confidence interval by the percentile
 * bootstrap. Whole rounds are drawn, base and target together: samples of one round are not independent, and
 * intervals that pretend so are too narrow.
 * @param options.confidence two-sided; 0.95 where absent
 * @throws RangeError where either side has no sample
 */
export function bootstrapRatio(
  rounds: readonly Round[],
  options: {
    readonly quantile: number
    readonly seed: number
    readonly resamples?: number
    readonly confidence?: number
  },
): Interval {
  const { quantile, seed, resamples = 2_000, confidence = 0.95 } = options
  const random = seededRandom(seed)
  const ratioOf = (drawn: readonly Round[]) =>
    percentile(
      drawn.flatMap(({ target }) => target),
      quantile,
    ) /
    percentile(
      drawn.flatMap(({ base }) => base),
      quantile,
    )
  const value = ratioOf(rounds)
  const ratios = Float64Array.from({ length: resamples }, () =>
    ratioOf(rounds.map(() => rounds[Math.floor(random() * rounds.length)] as Round)),
  ).sort()
  const tail = (1 - confidence) / 2
  return { value, low: sortedPercentile(ratios, tail), high: sortedPercentile(ratios, 1 - tail) }
}

export type Verdict = 'proven' | 'broken' | 'inconclusive'

/**
 * Whether an upper bound holds, as far as an interval can tell: the whole of it must lie on one side.
 * @param boundMax the greatest value that is allowed
 */
export function judgeBound({ low, high }: Interval, boundMax: number): Verdict {
  if (high <= boundMax) return 'proven'
  return low > boundMax ? 'broken' : 'inconclusive'
}
