/**
 * Measures how long catalogs take to load, to answer a conditional load and to commit. The development catalog
 * imitates these service times. One client outside the catalog sends one request at a time.
 */

import { type ChosenCatalog, catalogOptions, chosenCatalogs } from './catalogs.ts'
import { type BenchEntry, type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'
import { type CatalogTimes, measureCatalog } from './measure-catalog.ts'
import { realCatalogNames, realCatalogVersion } from './real-catalogs.ts'
import { type TableSizeName, tableSizeNames, tableSizes } from './sample-table.ts'
import { chosenProfile, type Profile, profileOption, saveTimes, timesSetter } from './service-times.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const secondsDefault = 10
const smokeSeconds = 0.1

export const catalogTimes: BenchEntry = {
  name: 'catalog-times',
  about: 'service times of a catalog: load, conditional load, commit',
  options: {
    ...catalogOptions,
    profile: profileOption,
    table: {
      type: 'string',
      value: 'small,large',
      about: '10 columns, 5 snapshots; 200 columns, 1,000 snapshots',
    },
    seconds: {
      type: 'string',
      value: 'N',
      about: `for each table, after half of it to warm up (${secondsDefault})`,
    },
    save: {
      type: 'boolean',
      about: 'keep what was measured in bench/catalog-times.jsonl, for --profile',
    },
  },
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const { flags, smoke } = run
  const profile = await chosenProfile(flags)
  const catalogs = await chosenCatalogs(run, profile?.dialect)
  const sizes = flags.choices('table', tableSizeNames) ?? tableSizeNames
  const seconds = smoke ? smokeSeconds : (flags.number('seconds', 0.1, 3_600) ?? secondsDefault)
  const saves = flags.values.save === true
  if (profile !== undefined && catalogs.some(({ isDevelopment }) => !isDevelopment))
    throw new BenchUsageError('--profile is for the development catalog.')
  if (profile !== undefined && catalogs.some(({ storage }) => storage !== undefined))
    throw new BenchUsageError('--profile and --storage exclude each other.')
  if (saves && catalogs.some(({ storage }) => storage !== undefined))
    throw new BenchUsageError('--save is for the times of a catalog by itself; not together with --storage.')
  if (saves && (smoke || catalogs.some((one) => savedName(one) === undefined)))
    throw new BenchUsageError(`--save needs --catalog with one of ${realCatalogNames.join(', ')}.`)
  for (const chosen of catalogs) {
    await using catalog = await chosen.open(run)
    const setTimes = timesSetter(flags, catalog, { profile, storage: chosen.storage })
    for (const table of sizes) {
      await setTimes(table, profile === undefined ? 0 : undefined)
      const times = await measureCatalog(catalog, tableSizes[table], seconds, seededRandom(run.seed))
      const name = savedName(chosen)
      if (saves && name !== undefined)
        await saveTimes({ catalog: name, version: realCatalogVersion(name), table }, times)
      yield resultOf(chosen, profile, table, times)
    }
  }
}

function savedName({ name }: ChosenCatalog) {
  return realCatalogNames.find((one) => one === name)
}

function resultOf(
  { title, storage }: ChosenCatalog,
  profile: Profile | undefined,
  table: TableSizeName,
  { load, conditionalLoad, commit, snapshotsEnd }: CatalogTimes,
): BenchResult {
  const p50 = (samples: readonly number[]) => percentile(samples, 0.5)
  const of = (name: string, samples: readonly number[]) =>
    samples.length === 0
      ? {}
      : {
          [`p50_${name}_ms`]: rounded(p50(samples)),
          [`p95_${name}_ms`]: rounded(percentile(samples, 0.95)),
        }
  return {
    bench: 'catalog-times',
    case: {
      catalog: title,
      ...(profile !== undefined && { profile: profile.title }),
      ...(storage !== undefined && { storage }),
      ...tableSizes[table],
    },
    figures: {
      ...of('load', load),
      ...of('conditional_load', conditionalLoad),
      ...of('commit', commit),
      load_per_commit: rounded(p50(load) / p50(commit)),
      ...(conditionalLoad.length > 0 && {
        conditional_load_per_commit: rounded(p50(conditionalLoad) / p50(commit)),
      }),
      snapshots_end: snapshotsEnd,
      samples: commit.length,
    },
  }
}
