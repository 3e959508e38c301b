/** pgAdmin 4 in server mode: from adding a server to a table's properties, tabs and rows, as of a PostgreSQL 18. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { freePort } from '../support/free-port.ts'
import { packageFolder } from './packages.ts'
import { compareServers, inPython, type Servers, startServers } from './pgwire/drivers.ts'
import { runClient, startServer } from './processes.ts'

setDefaultTimeout(300_000)

let servers: Servers
let env: Readonly<Record<string, string>>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  servers = await startServers(stack)
  const [found] = new Glob('lib/python*/site-packages/pgadmin4/pgAdmin4.py').scanSync(
    packageFolder('python:pgadmin'),
  )
  if (found === undefined) throw new Error('pgAdmin is not in its package')
  const cwd = join(packageFolder('python:pgadmin'), found, '..')
  copyFileSync(new URL('./pgwire/pgadmin/config_local.py', import.meta.url), join(cwd, 'config_local.py'))
  const folder = mkdtempSync(join(tmpdir(), 'pgadmin-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const port = freePort()
  env = {
    PGADMIN_FOLDER: folder,
    PGADMIN_PORT: String(port),
    PGADMIN_URL: `http://127.0.0.1:${port}`,
    PGADMIN_SETUP_EMAIL: 'person@example.org',
    PGADMIN_SETUP_PASSWORD: 'not a secret',
  }
  const setup = inPython('python:pgadmin', 'setup.py', 'setup-db')
  const { exitCode, output } = await runClient('pgadmin-setup', setup, { env, cwd, seconds: 120 })
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
  const command = inPython('python:pgadmin', 'pgAdmin4.py')
  stack.use(await startServer('pgadmin', command, `${env.PGADMIN_URL}/login`, { env, cwd }))
})
afterAll(() => stack.disposeAsync())

const driver = { command: inPython('python:pgadmin', '../pgadmin/pgadmin_client.py') }

test('each tab and tool shows what it shows of PostgreSQL', async () => {
  const { lake, oracle } = servers
  const roles = { ours: { ...lake.env, ...env }, theirs: { ...oracle.env, ...env } }
  const { steps, found } = await compareServers('pgadmin', driver, roles)
  expect(found).toEqual([])
  expect(steps.length).toBeGreaterThan(35)
  expect(steps.filter(({ error }) => error !== undefined).map(({ step }) => step)).toEqual([
    'query tool: error',
  ])
  expect(JSON.stringify(steps)).not.toContain('payroll')
})

test('its rows are those that filter and mask leave to who is connected', async () => {
  const { lake, oracle } = servers
  const roles = { ours: { ...lake.restricted, ...env }, theirs: { ...oracle.restricted, ...env } }
  const { steps, found } = await compareServers('pgadmin', driver, roles)
  expect(found).toEqual([])
  expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
  expect(JSON.stringify(steps)).not.toMatch(/user\d+@|payroll/)
})
