/** Settings: defaults, every refusal, secrecy, and the table in the documentation. */

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { ConfigError, parseConfig } from '../src/config.ts'
import { type Variable, variables } from '../src/config-variables.ts'

type Env = Record<string, string | undefined>

const key = Buffer.alloc(32, 7)
const tenantId = '3f2b8a4e-9c1d-4e5f-8a7b-1c2d3e4f5a6b'

function problemsOf(env: Env): readonly string[] {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((each) => `${each.variable} ${each.message}`)
    throw error
  }
  return []
}

describe('defaults', () => {
  test('an empty environment gives the embedded store and the default addresses', () => {
    const config = parseConfig({})
    expect(config.listen).toEqual({ host: undefined, port: 8080 })
    expect(config.metricsListen).toEqual({ host: undefined, port: 9100 })
    expect(config.pgwireListen).toEqual({ host: undefined, port: 5433 })
    expect(config.store).toEqual({
      ...{ kind: 'embedded', dataDir: '.data' },
      ...{ secretsKey: undefined, nextKey: undefined, formerKey: undefined },
    })
    expect(config.detectionWorkers).toBe(4)
    expect(config.alphaWebhookEnabled).toBe(true)
    expect(config.migrate).toBe(true)
    expect(config.demo).toBe(false)
    expect(config.jwt).toBeUndefined()
    expect(config.s3Events).toBeUndefined()
    expect(config.trustedProxies).toEqual([])
    expect(config.logLevel).toBe('info')
  })

  test('an empty value counts as unset', () => {
    expect(parseConfig({ SVC_L3_WORKERS: '', SVC_CHAT_WEBHOOK_URL: ' ' })).toEqual(parseConfig({}))
  })

  test('the result is frozen at every depth', () => {
    const config = parseConfig({ SVC_TRUSTED_PROXIES: '10.0.0.0/8' })
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.listen)).toBe(true)
    expect(Object.isFrozen(config.trustedProxies[0])).toBe(true)
  })
})

describe('values that are taken', () => {
  test.each([
    [':0', { host: undefined, port: 0 }],
    ['127.0.0.1:8081', { host: '127.0.0.1', port: 8081 }],
    ['[::1]:65535', { host: '::1', port: 65_535 }],
    ['svc.internal:80', { host: 'svc.internal', port: 80 }],
  ])('listens on %s', (value, address) => {
    expect(parseConfig({ SVC_LISTEN_ADDR: value }).listen).toEqual(address)
  })

  test.each([
    ['hex', key.toString('hex')],
    ['base64', key.toString('base64')],
    ['base64url without padding', key.toString('base64url')],
  ])('reads a secrets key in %s', (_, value) => {
    const { store } = parseConfig({ SVC_DATABASE_URL: 'postgres://u:p@db/svc', SVC_SECRETS_KEY: value })
    expect(store.kind).toBe('postgres')
    expect(store.secretsKey?.reveal()).toEqual(new Uint8Array(key))
  })

  test('a server store keeps its address as given, with several hosts too', () => {
    const url = 'postgres://u:p@a:5432,b:5432/svc'
    const { store } = parseConfig({ SVC_DATABASE_URL: url, SVC_SECRETS_KEY: key.toString('hex') })
    expect(store.kind === 'postgres' && store.databaseUrl.reveal()).toBe(url)
  })

  test('storage events take either name of the region', () => {
    const env = { SVC_S3_EVENTS_QUEUE_URL: 'https://sqs.example/q', SVC_S3_EVENTS_TENANT_ID: tenantId }
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION'])
      expect(parseConfig({ ...env, [name]: 'eu-central-1' }).s3Events?.region).toBe('eu-central-1')
  })

  test('upstream allowances are told apart into ranges and host names', () => {
    const { upstreamAllow } = parseConfig({ SVC_UPSTREAM_ALLOW: '10.0.0.0/8, Catalog.Internal ,fd00::/8' })
    expect(upstreamAllow.hosts).toEqual(['catalog.internal'])
    expect(upstreamAllow.cidrs.map((each) => each.address)).toEqual(['10.0.0.0', 'fd00::'])
  })

  test('the threads of the runtime may be just enough for the statements at once', () => {
    const { readEngine } = parseConfig({ UV_THREADPOOL_SIZE: '16', SVC_READ_QUERIES: '12' })
    expect(readEngine).toMatchObject({ poolThreads: 16, queries: 12 })
  })

  test('listeners may share a port at different addresses, and 0 is never shared', () => {
    const env = { SVC_LISTEN_ADDR: '127.0.0.1:8080', SVC_METRICS_ADDR: '127.0.0.2:8080' }
    expect(problemsOf(env)).toEqual([])
    expect(problemsOf({ SVC_LISTEN_ADDR: ':0', SVC_METRICS_ADDR: ':0', SVC_PGWIRE_ADDR: ':0' })).toEqual([])
  })

  test('a variable for tests is no problem', () => {
    expect(problemsOf({ SVC_TEST_DATABASE_URL: 'x' })).toEqual([])
  })
})

