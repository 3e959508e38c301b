import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Drain } from '../src/server/drain.ts'
import { listenHttp } from '../src/server/http.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'

const root = join(import.meta.dir, '..')

const kept = async (folder: string) =>
  (await readdir(join(folder, 'pg-catalog'))).filter((name) => name.endsWith('.tar'))

function start(
  env: Readonly<Record<string, string>>,
  program = 'src/main.ts',
  words: readonly string[] = [],
) {
  return Bun.spawn([process.execPath, program, ...words], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

test('the service takes no arguments: --help is answered, and anything else ends it with 64', async () => {
  const helped = start({ SVC_LISTEN_ADDR: 'nonsense' }, 'src/main.ts', ['--help'])
  expect(await new Response(helped.stdout).text()).toContain('docs/configuration.md')
  expect(await helped.exited).toBe(0)
  // The configuration is wrong too, so that a service that went on would not listen.
  const mistaken = start({ SVC_LISTEN_ADDR: 'nonsense' }, 'src/main.ts', ['--port', '80'])
  expect(await new Response(mistaken.stderr).text()).toContain('It takes no arguments')
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
  const programs = ['src/main.ts', 'src/migrate.ts']
  const addresses = [
    'postgres://u:#hunter2@db/x',
    'postgres://u:%hunter2@db/x',
    'postgres://u:hunter2@db:port/x',
    '',
  ]
  test.each(programs.flatMap((program) => addresses.map((address) => [program, address])))(
    '%s %s',
    async (program, address) => {
      const process_ = start({ SVC_DATABASE_URL: address, SVC_SECRETS_KEY: 'a'.repeat(64) }, program)
      const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
      expect(said).toContain('SVC_DATABASE_URL: ')
      expect(said).not.toContain('hunter')
      expect(status).toBe(78)
    },
  )
})

test.each(['src/main.ts', 'src/migrate.ts', 'src/admin.ts'])(
  '%s says why the database is not available',
  async (program) => {
    const port = freePort()
    const env = {
      SVC_DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/x`,
      SVC_SECRETS_KEY: 'a'.repeat(64),
    }
    const process_ = start(env, program, program === 'src/admin.ts' ? ['tenant', 'list'] : [])
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    expect(said).toBe(`The database is not available.\nconnect ECONNREFUSED 127.0.0.1:${port}\n`)
    expect(status).toBe(1)
  },
)

test.each(['SVC_LISTEN_ADDR', 'SVC_METRICS_ADDR', 'SVC_PGWIRE_ADDR'])(
  'a start that finds the address of %s in use ends and names the variable',
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
    using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const address = `127.0.0.1:${other.port}`
    const process_ = start({
      SVC_DATA_DIR: folder,
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      [name]: address,
    })
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    await rm(folder, { recursive: true, force: true })
    expect(said).toContain(`${name}: cannot listen at ${address}. Choose a free address of this host.\n`)
    expect(status).toBe(1)
  },
)

test('a start on the address of a running service ends, because the two would share its connections', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
  // It listens as the service does, so that only the second listener can refuse.
  const drain = new Drain()
  using running = listenHttp({
    hostname: '127.0.0.1',
    port: 0,
    drain,
    log: createLogger({ level: 'silent' }),
    handle: async () => new Response('the first'),
  })
  const address = `127.0.0.1:${running.port}`
  const process_ = start({
    SVC_DATA_DIR: folder,
    SVC_LISTEN_ADDR: address,
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
  })
  const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
  await rm(folder, { recursive: true, force: true })
  expect(said).toContain(
    `SVC_LISTEN_ADDR: cannot listen at ${address}. Choose a free address of this host.\n`,
  )
  expect(status).toBe(1)
})

test('a SVC_READ_DIR in which no file can be made ends the start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
  await Bun.write(join(folder, 'file'), '')
  const process_ = start({
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
    SVC_READ_DIR: join(folder, 'file', 'reads'),
  })
  const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
  await rm(folder, { recursive: true, force: true })
  expect(said).toContain('SVC_READ_DIR: the directory cannot be created or is not writable.\n')
  expect(status).toBe(1)
})

test.each(['src/main.ts', 'src/admin.ts'])(
  'a SVC_DATA_DIR that is no directory ends %s, which names the variable',
  async (program) => {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
    await Bun.write(join(folder, 'file'), '')
    const words = program === 'src/admin.ts' ? ['tenant', 'list'] : []
    const process_ = start({ SVC_DATA_DIR: join(folder, 'file') }, program, words)
    const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
    await rm(folder, { recursive: true, force: true })
    expect(said).toContain('SVC_DATA_DIR: no directory in which files can be made.\n')
    expect(status).toBe(1)
  },
)

test('the service starts on an empty data directory, keeps its key to itself, and stops on SIGTERM with 0', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
  try {
    const process_ = start({
      SVC_DATA_DIR: folder,
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
    })
    const lines = process_.stdout.pipeThrough(new TextDecoderStream())
    let log = ''
    for await (const chunk of lines) {
      log += chunk
      if (log.includes('"msg":"listening"')) break
    }
    expect(log).toContain('survive the death of this process, not of the machine')
    const { url } = log
      .split('\n')
      .filter((line) => line.includes('"listening"'))
      .map((line) => JSON.parse(line) as { url: string })[0] as { url: string }
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
