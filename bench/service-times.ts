/** Chooses the service times of the development catalog: named ones, or those of a measured real catalog. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenCatalog } from './catalogs.ts'
import { type BenchFlags, type BenchOption, BenchUsageError } from './entry.ts'
import { type CatalogTimes, measureCatalog } from './measure-catalog.ts'
import { type RealCatalogName, realCatalogNames } from './real-catalogs.ts'
import { type TableSizeName, tableSizes } from './sample-table.ts'
import { percentile, seededRandom } from './statistics.ts'
import { type StorageName, storageTimes } from './storage-times.ts'
import type { CatalogProcess, DirectUpstream, ServiceTimes, UpstreamAddress } from './upstream.ts'

export const profileOption: BenchOption = {
  type: 'string',
  value: realCatalogNames.join('|'),
  about: 'the development catalog takes as long as this one was measured to take',
}

/** Written by `bun run bench catalog-times --save`. */
const file = join(import.meta.dir, 'catalog-times.jsonl')
const quantileCount = 50
const operations = ['load', 'conditionalLoad', 'commit'] as const
type Operation = (typeof operations)[number]

/** One line of the file: evenly spaced quantiles, all equally likely. */
interface SavedTimes {
  readonly catalog: RealCatalogName
  readonly version: string
  readonly date: string
  readonly table: TableSizeName
  readonly operation: Operation
  readonly ms: readonly number[]
}

/** The measured times of one real catalog. */
export interface Profile {
  /** Its name and version. */
  readonly title: string
  /** The dialect of a development catalog that supports conditional loads if this catalog does. */
  readonly dialect: UpstreamAddress['kind']
  readonly times: Readonly<Record<TableSizeName, ServiceTimes>>
}

/** Throws BenchUsageError when the named profile does not exist. */
export async function chosenProfile(flags: BenchFlags): Promise<Profile | undefined> {
  const [name] = flags.choices('profile', realCatalogNames) ?? []
  if (name === undefined) return undefined
  const saved = (await readSaved()).filter(({ catalog }) => catalog === name)
  const msOf = (table: TableSizeName, operation: Operation) =>
    saved.find((one) => one.table === table && one.operation === operation)?.ms
  const timesOf = (table: TableSizeName): ServiceTimes => {
    const [load, commit] = [msOf(table, 'load'), msOf(table, 'commit')]
    if (load === undefined || commit === undefined)
      throw new BenchUsageError(`--profile: ${name} has not been measured yet (catalog-times --save).`)
    return { load, conditionalLoad: msOf(table, 'conditionalLoad') ?? load, commit }
  }
  return {
    title: `${name} ${saved[0]?.version}`,
    dialect: msOf('small', 'conditionalLoad') === undefined ? 'beta' : 'alpha',
    times: { small: timesOf('small'), large: timesOf('large') },
  }
}

/** Replaces the times of this catalog and table in the file. */
export async function saveTimes(
  entry: Pick<SavedTimes, 'catalog' | 'version' | 'table'>,
  times: CatalogTimes,
): Promise<void> {
  const date = new Date().toISOString().slice(0, 10)
  const others = (await readSaved()).filter(
    ({ catalog, table }) => catalog !== entry.catalog || table !== entry.table,
  )
  const measured = operations
    .filter((operation) => times[operation].length > 0)
    .map((operation): SavedTimes => ({ ...entry, date, operation, ms: quantiles(times[operation]) }))
  const lines = [...others, ...measured].map((one) => JSON.stringify(one)).sort()
  await writeFile(file, `${lines.join('\n')}\n`)
}

async function readSaved(): Promise<readonly SavedTimes[]> {
  const text = await readFile(file, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SavedTimes)
}

function quantiles(samples: readonly number[]): readonly number[] {
  return Array.from({ length: quantileCount }, (_, index) =>
    Number(percentile(samples, (index + 0.5) / quantileCount).toFixed(2)),
  )
}

/**
 * The delays of the development catalog that show its client the times of `profile`: these times less its own work.
 * @param commitMs the median commit of the small table; scales all times. As measured by default
 */
