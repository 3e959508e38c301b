/** Chooses what `gateway-commit` measures: what judges the contract where users are, or what the user named. */

import {
  type ChosenCatalog,
  catalogOptions,
  chosenCatalogs,
  developmentCatalog,
  realCatalog,
} from './catalogs.ts'
import { type CommitCase, chosenCases } from './commit-cases.ts'
import { type BenchFlags, type BenchRun, BenchUsageError } from './entry.ts'
import { realCatalogNames } from './real-catalogs.ts'
import { chosenProfile, type Profile } from './service-times.ts'

/** Ways to commit beside `direct` and `gateway`, which are always measured. */
export const otherWays = ['bare', 'least', 'durable', 'loaded'] as const
export type OtherWay = (typeof otherWays)[number]

export type PlacedCase = CommitCase & {
  /** Between the ways and the catalog. */
  readonly roundTripMs: number
}

/** One catalog and the cases that are measured on it. */
export interface CommitLeg {
  readonly catalog: ChosenCatalog
  readonly profile: Profile | undefined
  readonly cases: readonly PlacedCase[]
  /** Where it cannot be fetched, the others are measured all the same. */
  readonly isOptional: boolean
}

export interface CommitPlan {
  readonly legs: readonly CommitLeg[]
  readonly ways: readonly OtherWay[]
  /** For each case of each store. */
  readonly seconds: number
}

const seconds = { smoke: 0.3, usual: 20, full: 40 } as const
/** For all judged cases: with all starts and warm-ups the whole takes less than five minutes. */
const judgedSeconds = 210

const dimensions = ['upstream-ms', 'concurrency', 'rate', 'policies', 'table', 'round-trip-ms'] as const
const namedByUser = [
  ...dimensions,
  ...Object.keys(catalogOptions),
  'profile',
  'load-ms',
  'conditional-load-ms',
]

/**
 * @param storeCount how many stores are measured
 * @throws BenchUsageError
 */
export async function chosenPlan(run: BenchRun, storeCount: number): Promise<CommitPlan> {
  const { flags, smoke, full } = run
  const judges = !smoke && !full && namedByUser.every((name) => flags.text(name) === undefined)
  const legs = judges ? judgedLegs : await chosenLegs(run)
  const count = legs.reduce((sum, { cases }) => sum + cases.length, 0) * storeCount
  const usual = judges ? judgedSeconds / count : seconds[full ? 'full' : 'usual']
  return {
    legs,
    ways: flags.choices('ways', otherWays) ?? (judges ? ['least'] : otherWays),
    seconds: smoke ? seconds.smoke : (flags.number('seconds', 0.1, 3_600) ?? usual),
  }
}

const lone = { arrival: { kind: 'closed', concurrency: 1 }, policies: 10, table: 'small' } as const
const eight = { ...lone, arrival: { kind: 'closed', concurrency: 8 } } as const

/** What users have: a catalog of 60 ms, near and farther away, and catalogs that keep their tables in object storage. */
const judgedLegs: readonly CommitLeg[] = [
  {
    catalog: developmentCatalog(),
    profile: undefined,
    isOptional: false,
    cases: [
      { ...lone, upstreamMs: 60, roundTripMs: 0 },
      { ...eight, upstreamMs: 60, roundTripMs: 0 },
      ...[1, 5, 10].map((roundTripMs) => ({ ...lone, upstreamMs: 60, roundTripMs })),
    ],
  },
  onStorage(developmentCatalog('alpha', 's3'), false),
  ...realCatalogNames.map((name) => onStorage(realCatalog(name, 's3'), true)),
]

function onStorage(catalog: ChosenCatalog, isOptional: boolean): CommitLeg {
  return {
    catalog,
    profile: undefined,
    isOptional,
    cases: [{ ...lone, upstreamMs: undefined, roundTripMs: 0 }],
  }
}

async function chosenLegs(run: BenchRun): Promise<readonly CommitLeg[]> {
  const { flags } = run
  const profile = await chosenProfile(flags)
  const catalogs = await chosenCatalogs(run, profile?.dialect)
  assertTimesFit(flags, catalogs, profile)
  const isAsMeasured = profile !== undefined && flags.text('upstream-ms') === undefined
  const roundTrips = flags.numbers('round-trip-ms', 0, 1_000) ?? [0]
  return catalogs.map((catalog) => {
    const hasOwnTimes = isAsMeasured || !catalog.isDevelopment || catalog.storage !== undefined
    const cases = chosenCases(flags, { ...run, hasOwnTimes })
    return {
      ...{ catalog, profile, isOptional: false },
      cases: roundTrips.flatMap((roundTripMs) => cases.map((one) => ({ ...one, roundTripMs }))),
    }
  })
}

/** @throws BenchUsageError when the given service times have no effect */
function assertTimesFit(
  flags: BenchFlags,
  catalogs: readonly ChosenCatalog[],
  profile: Profile | undefined,
): void {
  const isDevelopment = catalogs.every((catalog) => catalog.isDevelopment)
  for (const name of ['upstream-ms', 'load-ms', 'conditional-load-ms', 'round-trip-ms', 'profile'])
    if (!isDevelopment && flags.text(name) !== undefined)
      throw new BenchUsageError(`--${name} is for the development catalog; not together with a real one.`)
  for (const name of ['load-ms', 'conditional-load-ms'])
    if (profile !== undefined && flags.text(name) !== undefined)
      throw new BenchUsageError(`--${name} and --profile exclude each other.`)
  for (const name of ['upstream-ms', 'load-ms', 'profile'])
    if (flags.text('storage') !== undefined && flags.text(name) !== undefined)
      throw new BenchUsageError(`--${name} and --storage exclude each other.`)
}
