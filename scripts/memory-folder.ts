/** A folder in memory for what tests write: a copy of an embedded store, of a thousand files, takes a disk longer. */

import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sharedMemory = '/dev/shm'
/** `TMPFS_MAGIC` of Linux. */
const tmpfsType = 0x01021994
/** Many times what the tests are known to have there at once. */
const roomBytesMin = 2 * 1024 ** 3

/**
 * Makes an empty folder in shared memory, for the caller to remove.
 * @returns undefined where there is none, it has too little room, or programs in it may not be run
 */
export function makeMemoryFolder(): string | undefined {
  if (process.platform !== 'linux') return undefined
  let folder: string | undefined
  try {
    const { type, bavail, bsize } = statfsSync(sharedMemory)
    if (type !== tmpfsType || bavail * bsize < roomBytesMin) return undefined
    folder = mkdtempSync(join(sharedMemory, 'covenant-'))
    // A PostgreSQL server of the tests runs as another user.
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
