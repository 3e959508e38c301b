/** Chooses the cases of `gateway-commit`: the bounded default, the whole matrix, or those that the user named. */

import type { BenchFlags } from './entry.ts'
import { type TableSizeName, tableSizeNames } from './sample-table.ts'

export type Arrival =
  | { readonly kind: 'closed'; readonly concurrency: number }
  | { readonly kind: 'open'; readonly ratePerSecond: number }

export interface CommitCase {
  /** The service time of an upstream commit; undefined when the benchmark cannot choose it. */
  readonly upstreamMs: number | undefined
  readonly arrival: Arrival
  readonly policies: number
  readonly table: TableSizeName
}

const closed = (concurrency: number): Arrival => ({ kind: 'closed', concurrency })
const open = (ratePerSecond: number): Arrival => ({ kind: 'open', ratePerSecond })

const rateDefault = 20
const matrix = {
  upstreamMs: [0, 20, 60],
  arrivals: [closed(1), closed(8), closed(32), open(rateDefault)],
  policies: [1, 10, 100],
  tables: tableSizeNames,
} as const
/** The defaults of the dimensions that the user did not name. */
const usual = { upstreamMs: [60], arrivals: [closed(8)], policies: [10], tables: ['small'] } as const

const boundedDefault: readonly CommitCase[] = [
  { upstreamMs: 0, arrival: closed(1), policies: 10, table: 'small' },
  { upstreamMs: 20, arrival: closed(1), policies: 10, table: 'small' },
  { upstreamMs: 20, arrival: closed(8), policies: 10, table: 'small' },
  { upstreamMs: 60, arrival: closed(1), policies: 10, table: 'small' },
  { upstreamMs: 60, arrival: closed(8), policies: 10, table: 'small' },
  { upstreamMs: 60, arrival: closed(32), policies: 10, table: 'small' },
  { upstreamMs: 60, arrival: open(rateDefault), policies: 10, table: 'small' },
  { upstreamMs: 60, arrival: closed(8), policies: 100, table: 'small' },
  { upstreamMs: 60, arrival: closed(8), policies: 10, table: 'large' },
]

const smokeCases: readonly CommitCase[] = [
  { upstreamMs: 0, arrival: closed(2), policies: 1, table: 'small' },
  { upstreamMs: 1, arrival: open(100), policies: 10, table: 'small' },
]

/**
 * @param hasOwnTimes whether the upstream's times are given: a real catalog, or a profile as measured
 * @throws BenchUsageError
 */
export function chosenCases(
  flags: BenchFlags,
  {
    smoke,
    full,
    hasOwnTimes,
  }: { readonly smoke: boolean; readonly full: boolean; readonly hasOwnTimes: boolean },
): readonly CommitCase[] {
  if (smoke) return hasOwnTimes ? withoutServiceTimes(smokeCases) : smokeCases
  const named = {
    upstreamMs: flags.numbers('upstream-ms', 0, 60_000),
    arrivals: [
      ...(flags.numbers('concurrency', 1, 1_000) ?? []).map(closed),
      ...(flags.numbers('rate', 0.1, 100_000) ?? []).map(open),
    ],
    policies: flags.numbers('policies', 0, 1_000),
    tables: flags.choices('table', tableSizeNames),
  }
  const isNamed = named.arrivals.length > 0 || named.upstreamMs || named.policies || named.tables
  const rest = full ? matrix : usual
  if (!full && !isNamed) return hasOwnTimes ? withoutServiceTimes(boundedDefault) : boundedDefault
  const cases: CommitCase[] = []
  for (const upstreamMs of named.upstreamMs ?? rest.upstreamMs)
    for (const table of named.tables ?? rest.tables)
      for (const policies of named.policies ?? rest.policies)
        for (const arrival of named.arrivals.length > 0 ? named.arrivals : rest.arrivals)
          cases.push({ upstreamMs, arrival, policies, table })
  return hasOwnTimes ? withoutServiceTimes(cases) : cases
}

/** Merges cases that differ only in the service time. */
function withoutServiceTimes(cases: readonly CommitCase[]): readonly CommitCase[] {
  const byText = new Map(
    cases.map((one) => [JSON.stringify({ ...one, upstreamMs: null }), { ...one, upstreamMs: undefined }]),
  )
  return [...byText.values()]
}
