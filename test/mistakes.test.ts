/**
 * The mistakes that operators make before a service runs, outside of the settings (config-mistakes.test.ts): each ends
 * the start with one line that names what is wrong and what to do, and with the right exit status: 64 for arguments, 69
 * for a database that cannot be reached, 1 for everything else. `covenant check` finds each of them beforehand.
 */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from '../src/admin/check.ts'
import { exitStatus } from '../src/admin/exit-status.ts'
import type { Terminal } from '../src/admin/terminal.ts'
import { startApp } from '../src/app.ts'
import { tellOperator } from '../src/base/fault.ts'
import { ConfigError, parseConfig } from '../src/config.ts'
import { openConfiguredStore } from '../src/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { makeCertificate } from './support/certificate.ts'
import { refusingDatabase } from './support/refusing-database.ts'
import { serveOnce } from './support/serve-once.ts'

setDefaultTimeout(60_000)

type Env = Readonly<Record<string, string>>

const folder = mkdtempSync(join(tmpdir(), 'covenant-mistakes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const key = 'a'.repeat(64)

/** What the operator is told where a start with these settings fails. */
async function failure(env: Env, openStore = openConfiguredStore): Promise<string[]> {
  const [metrics, log] = [createMetrics(), createLogger({ level: 'silent' })]
  try {
    const config = parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      ...env,
    })
    await startApp({ config, store: await openStore(config, metrics, log), metrics, log })
  } catch (error) {
    expect(error).not.toBeInstanceOf(ConfigError)
    return tellOperator(error).split('\n')
  }
  throw new Error('the service started')
}

/** What `covenant check` says that fails with these settings, and how it ends. */
async function checked(env: Env): Promise<{ readonly status: number; readonly failed: readonly string[] }> {
  const failed: string[] = []
  const terminal: Pick<Terminal, 'env' | 'print' | 'complain'> = {
    env: {
      SVC_DATA_DIR: join(folder, 'unused'),
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      ...env,
    },
    print: () => {},
    complain: (line) => failed.push(line),
  }
  const status = await check([], terminal as Terminal)
  return { status, failed }
}

/** A file or folder of the test's own. */
const place = (name: string, content?: string | Uint8Array) => {
  const path = join(folder, name)
  if (content === undefined) mkdirSync(path, { recursive: true })
  else writeFileSync(path, content)
  return path
}

