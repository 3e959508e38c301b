/**
 * Reads the files under `migrations/` with their checksums: numbered ones for the control schema and for each tenant,
 * and the current text of every SQL function. `migrations.ts` applies them.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'

export const migrationsDirectory = new URL('../../../migrations/', import.meta.url)
/** The number of the first file. A database that has recorded a lower number is older than the baseline. */
export const baselineVersion = 1000
/** Applied before the tables, because their policies and triggers call its functions. */
const foundation = 'foundation.sql'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Hex SHA-256 of the file. */
  readonly checksum: string
}

/** The current text of every SQL function. */
export interface FunctionTexts {
  /** Raised with every change of a text, so that an older program never restores its own texts. */
  readonly version: number
  readonly foundation: FunctionFile
  readonly rest: readonly FunctionFile[]
  /** Hex SHA-256 of all files. */
  readonly checksum: string
}

interface FunctionFile {
  readonly name: string
  readonly sql: string
}

export interface MigrationFiles {
  readonly control: readonly Migration[]
  readonly perTenant: readonly Migration[]
  readonly functions: FunctionTexts
}

/** Reads every file. @throws Fault `misconfigured` where a name or number is not valid */
export function readMigrationFiles(base: URL = migrationsDirectory): MigrationFiles {
  return {
    control: readMigrations(new URL('control/', base)),
    perTenant: readMigrations(new URL('tenant/', base)),
    functions: readFunctions(new URL('functions/', base)),
  }
}

/**
 * The migrations of a directory in order. Numbers may have gaps.
 * @throws Fault `misconfigured` where a name is not `NNNN_name.sql` or a number is used twice
 */
export function readMigrations(from: URL): readonly Migration[] {
  let last = 0
  return sqlFiles(from).map((file) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1])
    if (!(version > last))
      throw new Fault('misconfigured', `Migration ${file} does not follow its predecessor as NNNN_name.sql.`)
    last = version
    const text = readFileSync(new URL(file, from), 'utf8')
    return { version, name: file.slice(0, -'.sql'.length), sql: text, checksum: sha256(text) }
  })
}

/**
 * The functions, and their number from the file `VERSION`. That file also holds the checksum of the texts, so that two
 * branches which change functions conflict when they are merged.
 * @throws Fault `misconfigured` where the number is missing
 */
export function readFunctions(from: URL): FunctionTexts {
  const version = Number(/^\d+(?= [0-9a-f]{64}$)/m.exec(readFileSync(new URL('VERSION', from), 'utf8'))?.[0])
  if (!(version > 0))
    throw new Fault('misconfigured', 'migrations/functions/VERSION must hold a number and a checksum.')
  const files = sqlFiles(from).map((name) => ({ name, sql: readFileSync(new URL(name, from), 'utf8') }))
  const first = files.find(({ name }) => name === foundation)
  if (first === undefined) throw new Fault('misconfigured', `migrations/functions/${foundation} is missing.`)
  return {
    version,
    foundation: first,
    rest: files.filter((file) => file !== first),
    checksum: sha256(files.map(({ name, sql }) => `${name}\n${sql}`).join('')),
  }
}

/** One checksum for all files: the key of a prepared template. */
export function migrationsChecksum(base: URL = migrationsDirectory): string {
  const { control, perTenant, functions } = readMigrationFiles(base)
  const parts = [...control, ...perTenant].map(({ name, checksum }) => name + checksum)
  return sha256([bootstrapText(base), ...parts, functions.version, functions.checksum].join('\n'))
}

/** The SQL that only a superuser may run, once per database. */
export function bootstrapText(base: URL = migrationsDirectory): string {
  return readFileSync(new URL('bootstrap.sql', base), 'utf8')
}

function sqlFiles(from: URL): readonly string[] {
  return readdirSync(from)
    .filter((file) => file.endsWith('.sql'))
    .sort()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
