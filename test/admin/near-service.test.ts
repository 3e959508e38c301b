/** `covenant admin` without an address, while a service has the embedded store open. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nearServiceUrl, removeServiceUrl, writeServiceUrl } from '../../src/admin/near-service.ts'
import { runCovenant } from '../../src/admin/verbs.ts'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import type { StoreBackend } from '../../src/store/database/link.ts'
import { type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { storeTemplate, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(120_000)

const dataDir = mkdtempSync(join(tmpdir(), 'covenant-near-'))
let service: IdentityService
let held: StoreBackend

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(['admin', ...words], {
    env: { SVC_DATA_DIR: dataDir, XDG_CONFIG_HOME: dataDir, HOME: dataDir, ...env },
    stdin: async () => '',
    print: (line) => void out.push(line),
    complain: (line) => void err.push(line),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

beforeAll(async () => {
  service = await startIdentityService()
  writeFileSync(join(dataDir, 'secrets.key'), testSecretsKey, { mode: 0o600 })
  // What a service does with its data directory: it holds the store, and says where it listens.
  held = await embeddedBackend({
    dataDirectory: join(dataDir, 'store'),
    template: await storeTemplate(),
    statementMs: 60_000,
  })
  await writeServiceUrl(dataDir, service.app.url)
})
afterAll(async () => {
  await held.close()
  await service[Symbol.asyncDispose]()
  rmSync(dataDir, { recursive: true, force: true })
})

test('it goes to that service with the session in COVENANT_SESSION, or in a file', async () => {
  const listed = await run(['tenant', 'list'], { COVENANT_SESSION: service.operator })
  expect(listed).toMatchObject({ status: 0, err: '' })
  expect(listed.out).toContain(service.owner.tenant)
  const file = join(dataDir, 'session')
  writeFileSync(file, service.operator)
  expect(await run(['tenant', 'list', '--session-file', file])).toEqual(listed)
})

test('a session adds a person to its own tenant, and is refused another one', async () => {
  const administrator = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
  const env = { COVENANT_SESSION: administrator }
  const added = await run(
    ['session', 'create', '--name', 'carol', '--scopes', 'read', '--field', 'secret'],
    env,
  )
  expect(added).toMatchObject({ status: 0, err: '' })
  expect(added.out).toStartWith('svc_')
  const other = await run(['session', 'list', '--tenant', crypto.randomUUID()], env)
  expect(other).toMatchObject({ status: 1, out: '' })
})

test('without a session it says that the service has the store, and that one is needed', async () => {
  const { status, err } = await run(['tenant', 'list'])
  expect(status).toBe(64)
  expect(err).toContain(`The service at ${service.app.url.origin} has the embedded store open`)
  expect(err).toContain('A session is needed')
})

test('a database in the settings, and another address, are not overruled', async () => {
  const database = await run(['tenant', 'list'], { SVC_DATABASE_URL: 'nonsense' })
  expect(database.status).toBe(78)
  const elsewhere = await run(['tenant', 'list', '--url', 'http://127.0.0.1:1'], { COVENANT_SESSION: 'x' })
  expect(elsewhere).toMatchObject({ status: 69 })
})

describe('a file that is not of the service that has the store open sends no session anywhere', () => {
  const path = join(dataDir, 'service-url')
  afterEach(async () => await writeServiceUrl(dataDir, service.app.url))

  /** A call as if the file were not there: the store is in use, and the user names the service. */
  async function expectInUse() {
    const { status, out, err } = await run(['tenant', 'list'], { COVENANT_SESSION: service.operator })
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toContain('is in use by another process')
    expect(err).toContain('--url http://127.0.0.1:8080')
  }

  test('where its process has ended, or is none', async () => {
    const ended = Bun.spawnSync(['true']).pid
    await writeServiceUrl(dataDir, service.app.url, ended)
    await expectInUse()
    for (const pid of ['', '\n', '\n0\n', '\n-1\n', '\n1e0\n', `\n ${process.pid}\n`]) {
      writeFileSync(path, `${service.app.url.origin}${pid}`)
      expect(await nearServiceUrl({ SVC_DATA_DIR: dataDir })).toBeUndefined()
    }
  })

  test('where its address is neither of this machine nor in the settings', async () => {
    const env = { SVC_DATA_DIR: dataDir }
    for (const text of ['https://covenant.example', 'http://10.0.0.5:8080', 'http://[fd00::5]:8080'])
      await writeServiceUrl(dataDir, new URL(text)).then(expectInUse)
    await writeServiceUrl(dataDir, new URL('https://covenant.example'))
    expect(await nearServiceUrl({ ...env, SVC_PUBLIC_URL: 'https://other.example' })).toBeUndefined()
    expect(await nearServiceUrl({ ...env, SVC_PUBLIC_URL: 'https://covenant.example/' })).toBe(
      'https://covenant.example',
    )
    await writeServiceUrl(dataDir, new URL('http://10.0.0.5:8080'))
    for (const listen of ['10.0.0.5:8081', '10.0.0.6:8080', ':8080', 'nonsense'])
      expect(await nearServiceUrl({ ...env, SVC_LISTEN_ADDR: listen })).toBeUndefined()
    expect(await nearServiceUrl({ ...env, SVC_LISTEN_ADDR: '10.0.0.5:8080' })).toBe('http://10.0.0.5:8080')
    for (const text of [
      'file:///etc/passwd',
      'http://127.0.0.1:1/path',
      'http://a:b@127.0.0.1:1',
      '127.0.0.1:1',
    ]) {
      writeFileSync(path, `${text}\n${process.pid}\n`)
      expect(await nearServiceUrl(env)).toBeUndefined()
    }
  })

  test('where others may write it, or it is a link', async () => {
    chmodSync(path, 0o622)
    await expectInUse()
    chmodSync(path, 0o600)
    renameSync(path, `${path}.elsewhere`)
    symlinkSync(`${path}.elsewhere`, path)
    await expectInUse()
    // The service replaces what it finds there, and writes through no link.
    await writeServiceUrl(dataDir, new URL('http://127.0.0.1:1'))
    expect(await Bun.file(`${path}.elsewhere`).text()).toContain(service.app.url.origin)
    rmSync(`${path}.elsewhere`)
  })

  // Skipped where the test may not give a file away.
  test.skipIf(process.getuid?.() !== 0)('where another user owns it', async () => {
    chownSync(path, 12_345, 12_345)
    await expectInUse()
  })

  test('once the service has removed it', async () => {
    await removeServiceUrl(dataDir)
    expect(existsSync(path)).toBe(false)
    await expectInUse()
    await removeServiceUrl(dataDir)
  })
})
