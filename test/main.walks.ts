/** The first start of all, on an empty data directory, and starts that find something in their way. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Drain } from '../src/server/drain.ts'
import { listenHttp } from '../src/server/http.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { eventually } from './support/eventually.ts'
import { anyPorts, listening, preparedDirectory, start } from './support/start-program.ts'

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
    const address = Bun.file(join(folder, 'service-url'))
    expect(await address.text()).toBe(`${new URL(url).origin}\n${process_.pid}\n`)
    process_.kill('SIGTERM')
    expect(await process_.exited).toBe(0)
    expect(await address.exists()).toBe(false)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

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
    SVC_XMLA_ADDR: '127.0.0.1:0',
  })
  const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
  await rm(folder, { recursive: true, force: true })
  expect(said).toContain(
    `SVC_LISTEN_ADDR: cannot listen at ${address}. Choose a free address of this host.\n`,
  )
  expect(status).toBe(1)
})

test('a SVC_READ_DIR in which no file can be made ends the start', async () => {
  const folder = await preparedDirectory()
  await Bun.write(join(folder, 'file'), '')
  const process_ = start({
    SVC_DATA_DIR: folder,
    ...anyPorts,
    SVC_READ_DIR: join(folder, 'file', 'reads'),
  })
  const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
  await rm(folder, { recursive: true, force: true })
  expect(said).toContain('SVC_READ_DIR: the directory cannot be created or is not writable.\n')
  expect(status).toBe(1)
})
