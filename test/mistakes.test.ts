/**
 * The mistakes that operators make before a service runs: each ends the start with one line that names what is wrong
 * and what to do, and with the right exit status: 64 for arguments, 78 for settings, 69 for a database that cannot be reached, 1 for everything else.
 */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp } from '../src/app.ts'
import { tellOperator } from '../src/base/fault.ts'
import { ConfigError, parseConfig } from '../src/config.ts'
import { openConfiguredStore } from '../src/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { makeCertificate } from './support/certificate.ts'
import { refusingDatabase } from './support/refusing-database.ts'

setDefaultTimeout(60_000)

type Env = Readonly<Record<string, string>>

const root = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'covenant-mistakes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(env: Env, words: readonly string[] = []) {
  const process_ = Bun.spawn([process.execPath, 'src/main.ts', 'serve', ...words], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [status, said] = await Promise.all([process_.exited, new Response(process_.stderr).text()])
  return { status, lines: said.trimEnd().split('\n') }
}

const key = 'a'.repeat(64)
const postgres = { SVC_DATABASE_URL: 'postgres://u:hunter2@db/svc', SVC_SECRETS_KEY: key }
const address = 'must be `host:port` or `:port`, port 0 to 65535'
const url = 'must be a postgres:// URL, with # / % and their like percent-encoded'
const bytes = 'must be 32 bytes in base64 or hex (`openssl rand -base64 32`)'
const https = 'must be an https:// URL (http:// on loopback only)'

