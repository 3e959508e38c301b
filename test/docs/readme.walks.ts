/** The walk-through of the README, run as it is printed there. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const byHand =
  readme
    .split(/^## /m)
    .find((section) => section.startsWith('A governed commit and a governed query by hand')) ?? ''
const blocks = (language: string) =>
  [...byHand.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)

const byHandTest = Bun.which('curl') === null ? test.skip : test
byHandTest('curl is there: the walk-through of the README does what the README says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-readme-'))
  const [http, metrics, pgwire, catalog] = [freePort(), freePort(), freePort(), freePort()]
  // Whatever goes wrong, what the blocks left running ends with the shell.
  const script = `trap 'for p in "\${SERVICE_PID:-}" "\${CATALOG_PID:-}"; do [ -z "$p" ] || kill "$p" 2>/dev/null || :; done' EXIT\n${blocks('sh').join('\n')}`
  try {
    const child = Bun.spawn(['sh', '-eu', '-c', script], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        SVC_DATA_DIR: folder,
        SVC_LISTEN_ADDR: `127.0.0.1:${http}`,
        SVC_METRICS_ADDR: `127.0.0.1:${metrics}`,
        SVC_PGWIRE_ADDR: `127.0.0.1:${pgwire}`,
        SVC_XMLA_ADDR: '127.0.0.1:0',
        CATALOG_PORT: String(catalog),
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    expect({ status, stderr }).toMatchObject({ status: 0 })
    const promised = blocks('text').join('').trim().split('\n')
    expect(promised.length).toBeGreaterThan(4)
    let from = 0
    for (const line of promised) {
      const at = stdout.indexOf(line, from)
      if (at < 0)
        throw new Error(`the README promises the line "${line}", in its order; there was:\n${stdout}`)
      from = at + line.length
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
