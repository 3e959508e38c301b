/** `test:clients --catalog-url` on a catalog that is already running: the development catalog, which demands a token. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'

setDefaultTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-test-clients-'))
const config = join(folder, 'config.json')
let catalog: DevCatalog

beforeAll(async () => {
  catalog = await startDevCatalog({
    folder: join(folder, 'catalog'),
    port: 0,
    dialect: 'alpha',
    warehouse: 'dev',
    credential: 'gateway:s3cret-of-a-catalog',
  })
  writeFileSync(config, JSON.stringify({ warehouse: 'dev', credential: 'gateway:s3cret-of-a-catalog' }))
})
afterAll(async () => {
  await catalog.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function run(...words: readonly string[]) {
  const child = Bun.spawn([process.execPath, 'scripts/test-clients.ts', ...words], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

test('the suite that takes no client runs on it, with its configuration from a file', async () => {
  const { code, out, err } = await run(
    '--catalog-url',
    catalog.url,
    '--catalog-config',
    config,
    '--only',
    'catalog',
  )
  expect({ code, out, err: code === 0 ? '' : err }).toEqual({
    code: 0,
    out: expect.stringContaining('6 passed, 0 failed'),
    err: '',
  })
  expect(out + err).not.toContain('s3cret')
})

test('without its configuration the suite fails, because the catalog refuses the gateway', async () => {
  const { code, out } = await run('--catalog-url', catalog.url, '--only', 'catalog')
  expect(code).toBe(1)
  expect(out).toMatch(/\n0 passed, [1-9] failed/)
})
