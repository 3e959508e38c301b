/** Computes exact percentiles, seeded random numbers and the bootstrap of a ratio for the benchmarks. No I/O. */

/** A number in [0, 1). */
export type Random = () => number

/** Random numbers that a seed determines (mulberry32); only good enough to shuffle and resample. */
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
 * The smallest sample that at least the share `quantile` of all samples does not exceed (nearest rank). It is a
 * measured value, neither interpolated nor rounded to a bucket of a histogram.
 * @param quantile above 0, at most 1; 0.95 for P95
 * @throws RangeError when there is no sample or the quantile is out of range
 */
export function percentile(samples: ArrayLike<number>, quantile: number): number {
  return sortedPercentile(Float64Array.from(samples).sort(), quantile)
}

function sortedPercentile(sorted: Float64Array, quantile: number): number {
  if (!(quantile > 0 && quantile <= 1)) throw new RangeError(`no quantile: ${quantile}`)
  // 0.95 * 100 is 95.00000000000001 in some orders of operation. The subtrahend keeps it from becoming rank 96.
  const rank = Math.ceil(quantile * sorted.length - 1e-9)
  const value = sorted[Math.max(rank, 1) - 1]
  if (value === undefined) throw new RangeError('no samples')
  return value
}

/** Samples that were measured side by side, so that other load on the machine affected both. */
export interface Round {
  readonly base: readonly number[]
  readonly target: readonly number[]
}

export interface ConfidenceInterval {
  readonly value: number
  readonly low: number
  readonly high: number
}

/**
 * The ratio of a percentile of `target` to that of `base`, with its confidence interval by the percentile bootstrap.
 * Whole rounds are drawn, base and target together, because samples of one round are dependent. Treating them as
 * independent would make the interval too narrow.
 * @param options.confidence two-sided; 0.95 by default
 * @throws RangeError when either side has no sample
 */
export function bootstrapRatio(
  rounds: readonly Round[],
  options: {
    readonly quantile: number
    readonly seed: number
    readonly resamples?: number
    readonly confidence?: number
  },
): ConfidenceInterval {
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

export type BoundVerdict = 'proven' | 'broken' | 'inconclusive'

/**
 * Whether an upper bound holds. It is proven or broken only if the whole interval lies on one side of it.
 * @param boundMax the greatest value that is allowed
 */
export function judgeBound({ low, high }: ConfidenceInterval, boundMax: number): BoundVerdict {
  if (high <= boundMax) return 'proven'
  return low > boundMax ? 'broken' : 'inconclusive'
}
