/** Caches the snapshot that databases start from in a file, because building one takes seconds. */

import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogWorker } from './catalog-worker.ts'
import { createDatabase, dropOthers, snapshotSql } from './snapshot-sql.ts'

/**
 * Reads the snapshot, or builds it and writes it for the next process. The file name contains the version, so a
 * snapshot of another version is never read.
 * @param directory where files that may be lost are cached; undefined: nothing is cached. Anyone who can write
 *   there controls what clients see of the catalog's structure. So it is created for this user alone, and ignored
 *   where other users own it or can write to it.
 * @param build builds a snapshot; by default a new database does
 * @throws Fault `unavailable` where no database starts
 * @throws the file system's errors, except for a missing file
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
  // Written under another name and renamed, so that a half-written file is never read.
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

/** A digest of the database program's version and of the SQL that changes it. */
async function snapshotVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.resolve('@electric-sql/pglite')))
  return createHash('sha256')
    .update(manifest)
    .update([...createDatabase, ...dropOthers, snapshotSql].join())
    .digest('hex')
    .slice(0, 16)
}
