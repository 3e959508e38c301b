import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './support/eventually.ts'

const root = join(import.meta.dir, '..')

const kept = async (folder: string) =>
  (await readdir(join(folder, 'pg-catalog'))).filter((name) => name.endsWith('.tar'))

function start(env: Readonly<Record<string, string>>) {
  return Bun.spawn([process.execPath, 'src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

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
