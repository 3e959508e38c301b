/** Apache Superset on governed data: its own driver and introspection, a dashboard in a real browser. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'
import { makeDashboard } from './superset/dashboard.ts'

setDefaultTimeout(600_000)

const here = new URL('./superset/', import.meta.url).pathname
const screenshot = new URL('../../.cache/logs/superset.png', import.meta.url).pathname
const superset = () => join(packageFolder('python:superset'), 'bin/superset')

let lake: Lake
let base: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake())
  const folder = mkdtempSync(join(tmpdir(), 'superset-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    SUPERSET_CONFIG_PATH: join(here, 'config.py'),
    SUPERSET_FOLDER: folder,
    FLASK_APP: 'superset',
  }
  const admin = ['--username', 'admin', '--firstname', 'a', '--lastname', 'b', '--email', 'a@b.example']
  for (const command of [
    ['db', 'upgrade'],
    ['fab', 'create-admin', ...admin, '--password', 'admin'],
    ['init'],
  ]) {
    const { exitCode, output } = await runClient('superset-init', [superset(), ...command], {
      env,
      seconds: 300,
    })
    if (exitCode !== 0) throw new Error(output.slice(-3_000))
  }
  const port = freePort()
  base = `http://127.0.0.1:${port}`
  const command = [superset(), 'run', '-p', String(port), '--with-threads']
  stack.use(await startServer('superset', command, `${base}/health`, { env, seconds: 120 }))
})
afterAll(() => stack.disposeAsync())

test('a dashboard shows governed rows, filtered and masked, and nothing else', async () => {
  const { PGUSER, PGPASSWORD, PGHOST, PGPORT, PGDATABASE } = lake.restricted
  const uri = `postgresql+psycopg2://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${PGDATABASE}`
  const { id, byRegion } = await makeDashboard(base, uri)
  expect(byRegion).toEqual([
    { region: 'east', count: 250 },
    { region: 'west', count: 250 },
  ])
  const { exitCode, output } = await runClient(
    'superset-screenshot',
    ['node', join(here, 'screenshot.mjs'), packageFolder('npm:playwright'), base, String(id), screenshot],
    { seconds: 300 },
  )
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
  expect(output).toContain('east')
  expect(output).not.toContain('user2@example.com')
  expect(await Bun.file(screenshot).exists()).toBe(true)
})