export function profileTimes(
  profile: Profile,
  table: TableSizeName,
  own: ServiceTimes,
  commitMs?: number,
): ServiceTimes {
  const factor = commitMs === undefined ? 1 : commitMs / percentile(profile.times.small.commit, 0.5)
  const waits = (operation: Operation) => {
    const ownMs = percentile(own[operation], 0.5)
    return profile.times[table][operation].map((ms) => Math.max(0, ms * factor - ownMs))
  }
  return { load: waits('load'), conditionalLoad: waits('conditionalLoad'), commit: waits('commit') }
}

/** A machine is slower between pauses than without pauses, and the imitated catalog pauses. */
const paceMs = 10
const paced: ServiceTimes = { load: [paceMs], conditionalLoad: [paceMs], commit: [paceMs] }
/** A second is enough, because the development catalog's own work varies little. */
const ownSeconds = 1

/** The times of the development catalog's own work. */
async function ownTimes(
  development: CatalogProcess,
  upstream: DirectUpstream,
  table: TableSizeName,
): Promise<ServiceTimes> {
  await development.setServiceTimes(paced)
  const catalog = { upstream, expires: true }
  const times = await measureCatalog(catalog, tableSizes[table], ownSeconds, seededRandom(1))
  const own = (samples: readonly number[]) => samples.map((ms) => ms - paceMs)
  const load = own(times.load)
  const conditionalLoad = times.conditionalLoad.length > 0 ? own(times.conditionalLoad) : load
  return { load, conditionalLoad, commit: own(times.commit) }
}

/**
 * Sets the times of the development catalog, by table and commit milliseconds (undefined: as `profile` was measured).
 * Its own work is measured once for each table. Other catalogs stay unchanged.
 * @returns sets them, each with the milliseconds of a round trip to the catalog added
 */
export function timesSetter(
  flags: BenchFlags,
  { development, upstream }: OpenCatalog,
  { profile, storage }: { readonly profile: Profile | undefined; readonly storage: StorageName | undefined },
): (table: TableSizeName, commitMs: number | undefined, roundTripMs?: number) => Promise<void> {
  const own = new Map<TableSizeName, ServiceTimes>()
  return async (table, commitMs, roundTripMs = 0) => {
    if (development === undefined) return
    const set = (times: ServiceTimes) => development.setServiceTimes(farther(times, roundTripMs))
    if (storage !== undefined) return await set(timesOn(flags, storage))
    if (profile === undefined) return await set(namedTimes(flags, commitMs ?? 0))
    const ofTable = own.get(table) ?? (await ownTimes(development, upstream, table))
    own.set(table, ofTable)
    await set(profileTimes(profile, table, ofTable, commitMs))
  }
}

/** The times of a catalog that is one round trip away. */
function farther(times: ServiceTimes, roundTripMs: number): ServiceTimes {
  const add = (samples: readonly number[]) => samples.map((ms) => ms + roundTripMs)
  return {
    load: add(times.load),
    conditionalLoad: add(times.conditionalLoad),
    commit: add(times.commit),
  }
}

/** A load reads one file. A commit writes one, and knows what it replaces: no catalog can do less. */
function timesOn(flags: BenchFlags, storage: StorageName): ServiceTimes {
  const { get, put } = storageTimes(storage)
  return {
    load: get,
    conditionalLoad: flags.numbers('conditional-load-ms', 0, 60_000) ?? [conditionalLoadMs],
    commit: put,
  }
}

/** docs/performance.md says where it comes from. */
const conditionalLoadMs = 1

/** docs/performance.md says where the proportions come from. */
function namedTimes(flags: BenchFlags, commitMs: number): ServiceTimes {
  return {
    load: flags.numbers('load-ms', 0, 60_000) ?? [commitMs / 2],
    conditionalLoad: flags.numbers('conditional-load-ms', 0, 60_000) ?? [
      commitMs === 0 ? 0 : conditionalLoadMs,
    ],
    commit: [commitMs],
  }
}
