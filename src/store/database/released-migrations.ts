/**
 * Which migrations each release brought (migrations/released.json, written by scripts/release.ts): they never change
 * again, and later ones have greater numbers. From it follows of which release a database is.
 */

import { existsSync, readFileSync } from 'node:fs'
import { migrationsDirectory } from './migration-files.ts'

/** What a release added to the one before. */
export interface ReleasedMigrations {
  /** As `0.2.0`. */
  readonly version: string
  /** The number of its SQL functions. */
  readonly functions: number
  /** Hex SHA-256 of each file by its name without `.sql`. */
  readonly control: Readonly<Record<string, string>>
  readonly tenant: Readonly<Record<string, string>>
}

/** The releases, oldest first; none before the first. */
export function readReleases(base: URL = migrationsDirectory): readonly ReleasedMigrations[] {
  const file = new URL('released.json', base)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly ReleasedMigrations[]) : []
}

/**
 * The newest release all of whose migrations a database has.
 * @param pending names of migrations that it lacks, by whose they are
 * @returns undefined where it is older than the first release
 */
export function releaseWithout(
  releases: readonly ReleasedMigrations[],
  pending: { readonly control: readonly string[]; readonly tenant: readonly string[] },
): string | undefined {
  let newest: string | undefined
  for (const { version, control, tenant } of releases) {
    if (pending.control.some((name) => name in control)) break
    if (pending.tenant.some((name) => name in tenant)) break
    newest = version
  }
  return newest
}
