/**
 * What the verbs of `covenant` say of a wrong start, and one start that is right. main.walks.ts starts on an empty
 * directory, and on what others use.
 */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { someInShortForm } from './support/long-form.ts'
import { anyPorts, listening, preparedDirectory, start } from './support/start-program.ts'

setDefaultTimeout(300_000)

test('the service takes no arguments: --help is answered, and anything else ends it with 64', async () => {
  const helped = start({ SVC_LISTEN_ADDR: 'nonsense' }, ['serve', '--help'])
  expect(await new Response(helped.stdout).text()).toContain('docs/configuration.md')
  expect(await helped.exited).toBe(0)
  // The configuration is wrong too, so that a service that went on would not listen.
  const mistaken = start({ SVC_LISTEN_ADDR: 'nonsense' }, ['serve', '--port', '80'])
  expect(await new Response(mistaken.stderr).text()).toContain('takes no words')
  expect(await mistaken.exited).toBe(64)
})

test('a wrong configuration ends the process with 78 and names every mistake, but no secret', async () => {
  const process_ = start({
    SVC_LISTEN_ADDR: 'nonsense',
    SVC_L3_WORKERS: 'many',
    SVC_DATABASE_URL: 'postgres://svc:hunter2@db/covenant',
    SVC_SECRETS_KEY: 'too-short-hunter3',
    SVC_LISTEN_ADR: ':1',
  })
  expect(await process_.exited).toBe(78)
  const text = await new Response(process_.stderr).text()
  for (const name of ['SVC_LISTEN_ADDR', 'SVC_L3_WORKERS', 'SVC_SECRETS_KEY', 'SVC_LISTEN_ADR'])
    expect(text).toContain(name)
  expect(text).not.toContain('hunter')
})

describe('an address of the database that cannot be read ends the process with 78, unquoted', () => {
  const verbs = someInShortForm(['serve', 'check', 'migrate'], 3)
  const addresses = [
    'postgres://u:#hunter2@db/x',
    'postgres://u:%hunter2@db/x',
    'postgres://u:hunter2@db:port/x',
    '',
  ]
  test.each(verbs.flatMap((verb) => addresses.map((address) => [verb, address] as const)))(
    '%s %s',
    async (verb, address) => {
      const process_ = start({ SVC_DATABASE_URL: address, SVC_SECRETS_KEY: 'a'.repeat(64) }, [verb])
      const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
      expect(said).toContain('SVC_DATABASE_URL: ')
      expect(said).not.toContain('hunter')
      expect(status).toBe(78)
    },
  )
})

test.each(['serve', 'migrate', 'admin tenant list'])(
  '%s ends with 69 and says why the database is not available',
  async (command) => {
    const port = freePort()
    const env = {
      SVC_DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/x`,
      SVC_SECRETS_KEY: 'a'.repeat(64),
    }
    const process_ = start(env, command.split(' '))
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    expect(said).toBe(
      `SVC_DATABASE_URL: the database is not available.\nconnect ECONNREFUSED 127.0.0.1:${port}\n`,
    )
    expect(status).toBe(69)
  },
)

test.each(someInShortForm(['SVC_LISTEN_ADDR', 'SVC_METRICS_ADDR', 'SVC_PGWIRE_ADDR', 'SVC_XMLA_ADDR'], 4))(
  'a start that finds the address of %s in use ends and names the variable',
  async (name) => {
    const folder = await preparedDirectory()
    using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const address = `127.0.0.1:${other.port}`
    const process_ = start({
      SVC_DATA_DIR: folder,
      ...anyPorts,
      [name]: address,
    })
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    await rm(folder, { recursive: true, force: true })
    expect(said).toContain(`${name}: cannot listen at ${address}. Choose a free address of this host.\n`)
    expect(status).toBe(1)
  },
)

test.each(['serve', 'admin tenant list'])(
  'a SVC_DATA_DIR that is no directory ends %s, which names the variable',
  async (command) => {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
    await Bun.write(join(folder, 'file'), '')
    const process_ = start({ SVC_DATA_DIR: join(folder, 'file') }, command.split(' '))
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    await rm(folder, { recursive: true, force: true })
    expect(said).toContain('SVC_DATA_DIR: no directory in which files can be made.\n')
    expect(status).toBe(1)
  },
)

test('the service starts on its data directory, keeps its key to itself, and stops on SIGTERM with 0', async () => {
  const folder = await preparedDirectory()
  try {
    const service = start({ SVC_DATA_DIR: folder, ...anyPorts, UV_THREADPOOL_SIZE: '16' })
    const { log, url } = await listening(service)
    expect(log).toContain('survive the death of this process, not of the machine')
    await eventually(async () => (await fetch(new URL('/readyz', url))).status === 200)
    const { mode } = await Bun.file(join(folder, 'secrets.key')).stat()
    expect(mode & 0o777).toBe(0o600)
    service.kill('SIGTERM')
    expect(await service.exited).toBe(0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