describe('a mistake outside of the settings', () => {
  const data = (name: string, file?: Uint8Array) => {
    const path = place(name)
    if (file !== undefined) writeFileSync(join(path, 'secrets.key'), file)
    return path
  }
  const withData = data('lost-key')
  mkdirSync(join(withData, 'store', 'pg'), { recursive: true })
  const shortKey = data('short-key', new Uint8Array(31))
  const longKey = data('long-key', Buffer.from(`${key}\n`))
  const keyFolder = data('key-folder')
  mkdirSync(join(keyFolder, 'secrets.key'))
  const notFolder = place('no-folder', '')

  test.each<[name: string, env: Env, line: string]>([
    [
      'a data directory that is a file',
      { SVC_DATA_DIR: notFolder },
      'SVC_DATA_DIR: no directory in which files can be made.',
    ],
    [
      'a lost key file',
      { SVC_DATA_DIR: withData },
      `${withData}/secrets.key is missing, and ${withData} holds data: restore the file from a backup, or set SVC_SECRETS_KEY to its key.`,
    ],
    [
      'a key file that was cut',
      { SVC_DATA_DIR: shortKey },
      `${shortKey}/secrets.key holds no secrets key of 32 bytes. Restore it from a backup; if nothing was ever stored, remove it.`,
    ],
    [
      'a key file in hexadecimal digits',
      { SVC_DATA_DIR: longKey },
      `${longKey}/secrets.key holds no secrets key of 32 bytes. Restore it from a backup; if nothing was ever stored, remove it.`,
    ],
    [
      'a folder for a key file, as a container makes of a missing volume',
      { SVC_DATA_DIR: keyFolder },
      `${keyFolder}/secrets.key cannot be read or made.`,
    ],
  ])('is named on one line before the store opens: %s', async (_, env, line) => {
    expect((await failure(env))[0]).toBe(line)
    const { status, failed } = await checked(env)
    expect({ status, failures: failed.length }).toEqual({ status: exitStatus.config, failures: 1 })
    expect(failed[0]).toStartWith('FAILED  SVC_DATA_DIR: ')
    expect(failed[0]).toContain(env.SVC_DATA_DIR ?? '')
  })

  test.each([
    ['28P01', 'password authentication failed for user "u"'],
    ['28000', 'no pg_hba.conf entry for host "10.0.0.1", user "u", database "svc", no encryption'],
    ['3D000', 'database "svc" does not exist'],
    ['53300', 'sorry, too many clients already'],
    ['57P03', 'the database system is starting up'],
  ])('is told in the words of the database (%s)', async (code, message) => {
    await using database = refusingDatabase(code, message)
    const env = {
      SVC_DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${database.port}/svc`,
      SVC_SECRETS_KEY: key,
    }
    expect(await failure(env)).toEqual(['SVC_DATABASE_URL: the database is not available.', message])
    const { status, failed } = await checked(env)
    expect(status).toBe(exitStatus.unavailable)
    expect(failed).toEqual([
      `FAILED  SVC_DATABASE_URL, SVC_SECRETS_KEY: the database is not available. ${message}`,
    ])
  })

  const { cert, key: privateKey } = makeCertificate()
  const certFile = place('cert.pem', cert)
  const keyFile = place('key.pem', privateKey)
  const otherKey = place('other.pem', makeCertificate().key)
  const empty = place('empty.pem', '')
  const absent = join(folder, 'absent')
  const tls = (certPath: string, keyPath: string): Env => ({
    SVC_PGWIRE_TLS_CERT_FILE: certPath,
    SVC_PGWIRE_TLS_KEY_FILE: keyPath,
  })
  const noPair =
    'SVC_PGWIRE_TLS_CERT_FILE and SVC_PGWIRE_TLS_KEY_FILE name no certificate with its private key.'

  test.each<[name: string, env: Env, line: string]>([
    [
      'a license file that is not there',
      { SVC_LICENSE_FILE: absent },
      'The file that SVC_LICENSE_FILE names cannot be read.',
    ],
    [
      'a license that is none',
      { SVC_LICENSE: 'hunter2' },
      'The license was refused: it is not a signed license.',
    ],
    [
      'an empty license file',
      { SVC_LICENSE_FILE: empty },
      'The license was refused: it is not a signed license.',
    ],
    [
      'a certificate that is not there',
      tls(absent, keyFile),
      'SVC_PGWIRE_TLS_CERT_FILE: the file cannot be read.',
    ],
    [
      'a private key that is not there',
      tls(certFile, absent),
      'SVC_PGWIRE_TLS_KEY_FILE: the file cannot be read.',
    ],
    ['another certificate’s key', tls(certFile, otherKey), noPair],
    ['certificate and key in each other’s place', tls(keyFile, certFile), noPair],
    ['an empty certificate', tls(empty, keyFile), noPair],
    [
      'a read directory that is a file',
      { SVC_READ_DIR: notFolder },
      'SVC_READ_DIR: the directory cannot be created or is not writable.',
    ],
  ])('is named on one line before the service listens: %s', async (_, env, line) => {
    const told = await failure(env, async () => ({}) as Store)
    expect(told[0]).toBe(line)
    expect(told.join('\n')).not.toMatch(/hunter2|^ +at |\[object/m)
    const { status, failed } = await checked(env)
    expect({ status, failures: failed.length }).toEqual({ status: exitStatus.config, failures: 1 })
    expect(failed[0]).toContain(Object.keys(env)[0] ?? '')
    expect(failed[0]).not.toMatch(/hunter2|\n/)
  })

  test('ends the process with 1, without a stack trace', async () => {
    const started = await serveOnce({ SVC_DATA_DIR: shortKey })
    expect(started.status).toBe(1)
    expect(started.lines).toHaveLength(1)
  })
})

test('`covenant check` finds nothing to fail in settings with which a start would succeed, and makes no file', async () => {
  const unmade = join(folder, 'not-yet', 'data')
  const { cert, key: privateKey } = makeCertificate()
  const env = {
    SVC_DATA_DIR: unmade,
    SVC_READ_DIR: join(folder, 'not-yet', 'read'),
    SVC_PGWIRE_TLS_CERT_FILE: place('good.pem', cert),
    SVC_PGWIRE_TLS_KEY_FILE: place('good-key.pem', privateKey),
  }
  expect(await checked(env)).toEqual({ status: exitStatus.done, failed: [] })
  expect(existsSync(join(folder, 'not-yet'))).toBe(false)
})

test('`covenant check` notes an address that is in use, and fails one that this host does not have', async () => {
  using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(await checked({ SVC_LISTEN_ADDR: `127.0.0.1:${taken.port}` })).toEqual({ status: 0, failed: [] })
  const { status, failed } = await checked({ SVC_LISTEN_ADDR: '192.0.2.1:18080' })
  expect(status).toBe(exitStatus.config)
  expect(failed).toEqual([
    'FAILED  SVC_LISTEN_ADDR: Nothing can listen at 192.0.2.1:18080. Choose a free address of this host.',
  ])
})

test('arguments end the process with 64, although the settings are wrong too', async () => {
  const started = await serveOnce({ SVC_LISTEN_ADDR: '8080' }, ['--port', '8080'])
  expect(started.status).toBe(64)
})
