/** Makes a folder in memory for the files of tests, because copying an embedded store is slower on a disk. */

import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sharedMemory = '/dev/shm'
/** `TMPFS_MAGIC` of Linux. */
const tmpfsType = 0x01021994
/** Many times the space that the tests are measured to use there at once. */
const roomBytesMin = 2 * 1024 ** 3

/**
 * Makes an empty folder in shared memory; the caller removes it.
 * @returns undefined when there is no shared memory, it is too small, or it does not allow running programs
 */
export function makeMemoryFolder(): string | undefined {
  if (process.platform !== 'linux') return undefined
  let folder: string | undefined
  try {
    const { type, bavail, bsize } = statfsSync(sharedMemory)
    if (type !== tmpfsType || bavail * bsize < roomBytesMin) return undefined
    folder = mkdtempSync(join(sharedMemory, 'covenant-'))
    // The PostgreSQL server of the tests runs as another user.
    chmodSync(folder, 0o711)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
    Bun.spawnSync([program])
    rmSync(program)
    return folder
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}
