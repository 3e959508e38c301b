/** The file from which the catalog's databases start is cached for the next start of the service. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSnapshot } from '../../../../src/server/pgwire/catalog/snapshot-file.ts'

setDefaultTimeout(300_000)

const planted = 'what somebody put there'
const built = 'what was made again'
/** The kept snapshot, or one made again, which here takes no database. */
const load = async (folder: string) =>
  new TextDecoder().decode(await loadSnapshot(folder, async () => new TextEncoder().encode(built).buffer))

test('a snapshot is kept for its owner alone, and read only from where nobody else could have put it', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'covenant-snapshot-'))
  const folder = join(parent, 'kept')
  try {
    const made = await loadSnapshot(folder)
    const [file = '', ...more] = readdirSync(folder)
    expect(more).toEqual([])
    expect([folder, join(folder, file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
    expect(new Uint8Array(made)).toEqual(new Uint8Array(await Bun.file(join(folder, file)).arrayBuffer()))

    writeFileSync(join(folder, file), planted)
    expect(await load(folder)).toBe(planted)
    chmodSync(folder, 0o770)
    expect(await load(folder)).toBe(built)
    chmodSync(folder, 0o700)
    symlinkSync(folder, join(parent, 'link'))
    expect(await load(join(parent, 'link'))).toBe(built)
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
})
