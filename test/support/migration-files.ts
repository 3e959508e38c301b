/** Copies `migrations/` as another version of the program would have them. The caller removes their folder. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readMigrationFiles } from '../../src/store/database/migration-files.ts'

export interface MigrationCopies extends Disposable {
  /** The files as they are, to be changed by the test. */
  copy(): URL
  /** A version that raised the functions' number by `raise` (0: its author forgot) and changed some files. */
  version(raise: number, changes?: Readonly<Record<string, (text: string) => string>>): URL
}

export function migrationCopies(): MigrationCopies {
  const source = new URL('../../migrations/', import.meta.url).pathname
  const folder = mkdtempSync(join(tmpdir(), 'covenant-migration-files-'))
  const copy = () => {
    const to = mkdtempSync(join(folder, 'copy-'))
    cpSync(source, to, { recursive: true })
    return pathToFileURL(`${to}/`)
  }
  return {
    copy,
    version(raise, changes = {}) {
      const base = copy()
      const number = readMigrationFiles(base).functions.version + raise
      writeFileSync(new URL('functions/VERSION', base), `${number} ${'0'.repeat(64)}\n`)
      for (const [path, change] of Object.entries(changes)) {
        const file = new URL(path, base)
        writeFileSync(file, change(readFileSync(file, { encoding: 'utf8', flag: 'a+' })))
      }
      return base
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Makes svc.canonical_location answer with this text: what tells two versions of the functions apart. */
export function answering(answer: string): Readonly<Record<string, (text: string) => string>> {
  return {
    'functions/detection.sql': (text) =>
      text.replace("return regexp_replace(location, '^s3[an]://', 's3://')", () => `return '${answer}'`),
  }
}
