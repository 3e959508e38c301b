/** The snapshot that databases start from, kept in a file: making one takes seconds, reading it does not. */

import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogWorker } from './catalog-worker.ts'
import { snapshotSql } from './snapshot-sql.ts'

/**
 * Reads the snapshot, or makes it and leaves it for the next process. A file of other contents than this
 * version makes has another name, so it is never read.
 * @param directory where files are kept that may be lost. Whoever can write there decides what clients see of
 *   the catalog's structure, so it is made for this user alone, and not used where it is anybody else's.
 *   Undefined: nothing is kept
 * @param build makes a snapshot, as a database does by default
 * @throws Fault `unavailable` where no database starts; errors of the file system other than a missing file
 */
export async function loadSnapshot(
  directory: string | undefined,
  build: () => Promise<ArrayBuffer> = () => CatalogWorker.buildSnapshot(),
): Promise<ArrayBuffer> {
  if (directory === undefined) return build()
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (!(await isPrivate(directory))) return build()
  const path = join(directory, `catalog-${await snapshotVersion()}.tar`)
  try {
    return new Uint8Array(await readFile(path)).buffer
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const snapshot = await build()
  // A half-written file never gets the name under which it would be read.
  const partial = `${path}.${crypto.randomUUID()}`
  try {
    await writeFile(partial, new Uint8Array(snapshot), { mode: 0o600 })
    await rename(partial, path)
  } finally {
    await rm(partial, { force: true })
  }
  return snapshot
}

async function isPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory)
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Of the database's program and of what is changed in it. */
async function snapshotVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.resolve('@electric-sql/pglite')))
  return createHash('sha256').update(manifest).update(snapshotSql).digest('hex').slice(0, 16)
}