describe('a mistake in the settings', () => {
  const mistakes: [name: string, env: Env, line: string][] = [
    ['a port without a colon', { SVC_LISTEN_ADDR: '8080' }, `SVC_LISTEN_ADDR: ${address}`],
    ['a host without a port', { SVC_METRICS_ADDR: 'localhost' }, `SVC_METRICS_ADDR: ${address}`],
    ['a URL for an address', { SVC_PGWIRE_ADDR: 'http://0.0.0.0:5433' }, `SVC_PGWIRE_ADDR: ${address}`],
    ['a port above 65535', { SVC_LISTEN_ADDR: ':70000' }, `SVC_LISTEN_ADDR: ${address}`],
    [
      'one address for two listeners',
      { SVC_METRICS_ADDR: ':8080' },
      'SVC_METRICS_ADDR: is the address of SVC_LISTEN_ADDR: give each listener its own port',
    ],
    [
      'a database without a scheme',
      { ...postgres, SVC_DATABASE_URL: 'db:5432/svc' },
      `SVC_DATABASE_URL: ${url}`,
    ],
    [
      'a database of another kind',
      { ...postgres, SVC_DATABASE_URL: 'mysql://u:hunter2@db/svc' },
      `SVC_DATABASE_URL: ${url}`,
    ],
    [
      'a database in quotation marks',
      { ...postgres, SVC_DATABASE_URL: '"postgres://db/svc"' },
      `SVC_DATABASE_URL: ${url}`,
    ],
    [
      'a # in the password',
      { ...postgres, SVC_DATABASE_URL: 'postgres://u:#hunter2@db/svc' },
      `SVC_DATABASE_URL: ${url}`,
    ],
    [
      'an empty database variable',
      { SVC_DATABASE_URL: '' },
      'SVC_DATABASE_URL: is set but empty: unset it or give it a value',
    ],
    [
      'a database without a secrets key',
      { SVC_DATABASE_URL: postgres.SVC_DATABASE_URL },
      'SVC_SECRETS_KEY: is required with SVC_DATABASE_URL',
    ],
    ['a password for a secrets key', { SVC_SECRETS_KEY: 'hunter2-hunter2' }, `SVC_SECRETS_KEY: ${bytes}`],
    ['a secrets key that was cut', { SVC_SECRETS_KEY: key.slice(1) }, `SVC_SECRETS_KEY: ${bytes}`],
    ['a word for a switch', { SVC_MIGRATE: 'false' }, 'SVC_MIGRATE: must be 1 or 0'],
    ['no connections', { SVC_POOL_MAX: '0' }, 'SVC_POOL_MAX: must be a whole number from 1 to 200'],
    ['too many workers', { SVC_L3_WORKERS: '100' }, 'SVC_L3_WORKERS: must be a whole number from 1 to 64'],
    [
      'a size with its unit',
      { SVC_READ_MEMORY_MB: '2GB' },
      'SVC_READ_MEMORY_MB: must be a whole number from 256 to 1048576',
    ],
    [
      'too small a cache',
      { SVC_READ_CACHE_MB: '1' },
      'SVC_READ_CACHE_MB: must be a whole number from 64 to 16777216',
    ],
    [
      'too few threads',
      { UV_THREADPOOL_SIZE: '4' },
      'UV_THREADPOOL_SIZE: must be at least 8, four more than SVC_READ_QUERIES',
    ],
    [
      'a duration with its unit',
      { SVC_DRAIN_DELAY_SECONDS: '10s' },
      'SVC_DRAIN_DELAY_SECONDS: must be a whole number from 0 to 300',
    ],
    [
      'a certificate without its key',
      { SVC_PGWIRE_TLS_CERT_FILE: '/tls/cert.pem' },
      'SVC_PGWIRE_TLS_KEY_FILE: is required with SVC_PGWIRE_TLS_CERT_FILE',
    ],
    [
      'a key without its certificate',
      { SVC_PGWIRE_TLS_KEY_FILE: '/tls/key.pem' },
      'SVC_PGWIRE_TLS_CERT_FILE: is required with SVC_PGWIRE_TLS_KEY_FILE',
    ],
    [
      'PROXY headers without the proxies',
      { SVC_PGWIRE_PROXY_PROTOCOL: '1' },
      'SVC_TRUSTED_PROXIES: is required with SVC_PGWIRE_PROXY_PROTOCOL',
    ],
    [
      'every address as a proxy',
      { SVC_TRUSTED_PROXIES: '10.0.0.1, 0.0.0.0/0' },
      'SVC_TRUSTED_PROXIES: item 2 is not an address or a CIDR range narrower than /0',
    ],
    [
      'a host name as a proxy',
      { SVC_TRUSTED_PROXIES: 'lb.internal' },
      'SVC_TRUSTED_PROXIES: item 1 is not an address or a CIDR range narrower than /0',
    ],
    [
      'proxies without a comma',
      { SVC_TRUSTED_PROXIES: '10.0.0.1 10.0.0.2' },
      'SVC_TRUSTED_PROXIES: item 1 is not an address or a CIDR range narrower than /0',
    ],
    [
      'a pattern of upstreams',
      { SVC_UPSTREAM_ALLOW: '*.internal' },
      'SVC_UPSTREAM_ALLOW: item 1 is not a CIDR range or a host name',
    ],
    [
      'keys without an issuer',
      { SVC_JWKS_URL: 'https://idp.example/keys', SVC_JWT_AUDIENCE: 'covenant' },
      'SVC_JWT_ISSUER: is required with SVC_JWKS_URL',
    ],
    [
      'an issuer without keys',
      { SVC_JWT_ISSUER: 'https://idp.example' },
      'SVC_JWT_ISSUER: has no effect without SVC_JWKS_URL: tokens would not be verified',
    ],
    [
      'keys over plain HTTP',
      { SVC_JWKS_URL: 'http://idp.example/keys', SVC_JWT_ISSUER: 'i', SVC_JWT_AUDIENCE: 'a' },
      `SVC_JWKS_URL: ${https}`,
    ],
    [
      'an identity provider without a client id',
      { IDP_ISSUER_URL: 'https://idp.example', SVC_PUBLIC_URL: 'https://svc.example' },
      'IDP_CLIENT_ID: is required with IDP_ISSUER_URL',
    ],
    [
      'an identity provider without the public address',
      { IDP_ISSUER_URL: 'https://idp.example', IDP_CLIENT_ID: 'covenant', SVC_LISTEN_ADDR: ':8080' },
      'SVC_PUBLIC_URL: is required with IDP_ISSUER_URL',
    ],
    [
      'a public address with a path',
      { SVC_PUBLIC_URL: 'https://svc.example/callback' },
      `SVC_PUBLIC_URL: ${https} without a path`,
    ],
    [
      'the name of an organization for its id',
      { IDP_INTERNAL_ADMIN_ORG_ID: 'acme' },
      'IDP_INTERNAL_ADMIN_ORG_ID: must be an organization id (org_ and letters or digits)',
    ],
    [
      'storage events without a tenant',
      { SVC_S3_EVENTS_QUEUE_URL: 'https://sqs.example/q', AWS_REGION: 'eu-central-1' },
      'SVC_S3_EVENTS_TENANT_ID: is required with SVC_S3_EVENTS_QUEUE_URL',
    ],
    [
      'storage events without a region',
      {
        SVC_S3_EVENTS_QUEUE_URL: 'https://sqs.example/q',
        SVC_S3_EVENTS_TENANT_ID: '3f2b8a4e-9c1d-4e5f-8a7b-1c2d3e4f5a6b',
      },
      'AWS_REGION: is required with SVC_S3_EVENTS_QUEUE_URL (or AWS_DEFAULT_REGION)',
    ],
    [
      'a chat channel for its URL',
      { SVC_CHAT_WEBHOOK_URL: '#alerts' },
      'SVC_CHAT_WEBHOOK_URL: must be an http(s) URL',
    ],
    [
      'two licenses',
      { SVC_LICENSE: 'hunter2', SVC_LICENSE_FILE: '/license' },
      'SVC_LICENSE_FILE: is set together with SVC_LICENSE: set one of them',
    ],
    [
      'a walk-through that others could reach',
      { SVC_DEMO: '1', SVC_PGWIRE_ADDR: '0.0.0.0:5433' },
      'SVC_PGWIRE_ADDR: must be on loopback (127.0.0.1, ::1, localhost) under SVC_DEMO=1',
    ],
    [
      'a level in capitals',
      { SVC_LOG_LEVEL: 'INFO' },
      'SVC_LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent',
    ],
    [
      'a misspelt variable of the service',
      { SVC_DATABSE_URL: 'postgres://u:hunter2@db/svc' },
      'SVC_DATABSE_URL: is not a variable of this service; did you mean SVC_DATABASE_URL?',
    ],
    [
      'a misspelt variable of the identity provider',
      { IDP_APIKEY: 'hunter2' },
      'IDP_APIKEY: is not a variable of this service; did you mean IDP_API_KEY?',
    ],
  ]

  test.each(mistakes)('is named on one line: %s', (_, env, line) => {
    let thrown: unknown
    try {
      parseConfig(env)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    expect((thrown as ConfigError).message).toBe(line)
  })

  /** Mistakes of different variables can be made in one environment, which takes fewer processes. */
  function environments() {
    const all: { env: Record<string, string>; lines: string[] }[] = []
    for (const [, env, line] of mistakes) {
      const names = [...Object.keys(env), ...(line.match(/\b(SVC|IDP|AWS)_[A-Z0-9_]+/g) ?? [])]
      // A walk-through changes defaults, so it stays on its own.
      const fits = all.find(
        (each) =>
          !('SVC_DEMO' in { ...each.env, ...env }) &&
          names.every((name) => !(name in each.env) && !each.lines.some((one) => one.includes(name))),
      )
      const target = fits ?? { env: {}, lines: [] }
      if (fits === undefined) all.push(target)
      Object.assign(target.env, env)
      target.lines.push(line)
    }
    return all
  }

  test.each(environments())(
    'ends the process with 78, and none of several is left out: %#',
    async ({ env, lines }) => {
      const started = await start(env)
      expect(started.status).toBe(78)
      for (const line of lines) expect(started.lines).toContain(line)
      expect(started.lines[0]).toBe(`The configuration has ${started.lines.length - 1} problem(s):`)
      expect(started.lines.join('\n')).not.toContain('hunter2')
    },
  )
})

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
    expect(await failure(env)).toEqual(['The database is not available.', message])
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
  })

  test('ends the process with 1, without a stack trace', async () => {
    const started = await start({ SVC_DATA_DIR: shortKey })
    expect(started.status).toBe(1)
    expect(started.lines).toHaveLength(1)
  })
})

test('arguments end the process with 64, although the settings are wrong too', async () => {
  const started = await start({ SVC_LISTEN_ADDR: '8080' }, ['--port', '8080'])
  expect(started.status).toBe(64)
})
