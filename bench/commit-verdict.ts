/** Says in one sentence whether the overhead contract (docs/reference/operations.md 5.1) is kept, and where it is not. */

import type { BenchResult } from './entry.ts'

/** docs/reference/operations.md 5.1. */
export const ratioMax = 1.05

export function concludeContract(results: readonly BenchResult[]): {
  readonly line: string
  readonly failed: boolean
} {
  const of = (verdict: string) => results.filter((result) => result.verdict === verdict)
  const [kept, broken, open] = [of('proven'), of('broken'), of('inconclusive')]
  const parts = [
    ...(broken.length > 0 ? [`broken ${named(broken)}`] : []),
    ...(kept.length > 0 ? [`kept ${named(kept)}`] : []),
    ...(open.length > 0 ? [`not decided ${named(open)}`] : []),
  ]
  const outOfReach = broken.filter(({ figures }) => Number(figures.p95_least_ratio_low) > ratioMax)
  const reach =
    outOfReach.length === 0
      ? ''
      : ` The least gateway breaks it too ${named(outOfReach, false)}, so there it is out of reach of any gateway here.`
  const verdict = parts.length === 0 ? 'not judged' : joined(parts)
  return {
    line: `The contract, P95 at most 5% above a direct commit, is ${verdict} (95% confidence intervals).${reach}`,
    failed: broken.length > 0,
  }
}

function named(results: readonly BenchResult[], withRatio = true): string {
  return joined(
    results.map(({ case: measured, figures }) => {
      const ratio = withRatio && figures.p95_ratio !== undefined ? ` (${figures.p95_ratio})` : ''
      return `${placeOf(measured)}${ratio}`
    }),
  )
}

/** Such as `at 60 ms and a round trip of 10 ms, 8 clients`. */
function placeOf(measured: BenchResult['case']): string {
  const { upstream, profile, storage, upstream_ms, round_trip_ms, concurrency, rate_per_s } = measured
  const where =
    upstream_ms === undefined
      ? `on ${upstream ?? profile ?? 'the development catalog'}`
      : `at ${upstream_ms} ms${profile === undefined ? '' : ` like ${profile}`}`
  const clients = concurrency === undefined ? `${rate_per_s} commits/s` : clientsOf(Number(concurrency))
  const others = [
    ...(storage === undefined ? [] : [`with the times of ${storage}`]),
    ...(round_trip_ms === undefined ? [] : [`and a round trip of ${round_trip_ms} ms`]),
  ]
  const policies = measured.policies === 10 ? '' : `, ${measured.policies} policies`
  const table = measured.columns === 10 ? '' : ', large table'
  return `${[where, ...others].join(' ')} by ${clients}${policies}${table} on ${measured.store}`
}

function clientsOf(count: number): string {
  return count === 1 ? 'one client' : `${count} clients`
}

function joined(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
