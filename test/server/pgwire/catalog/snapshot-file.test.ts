/** What the catalog's databases start from, kept for the next start of the service. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSnapshot } from '../../../../src/server/pgwire/catalog/snapshot-file.ts'

setDefaultTimeout(60_000)

const planted = 'what somebody put there'
const isPlanted = (snapshot: ArrayBuffer) => new TextDecoder().decode(snapshot) === planted

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
    expect(isPlanted(await loadSnapshot(folder))).toBe(true)
    chmodSync(folder, 0o770)
    expect(isPlanted(await loadSnapshot(folder))).toBe(false)
    chmodSync(folder, 0o700)
    symlinkSync(folder, join(parent, 'link'))
    expect(isPlanted(await loadSnapshot(join(parent, 'link')))).toBe(false)
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
})
