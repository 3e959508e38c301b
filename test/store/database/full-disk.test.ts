/** A disk without space: what the operator reads at start, and what readiness says while the service runs. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeFailure } from '../../../src/store/database/embedded-failure.ts'
import { openStore } from '../../../src/store/store.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { storeTemplate, testStoreOptions } from '../../support/store.ts'

setDefaultTimeout(60_000)

test.each<[thrown: unknown, said: string]>([
  // What the file system of the embedded database throws.
  [{ name: 'ErrnoError', errno: 51 }, 'no space left on device (ENOSPC)'],
  [{ name: 'ErrnoError', errno: 69 }, 'read-only file system (EROFS)'],
  [{ name: 'ErrnoError', errno: 70 }, 'error 70 of the file system'],
  // What its program throws when it ends.
  [
    { name: 'ExitStatus', message: 'Program terminated with exit(1)', status: 1 },
    'Program terminated with exit(1)',
  ],
  [new Error('unreachable'), 'unreachable'],
  ['text', 'text'],
  [{}, 'an unknown error'],
  [undefined, 'undefined'],
])('what the embedded database throws is put in words: %j', (thrown, said) => {
  expect(describeFailure(thrown)).toBe(said)
})

using probe = mountSmallDisk(1)
if (probe === undefined) {
  test.skip('no file system can be mounted here: a disk without space is not tested', () => {})
} else {
  test('a start on a full disk says so', async () => {
    using disk = mountSmallDisk(8)
    if (disk === undefined) throw new Error('the disk could not be mounted')
    const said = await openStore({ ...testStoreOptions, dataDirectory: join(disk.path, 'store') }).catch(
      String,
    )
    expect(said).toContain('embedded database: no space left on device (ENOSPC)')
  })

  test('a database whose disk is full answers reads, refuses the probe’s write, and takes it again with space', async () => {
    using disk = mountSmallDisk(64)
    if (disk === undefined) throw new Error('the disk could not be mounted')
    const dataDirectory = join(disk.path, 'store')
    mkdirSync(dataDirectory)
    cpSync(await storeTemplate(), join(dataDirectory, 'pg'), { recursive: true })
    const store = await openStore({ ...testStoreOptions, dataDirectory })
    try {
      await store.checkWrites()
      disk.fill(16 * 1024)
      const refused = await store.checkWrites().then(
        () => 'written',
        (error: Error) => String(error.cause),
      )
      expect(refused).toContain('No space left on device')
      expect(await store.healthy()).toBe(true)
      disk.empty()
      await store.checkWrites()
    } finally {
      disk.empty()
      await store.close()
    }
  })
}
