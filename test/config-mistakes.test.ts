/**
 * The mistakes that operators make in the settings: each ends the start with 78 and one line that names the variable and
 * what to do.
 */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ConfigError, parseConfig } from '../src/config.ts'
import { serveOnce } from './support/serve-once.ts'

setDefaultTimeout(60_000)

type Env = Readonly<Record<string, string>>

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
    [
      'a next secrets key that seals already',
      { SVC_SECRETS_KEY: key, SVC_SECRETS_KEY_NEXT: key },
      'SVC_SECRETS_KEY_NEXT: is the same key as SVC_SECRETS_KEY',
    ],
    [
      'a former secrets key that seals still',
      { SVC_SECRETS_KEY: key, SVC_SECRETS_KEY_FORMER: key },
      'SVC_SECRETS_KEY_FORMER: is the same key as SVC_SECRETS_KEY',
    ],
    [
      'three secrets keys at once',
      { SVC_SECRETS_KEY: key, SVC_SECRETS_KEY_NEXT: 'b'.repeat(64), SVC_SECRETS_KEY_FORMER: 'c'.repeat(64) },
      'SVC_SECRETS_KEY_NEXT: is set together with SVC_SECRETS_KEY_FORMER: set one of them',
    ],
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
      const started = await serveOnce(env)
      expect(started.status).toBe(78)
      for (const line of lines) expect(started.lines).toContain(line)
      expect(started.lines[0]).toBe(`The configuration has ${started.lines.length - 1} problem(s):`)
      expect(started.lines.join('\n')).not.toContain('hunter2')
    },
  )
})