describe('values that are refused', () => {
  const valid = {
    database: { SVC_DATABASE_URL: 'postgres://u:p@db/svc', SVC_SECRETS_KEY: key.toString('hex') },
    queue: {
      SVC_S3_EVENTS_QUEUE_URL: 'https://sqs.example/q',
      SVC_S3_EVENTS_TENANT_ID: tenantId,
      AWS_REGION: 'eu-central-1',
    },
    jwt: { SVC_JWKS_URL: 'https://idp.example/jwks', SVC_JWT_ISSUER: 'i', SVC_JWT_AUDIENCE: 'a' },
  }
  const refused: [problem: string, env: Env][] = [
    ['SVC_LISTEN_ADDR must be `host:port`', { SVC_LISTEN_ADDR: '8080' }],
    ['SVC_LISTEN_ADDR must be `host:port`', { SVC_LISTEN_ADDR: ':65536' }],
    ['SVC_LISTEN_ADDR must be `host:port`', { SVC_LISTEN_ADDR: '::1:8080' }],
    ['SVC_METRICS_ADDR must be `host:port`', { SVC_METRICS_ADDR: '[127.0.0.1]:9100' }],
    ['SVC_PGWIRE_ADDR must be `host:port`', { SVC_PGWIRE_ADDR: 'http://localhost:5433' }],
    [
      'SVC_PGWIRE_TLS_KEY_FILE is required with SVC_PGWIRE_TLS_CERT_FILE',
      { SVC_PGWIRE_TLS_CERT_FILE: 'c.pem' },
    ],
    [
      'SVC_PGWIRE_TLS_CERT_FILE is required with SVC_PGWIRE_TLS_KEY_FILE',
      { SVC_PGWIRE_TLS_KEY_FILE: 'k.pem' },
    ],
    ['SVC_XMLA_TLS_KEY_FILE is required with SVC_XMLA_TLS_CERT_FILE', { SVC_XMLA_TLS_CERT_FILE: 'c.pem' }],
    ['SVC_DATABASE_URL must be a postgres:// URL', { ...valid.database, SVC_DATABASE_URL: 'mysql://db/x' }],
    ['SVC_DATABASE_URL is set but empty', { SVC_DATABASE_URL: '' }],
    ['SVC_SECRETS_KEY is required with SVC_DATABASE_URL', { SVC_DATABASE_URL: 'postgres://db/svc' }],
    ['SVC_SECRETS_KEY must be 32 bytes', { SVC_SECRETS_KEY: Buffer.alloc(31).toString('base64') }],
    ['SVC_SECRETS_KEY must be 32 bytes', { SVC_SECRETS_KEY: 'g'.repeat(64) }],
    ['SVC_MIGRATE must be 1 or 0', { SVC_MIGRATE: 'true' }],
    ['SVC_POOL_MAX must be a whole number', { SVC_POOL_MAX: '0' }],
    ['SVC_L3_WORKERS must be a whole number', { SVC_L3_WORKERS: '65' }],
    [
      'UV_THREADPOOL_SIZE must be at least 17, four more than SVC_READ_QUERIES',
      { UV_THREADPOOL_SIZE: '16', SVC_READ_QUERIES: '13' },
    ],
    ['SVC_L3_WORKERS must be a whole number', { SVC_L3_WORKERS: '4.5' }],
    ['SVC_ALPHA_WEBHOOK_ENABLED must be 1 or 0', { SVC_ALPHA_WEBHOOK_ENABLED: 'off' }],
    ['SVC_S3_EVENTS_QUEUE_URL must be an http(s) URL', { ...valid.queue, SVC_S3_EVENTS_QUEUE_URL: 'q' }],
    ['SVC_S3_EVENTS_TENANT_ID is required with', { ...valid.queue, SVC_S3_EVENTS_TENANT_ID: undefined }],
    [
      'SVC_S3_EVENTS_TENANT_ID must be a UUID version 4',
      { ...valid.queue, SVC_S3_EVENTS_TENANT_ID: '3f2b8a4e-9c1d-1e5f-8a7b-1c2d3e4f5a6b' },
    ],
    ['AWS_REGION is required with', { ...valid.queue, AWS_REGION: undefined }],
    ['SVC_CHAT_WEBHOOK_URL must be an http(s) URL', { SVC_CHAT_WEBHOOK_URL: 'javascript:alert(1)' }],
    ['SVC_TRUSTED_PROXIES item 2 is not', { SVC_TRUSTED_PROXIES: '10.0.0.0/8, 10.0.0.0/33' }],
    ['SVC_TRUSTED_PROXIES item 1 is not', { SVC_TRUSTED_PROXIES: '0.0.0.0/0' }],
    ['SVC_JWKS_URL must be an https:// URL', { ...valid.jwt, SVC_JWKS_URL: 'http://idp.example/jwks' }],
    ['SVC_JWKS_URL is set but empty', { SVC_JWKS_URL: '' }],
    ['SVC_JWT_ISSUER is required with SVC_JWKS_URL', { ...valid.jwt, SVC_JWT_ISSUER: '' }],
    ['SVC_JWT_AUDIENCE is required with SVC_JWKS_URL', { ...valid.jwt, SVC_JWT_AUDIENCE: undefined }],
    ['SVC_JWT_ISSUER has no effect without SVC_JWKS_URL', { SVC_JWT_ISSUER: 'i' }],
    ['SVC_UPSTREAM_ALLOW item 1 is not', { SVC_UPSTREAM_ALLOW: '10.0.0.256' }],
    ['SVC_UPSTREAM_ALLOW item 1 is not', { SVC_UPSTREAM_ALLOW: 'https://catalog' }],
    ['SVC_DEMO must be 1 or 0', { SVC_DEMO: 'yes' }],
    ['SVC_LOG_LEVEL must be one of', { SVC_LOG_LEVEL: 'verbose' }],
    ['SVC_LICENSE_FILE is set together with', { SVC_LICENSE: 'a', SVC_LICENSE_FILE: 'b' }],
    ['IDP_ISSUER_URL must be an https:// URL', { IDP_ISSUER_URL: 'idp', IDP_CLIENT_ID: 'c' }],
    [
      'IDP_CLIENT_ID is required with IDP_ISSUER_URL',
      { IDP_ISSUER_URL: 'https://idp.example', SVC_PUBLIC_URL: 'https://svc.example' },
    ],
    [
      'SVC_PUBLIC_URL is required with IDP_ISSUER_URL',
      { IDP_ISSUER_URL: 'https://idp.example', IDP_CLIENT_ID: 'c' },
    ],
    ['SVC_PUBLIC_URL must be an https:// URL', { SVC_PUBLIC_URL: 'http://svc.example' }],
    ['SVC_PUBLIC_URL must be an https:// URL', { SVC_PUBLIC_URL: 'https://svc.example/covenant' }],
    ['SVC_PUBLIC_URL must be an https:// URL', { SVC_PUBLIC_URL: 'https://svc.example/?a' }],
    ['SVC_PUBLIC_URL must be an https:// URL', { SVC_PUBLIC_URL: 'https://u:p@svc.example' }],
    ['IDP_INTERNAL_ADMIN_ORG_ID must be an organization id', { IDP_INTERNAL_ADMIN_ORG_ID: 'org-1' }],
    [
      'SVC_LISTEN_ADRR is not a variable of this service; did you mean SVC_LISTEN_ADDR?',
      { SVC_LISTEN_ADRR: 'x' },
    ],
    ['IDP_CLIENTID is not a variable of this service; did you mean IDP_CLIENT_ID?', { IDP_CLIENTID: 'x' }],
    ...(
      [
        [':8080', ':8080'],
        ['127.0.0.1:8080', ':8080'],
        ['0.0.0.0:8080', '127.0.0.1:8080'],
        ['[::]:8080', '10.0.0.1:8080'],
        ['svc.internal:8080', 'svc.internal:8080'],
      ] as const
    ).map(([listen, metrics]): [string, Env] => [
      'SVC_METRICS_ADDR is the address of SVC_LISTEN_ADDR: give each listener its own port',
      { SVC_LISTEN_ADDR: listen, SVC_METRICS_ADDR: metrics },
    ]),
    [
      'SVC_PGWIRE_ADDR is the address of SVC_METRICS_ADDR: give each listener its own port',
      { SVC_METRICS_ADDR: ':5433' },
    ],
    ['SVC_TRUSTED_PROXIES is required with SVC_PGWIRE_PROXY_PROTOCOL', { SVC_PGWIRE_PROXY_PROTOCOL: '1' }],
    [
      'SVC_TRUSTED_PROXIES is required with SVC_PGWIRE_PROXY_PROTOCOL',
      { SVC_PGWIRE_PROXY_PROTOCOL: '1', SVC_TRUSTED_PROXIES: ' , ' },
    ],
    ['SVC_DRAIN_DELAY_SECONDS must be a whole number from 0 to 300', { SVC_DRAIN_DELAY_SECONDS: '5s' }],
  ]
  test.each(refused)('%s', (expected, env) => {
    const problems = problemsOf(env)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toStartWith(expected)
  })

  test('all problems are reported together', () => {
    const problems = problemsOf({ SVC_MIGRATE: 'x', SVC_LOG_LEVEL: 'x', SVC_POOL_MAX: 'x', SVC_BOGUS: 'x' })
    expect(problems.map((each) => each.split(' ')[0])).toEqual([
      'SVC_BOGUS',
      'SVC_MIGRATE',
      'SVC_POOL_MAX',
      'SVC_LOG_LEVEL',
    ])
  })

  test('a name like nothing known gets no suggestion', () => {
    expect(problemsOf({ SVC_QQQQQQQQQQQQQQ: 'x' })).toEqual([
      'SVC_QQQQQQQQQQQQQQ is not a variable of this service',
    ])
  })
})

