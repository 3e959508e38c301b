/** The first start of all, on an empty data directory. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './support/eventually.ts'
import { anyPorts, listening, start } from './support/start-program.ts'

const kept = async (folder: string) =>
  (await readdir(join(folder, 'pg-catalog'))).filter((name) => name.endsWith('.tar'))

test('the service starts on an empty data directory, keeps its key to itself, and stops on SIGTERM with 0', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
  try {
    const process_ = start({ SVC_DATA_DIR: folder, ...anyPorts, UV_THREADPOOL_SIZE: '16' })
    const { log, url } = await listening(process_)
    expect(log).toContain('survive the death of this process, not of the machine')
    await eventually(async () => (await fetch(new URL('/readyz', url))).status === 200)
    const { mode } = await Bun.file(join(folder, 'secrets.key')).stat()
    expect(mode & 0o777).toBe(0o600)
    // What the first look at pg_catalog would wait for is done ahead, and kept for the next start.
    await eventually(async () => existsSync(join(folder, 'pg-catalog')) && (await kept(folder)).length === 1)
    process_.kill('SIGTERM')
    expect(await process_.exited).toBe(0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
