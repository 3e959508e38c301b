/** A file system of few megabytes that a test may fill. Only root can mount one; elsewhere tests skip, and say so. */

import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk extends Disposable {
  readonly path: string
  /** Leaves this many bytes free. */
  fill(freeBytes: number): void
  /** Frees what `fill` took. */
  empty(): void
}

/** @returns undefined where nothing can be mounted */
export function mountSmallDisk(mebibytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'covenant-disk-'))
  const mounted =
    Bun.which('mount') !== null &&
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]).success
  if (!mounted) {
    rmSync(path, { recursive: true })
    return undefined
  }
  const filler = join(path, 'filler')
  return {
    path,
    fill(freeBytes) {
      const { bavail, bsize } = statfsSync(path)
      writeFileSync(filler, new Uint8Array(Math.max(bavail * bsize - freeBytes, 0)))
    },
    empty: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      Bun.spawnSync(['umount', '--lazy', path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}
