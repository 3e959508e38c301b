/** The commands of docs/operations.md that move the embedded store to a server, run as they are printed there. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'
import { fillEmbedded } from '../support/move.ts'
import { testSecretsKey } from '../support/store.ts'

setDefaultTimeout(600_000)

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
const section = page.split(/^## /m).find((text) => text.startsWith('From the embedded store')) ?? ''
const block = /^```sh\n(.*?)^```/ms.exec(section)?.[1] ?? ''

const server = process.env.SVC_TEST_DATABASE_URL
// Skipped where no server is named, as by `npm run test:db`, or its programs are missing.
const moveTest = test.skipIf(
  server === undefined || Bun.which('createdb') === null || Bun.which('curl') === null,
)

moveTest('five commands move the data of a running embedded service to a server', async () => {
  using embedded = await fillEmbedded(0)
  writeFileSync(join(embedded.dataDir, 'secrets.key'), testSecretsKey, { mode: 0o600 })
  const [http, name] = [freePort(), `covenant_docs_${crypto.randomUUID().replaceAll('-', '')}`]
  const ready = `curl -fsS -o /dev/null --retry 120 --retry-delay 1 --retry-connrefused --retry-all-errors "http://127.0.0.1:${http}/readyz"`
  const list = 'bin/covenant admin tenant list'
  const run = block.replace(/ covenant$/m, ` ${name}`).replaceAll('$SERVER/covenant', `$SERVER/${name}`)
  expect(run.trim().split('\n')).toHaveLength(5)
  const script = `trap '[ -z "\${SERVICE_PID:-}" ] || kill "$SERVICE_PID" 2>/dev/null || :' EXIT
${list}
bin/covenant serve >"$SVC_DATA_DIR/log" 2>&1 &
SERVICE_PID=$!
${ready}
${run}
SERVICE_PID=$!
${ready}
${list}
kill "$SERVICE_PID"; wait "$SERVICE_PID" || true
unset SVC_DATABASE_URL
bin/covenant serve && exit 9
SERVICE_PID=
psql "$SERVER/postgres" -qc "drop database ${name} with (force)"`
  const child = Bun.spawn(['sh', '-eu', '-c', script], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SVC_DATA_DIR: embedded.dataDir,
      SERVER: (server ?? '').replace(/\/[^/]*$/, ''),
      SVC_LISTEN_ADDR: `127.0.0.1:${http}`,
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
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
  expect(stdout).toMatch(/\d+ tables with \d+ rows of 2 tenants are the same on both sides/)
  // The same tenants before and after; and the embedded data start no service.
  const ids = [...stdout.matchAll(/"id": "([^"]+)"/g)].map(([, id]) => id)
  expect(ids).toHaveLength(4)
  expect(ids.slice(2)).toEqual(ids.slice(0, 2))
  expect(stderr).toContain('were moved to')
})