describe('SVC_DEMO', () => {
  test('moves default listeners to loopback', () => {
    const config = parseConfig({ SVC_DEMO: '1' })
    expect([config.listen, config.metricsListen, config.pgwireListen].map((each) => each.host)).toEqual([
      '127.0.0.1',
      '127.0.0.1',
      '127.0.0.1',
    ])
  })

  test.each(['127.0.0.1:0', 'localhost:0', '[::1]:0'])('listens on %s', (value) => {
    expect(problemsOf({ SVC_DEMO: '1', SVC_LISTEN_ADDR: value })).toEqual([])
  })

  test.each([':8099', '0.0.0.0:8099', '[::]:8099', '127.example.com:8099'])('refuses %s', (value) => {
    for (const name of ['SVC_LISTEN_ADDR', 'SVC_METRICS_ADDR', 'SVC_PGWIRE_ADDR', 'SVC_XMLA_ADDR'])
      expect(problemsOf({ SVC_DEMO: '1', [name]: value })).toEqual([
        `${name} must be on loopback (127.0.0.1, ::1, localhost) under SVC_DEMO=1`,
      ])
  })
})

describe('secrecy', () => {
  const canary = 'Zk4canaryQ9'
  const secretNames = Object.entries(variables as Record<string, Variable>)
    .filter(([, variable]) => variable.secret)
    .map(([name]) => name)

  test('no secret is printed by any of the usual ways', () => {
    const config = parseConfig({
      SVC_DATABASE_URL: `postgres://u:${canary}@db/svc`,
      SVC_SECRETS_KEY: Buffer.from(canary.padEnd(32, '.')).toString('base64'),
      SVC_CHAT_WEBHOOK_URL: `https://chat.example/${canary}`,
      SVC_LICENSE: canary,
      IDP_API_KEY: canary,
      IDP_WEBHOOK_SECRET: canary,
      BILLING_WEBHOOK_SECRET: canary,
    })
    const secrets = [config.billingWebhookSecret, config.idp.apiKey, config.chatWebhookUrl]
    const printed = [
      JSON.stringify(config),
      Bun.inspect(config, { depth: 9 }),
      inspect(config, { depth: 9, showHidden: true }),
      `${secrets}`,
      JSON.stringify(structuredClone(config)),
    ].join('\n')
    expect(printed).not.toContain(canary)
    expect(printed).not.toContain(Buffer.from(canary).toString('base64').slice(0, 10))
    expect(config.idp.apiKey?.reveal()).toBe(canary)
  })

  test.each(secretNames)('a problem with %s does not quote it', (name) => {
    const error = (() => {
      try {
        parseConfig({ [name]: `${canary}\u0000`, SVC_LICENSE_FILE: 'x', SVC_BOGUS: canary })
      } catch (thrown) {
        return thrown
      }
    })()
    expect(error).toBeInstanceOf(ConfigError)
    expect(Bun.inspect(error)).not.toContain(canary)
  })
})

