/** What `test:clients --catalog-url` says of wrong words. test-clients.walks.ts runs a suite by it. */

import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'

async function run(...words: readonly string[]) {
  const child = Bun.spawn([process.execPath, 'scripts/test-clients.ts', ...words], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

test.each([
  [['--catalog-url', 'catalog.example'], '--catalog-url must be'],
  [['--catalog-url', 'https://c.example', '--catalog-kind', 'gamma'], '--catalog-kind must be one of'],
  [['--catalog-url', 'https://c.example', '--only', 'nessie'], 'The suite nessie starts the catalogs'],
  [['--catalog-url', 'https://c.example', '--catalog-config', 'none.json'], '--catalog-config must name'],
  [['--release', 'nightly'], '--release must be one of pinned, newest'],
  [['--catalog-config', 'x.json'], '--catalog-config goes with --catalog-url'],
] as const)('%p ends with 64', async (words, problem) => {
  const { code, err } = await run(...words)
  expect(code).toBe(64)
  expect(err).toContain(problem)
})
