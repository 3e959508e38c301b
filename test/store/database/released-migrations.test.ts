/** Migrations of a release never change, later ones follow them, and a database is of the newest release that it has whole. */

import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withRelease } from '../../../scripts/release/released-migrations.ts'
import { migrationsDirectory, readMigrationFiles } from '../../../src/store/database/migration-files.ts'
import {
  type ReleasedMigrations,
  readReleases,
  releaseWithout,
} from '../../../src/store/database/released-migrations.ts'

test('every released migration has the hash of its release, and a lower number than those after it', () => {
  const { control, perTenant, functions } = readMigrationFiles()
  for (const [scope, files] of [
    ['control', control],
    ['tenant', perTenant],
  ] as const) {
    const present = Object.fromEntries(files.map(({ name, checksum }) => [name, checksum]))
    const released = Object.assign({}, ...readReleases().map((one) => one[scope])) as Record<string, string>
    expect(present).toMatchObject(released)
    const newest = Object.keys(released).toSorted().at(-1) ?? ''
    for (const name of Object.keys(present)) expect(name in released || name > newest).toBe(true)
  }
  for (const { functions: number } of readReleases()) expect(number).toBeLessThanOrEqual(functions.version)
})

test('a release writes down what it adds, and refuses a changed or an earlier migration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-migrations-'))
  try {
    cpSync(migrationsDirectory.pathname, folder, { recursive: true })
    const file = (path: string) => join(folder, path)
    const base = pathToFileURL(`${folder}/`)
    writeFileSync(file('released.json'), '[]')
    writeFileSync(file('released.json'), withRelease(base, '1.0.0'))
    writeFileSync(file('control/9000_more.sql'), 'select 1')
    writeFileSync(file('released.json'), withRelease(base, '1.1.0'))
    const [first, second] = JSON.parse(readFileSync(file('released.json'), 'utf8')) as ReleasedMigrations[]
    expect(Object.keys(first?.control ?? {})).toContain('1000_tenants')
    expect(second).toMatchObject({ version: '1.1.0', tenant: {} })
    expect(Object.keys(second?.control ?? {})).toEqual(['9000_more'])
    writeFileSync(file('control/8999_late.sql'), 'select 1')
    expect(() => withRelease(base, '1.2.0')).toThrow('control/8999_late must come after 9000_more')
    rmSync(file('control/8999_late.sql'))
    writeFileSync(file('control/9000_more.sql'), 'select 2')
    expect(() => withRelease(base, '1.2.0')).toThrow('The released migration control/9000_more has changed.')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a database is of the newest release that it has whole', () => {
  const releases: readonly ReleasedMigrations[] = [
    { version: '1.0.0', functions: 1, control: { a: '' }, tenant: { t: '' } },
    { version: '1.1.0', functions: 2, control: { b: '' }, tenant: {} },
    { version: '1.2.0', functions: 2, control: {}, tenant: { u: '' } },
  ]
  expect(releaseWithout(releases, { control: [], tenant: [] })).toBe('1.2.0')
  expect(releaseWithout(releases, { control: ['c'], tenant: ['u'] })).toBe('1.1.0')
  expect(releaseWithout(releases, { control: ['b'], tenant: ['u'] })).toBe('1.0.0')
  expect(releaseWithout(releases, { control: [], tenant: ['t', 'u'] })).toBeUndefined()
  expect(releaseWithout([], { control: [], tenant: [] })).toBeUndefined()
})