describe('tracing', () => {
  const endpoint = 'http://collector:4318'

  test('is off where no receiver is named, whatever else is set', () => {
    expect(parseConfig({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER_ARG: '0.5' }).tracing).toBeUndefined()
  })

  test('appends the path of traces to the receiver, and takes a whole address as it is', () => {
    const urlOf = (env: Env) => parseConfig(env).tracing?.tracesUrl
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toBe('http://collector:4318/v1/traces')
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/otlp/` })).toBe(
      'http://collector:4318/otlp/v1/traces',
    )
    const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in' }
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...whole })).toBe('https://traces.example/in')
  })

  test('takes name, resource, share and headers, and does not print the headers', () => {
    const { tracing } = parseConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-tenant=t',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    })
    expect(tracing).toMatchObject({
      serviceName: 'covenant',
      resource: { 'deployment.environment.name': 'prod' },
      sampled: 0.25,
    })
    expect(tracing?.headers.reveal()).toEqual({ authorization: 'Bearer abc', 'x-tenant': 't' })
    expect(inspect(tracing)).not.toContain('abc')
  })

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', 'must be an http(s) URL'],
    [
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'grpc',
      'must be http/protobuf, the only protocol that the service speaks',
    ],
    ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be a number from 0 to 1'],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'secret-without-name',
      'must be name=value pairs, comma-separated, with percent-encoded values',
    ],
  ])('refuses %s=%s without quoting a secret', (name, value, sentence) => {
    expect(problemsOf({ [name]: value })).toEqual([`${name} ${sentence}`])
  })
})

describe('docs/configuration.md', () => {
  test('its table is the one of the code', () => {
    const rows = Object.entries(variables as Record<string, Variable>).map(([name, variable]) => {
      const fallback = variable.default === undefined ? '' : `\`${variable.default}\``
      return `| \`${name}\` | ${fallback} | ${variable.secret ? 'yes' : ''} | ${variable.about} |`
    })
    const document = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')
    expect(document.split('\n').filter((line) => /^\| `/.test(line))).toEqual(rows)
  })

  test('every variable of the table is read', () => {
    const read = new Set<string | symbol>()
    const env = new Proxy<Env>(
      {
        SVC_S3_EVENTS_QUEUE_URL: 'https://sqs.example/q',
        SVC_S3_EVENTS_TENANT_ID: tenantId,
        AWS_REGION: 'r',
      },
      {
        get: (target, name) => {
          // The check for empty values looks at some without reading their meaning.
          if (!new Error().stack?.includes('emptyVariables')) read.add(name)
          return Reflect.get(target, name)
        },
      },
    )
    parseConfig(env)
    expect(Object.keys(variables).filter((name) => !read.has(name))).toEqual([])
  })
})
