/** Adds the migrations of a release to migrations/released.json, where they never change again. */

import { readFunctions, readMigrations } from '../../src/store/database/migration-files.ts'
import { type ReleasedMigrations, readReleases } from '../../src/store/database/released-migrations.ts'

/**
 * The file with the release in it.
 * @param base the folder `migrations`
 * @throws Error with a sentence where a released migration has changed, or a new one has no greater number
 */
export function withRelease(base: URL, version: string): string {
  const before = readReleases(base)
  const added = (scope: 'control' | 'tenant') => {
    const released = Object.assign({}, ...before.map((one) => one[scope])) as Record<string, string>
    const files = readMigrations(new URL(`${scope}/`, base))
    const found = Object.fromEntries(files.map(({ name, checksum }) => [name, checksum]))
    const newest = Object.keys(released).toSorted().at(-1) ?? ''
    for (const [name, hash] of Object.entries(released))
      if (found[name] !== hash) throw new Error(`The released migration ${scope}/${name} has changed.`)
    const fresh = Object.entries(found).filter(([name]) => !(name in released))
    for (const [name] of fresh)
      if (name < newest) throw new Error(`The migration ${scope}/${name} must come after ${newest}.`)
    return Object.fromEntries(fresh)
  }
  const { version: functions } = readFunctions(new URL('functions/', base))
  const release: ReleasedMigrations = {
    version,
    functions,
    control: added('control'),
    tenant: added('tenant'),
  }
  return `${JSON.stringify([...before, release], undefined, 2)}\n`
}
