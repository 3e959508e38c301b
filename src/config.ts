/**
 * Reads every environment variable of the service into one frozen value. It finds all problems before it reports any. A
 * problem names its variable and never quotes a secret's value. docs/configuration.md lists the variables; a test
 * compares it with the code.
 */

import { join } from 'node:path'
import { parseClient } from './auth/authorization/redirect-uri.ts'
import { claimNameForm, isClaimName } from './auth/claims.ts'
import { type Cidr, parseCidr } from './base/cidr.ts'
import { Secret } from './base/secret.ts'
import { type AuditKeyFiles, auditKeyFiles, checkOtherKeys, type OtherKeys } from './config-keys.ts'
import { emptyVariables, unknownVariables } from './config-names.ts'
import { parseTracing, type TracingConfig } from './config-tracing.ts'
import {
  type CertificateFiles,
  isLoopback,
  type ListenAddress,
  overlap,
  parseDatabaseUrl,
  parseFlag,
  parseHost,
  parseHostUrl,
  parseHttpUrl,
  parseInteger,
  parseKey,
  parseKeySetUrl,
  parseKmsKey,
  parseListenAddress,
  parseProxyRange,
} from './config-values.ts'
import { type LogLevel, logLevels, type Variable, type VariableName, variables } from './config-variables.ts'
import { isOrganizationId, parseTenantId, type TenantId } from './core/tenant.ts'
import type { LicenseSource } from './license/installed-license.ts'
import { limits } from './limits.ts'

export interface Config {
  readonly listen: ListenAddress
  /** The service's address as browsers know it; undefined: the listener's. */
  readonly publicUrl: string | undefined
  readonly metricsListen: ListenAddress
  readonly pgwireListen: ListenAddress
  readonly pgwireTls: CertificateFiles | undefined
  readonly pgwireAllowPlaintext: boolean
  readonly xmlaListen: ListenAddress
  readonly xmlaTls: CertificateFiles | undefined
  readonly xmlaAllowPlaintext: boolean
  /** Trusted proxies name each client of the PostgreSQL wire in a PROXY protocol header. */
  readonly pgwireProxyProtocol: boolean
  readonly drainDelayMs: number
  readonly store:
    | ({
        readonly kind: 'postgres'
        readonly databaseUrl: Secret
        readonly secretsKey: Secret<Uint8Array>
      } & OtherKeys)
    /** Without a key, `openConfiguredStore` makes one in a file (mode 0600) inside the data directory. */
    | ({
        readonly kind: 'embedded'
        readonly dataDir: string
        readonly secretsKey: Secret<Uint8Array> | undefined
      } & OtherKeys)
  /** Where accepted changes are kept until they are audited; undefined: in memory only. */
  readonly journalDir: string | undefined
  readonly auditKey: AuditKeyFiles | undefined // undefined: no checkpoints are made
  readonly migrate: boolean
  readonly poolMax: number
  /** Undefined: the limit of the control group, or the machine's memory. */
  readonly memoryBytes: number | undefined
  readonly detectionWorkers: number
  readonly readEngine: {
    /** Undefined: a temporary directory. */
    readonly directory: string | undefined
    /** Undefined: a share of the memory. */
    readonly memoryBytes: number | undefined
    readonly cacheBytes: number
    readonly queries: number
    readonly poolThreads: number | undefined
  }
  readonly alphaWebhookEnabled: boolean
  readonly idpWebhookEnabled: boolean
  readonly billingWebhookEnabled: boolean
  readonly transformKmsKey: string | undefined // ARN; undefined: the secrets key wraps
  readonly s3Events:
    | { readonly queueUrl: string; readonly tenantId: TenantId; readonly region: string }
    | undefined
  /** A secret, because anyone who knows a chat webhook's URL can post to it. */
  readonly chatWebhookUrl: Secret | undefined
  readonly trustedProxies: readonly Cidr[]
  /** Undefined: bearer tokens are parsed without verification (docs/reference/identity.md 3.4). */
  readonly jwt:
    | {
        readonly jwksUrl: string
        readonly issuer: string
        readonly audience: string
        /** The clients whose tokens are taken; undefined: any. */
        readonly authorizedParties: readonly string[] | undefined
      }
    | undefined
  /** Host names in lower case. */
  readonly upstreamAllow: { readonly cidrs: readonly Cidr[]; readonly hosts: readonly string[] }
  /** Clients of the authorization server: an id and one address each. */
  readonly mcpClients: readonly { readonly id: string; readonly redirectUri: string }[]
  readonly demo: boolean
  readonly clientCertificateStrict: boolean
  readonly logLevel: LogLevel
  /** Undefined: nothing is traced. */
  readonly tracing: TracingConfig | undefined
  readonly license: LicenseSource | undefined
  readonly idp: {
    readonly issuerUrl: string | undefined
    readonly clientId: string | undefined
    readonly apiKey: Secret | undefined
    readonly webhookSecret: Secret | undefined
    readonly claims: { readonly organization: string; readonly roles: string | undefined }
    readonly internalAdminOrgId: string | undefined
  }
  readonly billingWebhookSecret: Secret | undefined
}

interface ConfigProblem {
  readonly variable: string
  readonly message: string
}

/** All problems of an environment. The message lists them, one line each, without secret values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, message }) => `${variable}: ${message}`).join('\n'))
  }
}

const bytesPerMiB = 1024 * 1024

/**
 * Reads the service's settings.
 * @param env usually `process.env`; an empty value means unset, except where that would be unsafe
 * @throws {ConfigError} with all problems together
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: ConfigProblem[] = []
  const problem = (variable: VariableName, message: string) => {
    problems.push({ variable, message })
  }

  const text = (name: VariableName): string | undefined => {
    const variable: Variable = variables[name]
    const value = env[name]?.trim()
    return value === '' || value === undefined ? variable.default : value
  }
  const optional = <T>(name: VariableName, parse: (value: string) => T | undefined, expected: string) => {
    const value = text(name)
    if (value === undefined) return undefined
    const parsed = parse(value)
    if (parsed === undefined) problem(name, `must be ${expected}`)
    return parsed
  }
  const secret = (name: VariableName): Secret | undefined => {
    const value = text(name)
    return value === undefined ? undefined : new Secret(value)
  }
  const list = <T>(name: VariableName, parse: (item: string) => T | undefined, expected: string): T[] =>
    (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .flatMap((item, index) => {
        const parsed = parse(item)
        if (parsed === undefined) problem(name, `item ${index + 1} is not ${expected}`)
        return parsed === undefined ? [] : [parsed]
      })
  /** For variables with a default: the fallback is used only after a problem was reported. */
  const flag = (name: VariableName) => optional(name, parseFlag, '1 or 0') ?? false
  const integer = (name: VariableName, min: number, max: number) =>
    optional(name, (value) => parseInteger(value, min, max), `a whole number from ${min} to ${max}`) ?? min
  const mebibytes = (name: VariableName, min: number, max: number) =>
    text(name) === undefined ? undefined : integer(name, min, max) * bytesPerMiB
  const claimName = (name: VariableName) =>
    optional(name, (value) => (isClaimName(value) ? value : undefined), claimNameForm)
  const required = (name: VariableName, value: string | undefined, because: VariableName) => {
    if (value === undefined) problem(name, `is required with ${because}`)
  }

  problems.push(...unknownVariables(env), ...emptyVariables(env))

  const demo = flag('SVC_DEMO')
  const listenNames = ['SVC_LISTEN_ADDR', 'SVC_METRICS_ADDR', 'SVC_PGWIRE_ADDR', 'SVC_XMLA_ADDR'] as const
  const addresses = listenNames.map((name) => {
    const address = optional(name, parseListenAddress, '`host:port` or `:port`, port 0 to 65535')
    if (address === undefined || !demo) return address
    if (!env[name]?.trim()) return { ...address, host: '127.0.0.1' }
    if (!isLoopback(address.host))
      problem(name, 'must be on loopback (127.0.0.1, ::1, localhost) under SVC_DEMO=1')
    return address
  })
  const [listen = unusable, metricsListen = unusable, pgwireListen = unusable, xmlaListen = unusable] =
    addresses

  const listeners = listenNames.map((name, index) => ({ name, at: addresses[index] ?? unusable }))
  for (const [index, { name, at }] of listeners.entries()) {
    const same = listeners.slice(0, index).find((other) => overlap(other.at, at))
    if (same !== undefined) problem(name, `is the address of ${same.name}: give each listener its own port`)
  }

  const certificate = (certName: VariableName, keyName: VariableName) => {
    const [certFile, keyFile] = [text(certName), text(keyName)]
    if (certFile !== undefined) required(keyName, keyFile, certName)
    if (keyFile !== undefined) required(certName, certFile, keyName)
    return certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined
  }

  const databaseUrl = optional(
    'SVC_DATABASE_URL',
    parseDatabaseUrl,
    'a postgres:// URL, with # / % and their like percent-encoded',
  )
  const key = (name: VariableName) =>
    optional(name, parseKey, '32 bytes in base64 or hex (`openssl rand -base64 32`)')
  const secretsKey = key('SVC_SECRETS_KEY')
  const otherKeys = { nextKey: key('SVC_SECRETS_KEY_NEXT'), formerKey: key('SVC_SECRETS_KEY_FORMER') }
  checkOtherKeys(secretsKey, otherKeys, problem)
  const dataDir = text('SVC_DATA_DIR') ?? variables.SVC_DATA_DIR.default
  if (databaseUrl !== undefined) required('SVC_SECRETS_KEY', text('SVC_SECRETS_KEY'), 'SVC_DATABASE_URL')

  const queueUrl = optional('SVC_S3_EVENTS_QUEUE_URL', parseHttpUrl, 'an http(s) URL')
  const queueTenant = optional('SVC_S3_EVENTS_TENANT_ID', parseTenantId, 'a UUID version 4')
  const region = [text('AWS_REGION'), text('AWS_DEFAULT_REGION')].find((one) => one !== undefined)
  if (text('SVC_S3_EVENTS_QUEUE_URL') !== undefined) {
    required('SVC_S3_EVENTS_TENANT_ID', text('SVC_S3_EVENTS_TENANT_ID'), 'SVC_S3_EVENTS_QUEUE_URL')
    if (region === undefined)
      problem('AWS_REGION', 'is required with SVC_S3_EVENTS_QUEUE_URL (or AWS_DEFAULT_REGION)')
  }

  const keySetUrl = 'an https:// URL (http:// on loopback only)'
  const jwksUrl = optional('SVC_JWKS_URL', parseKeySetUrl, keySetUrl)
  const [issuer, audience] = [text('SVC_JWT_ISSUER'), text('SVC_JWT_AUDIENCE')]
  const authorizedParties =
    text('SVC_JWT_AUTHORIZED_PARTIES') === undefined
      ? undefined
      : list('SVC_JWT_AUTHORIZED_PARTIES', (client) => client, 'a client id')
  if (text('SVC_JWKS_URL') !== undefined) {
    required('SVC_JWT_ISSUER', issuer, 'SVC_JWKS_URL')
    required('SVC_JWT_AUDIENCE', audience, 'SVC_JWKS_URL')
  } else {
    const unverified = 'has no effect without SVC_JWKS_URL: tokens would not be verified'
    if (issuer !== undefined) problem('SVC_JWT_ISSUER', unverified)
    if (audience !== undefined) problem('SVC_JWT_AUDIENCE', unverified)
    if (authorizedParties !== undefined) problem('SVC_JWT_AUTHORIZED_PARTIES', unverified)
  }

  const licenseText = secret('SVC_LICENSE')
  const licenseFile = text('SVC_LICENSE_FILE')
  if (licenseText !== undefined && licenseFile !== undefined)
    problem('SVC_LICENSE_FILE', 'is set together with SVC_LICENSE: set one of them')

  const idpIssuerUrl = optional('IDP_ISSUER_URL', parseKeySetUrl, keySetUrl)
  const idpClientId = text('IDP_CLIENT_ID')
  const publicUrl = optional(
    'SVC_PUBLIC_URL',
    parseHostUrl,
    'an https:// URL (http:// on loopback only) without a path',
  )
  if (idpIssuerUrl !== undefined) {
    required('IDP_CLIENT_ID', idpClientId, 'IDP_ISSUER_URL')
    if (!isLoopback(listen?.host)) required('SVC_PUBLIC_URL', text('SVC_PUBLIC_URL'), 'IDP_ISSUER_URL')
  }

  const queries = integer('SVC_READ_QUERIES', 1, 256)
  const poolThreads =
    text('UV_THREADPOOL_SIZE') === undefined ? undefined : integer('UV_THREADPOOL_SIZE', 1, 1_024)
  const threadsMin = queries + limits.engineSpareThreads
  if (poolThreads !== undefined && poolThreads < threadsMin)
    problem('UV_THREADPOOL_SIZE', `must be at least ${threadsMin}, four more than SVC_READ_QUERIES`)

  const trustedProxies = list(
    'SVC_TRUSTED_PROXIES',
    parseProxyRange,
    'an address or a CIDR range narrower than /0',
  )
  const pgwireProxyProtocol = flag('SVC_PGWIRE_PROXY_PROTOCOL')
  if (pgwireProxyProtocol)
    required(
      'SVC_TRUSTED_PROXIES',
      text('SVC_TRUSTED_PROXIES')?.match(/[^\s,]/)?.[0],
      'SVC_PGWIRE_PROXY_PROTOCOL',
    )

  const upstreamAllow = list(
    'SVC_UPSTREAM_ALLOW',
    (item) => parseCidr(item) ?? parseHost(item),
    'a CIDR range or a host name',
  )
  const config: Config = {
    listen,
    publicUrl,
    metricsListen,
    pgwireListen,
    pgwireTls: certificate('SVC_PGWIRE_TLS_CERT_FILE', 'SVC_PGWIRE_TLS_KEY_FILE'),
    pgwireAllowPlaintext: flag('SVC_PGWIRE_ALLOW_PLAINTEXT'),
    xmlaListen,
    xmlaTls: certificate('SVC_XMLA_TLS_CERT_FILE', 'SVC_XMLA_TLS_KEY_FILE'),
    xmlaAllowPlaintext: flag('SVC_XMLA_ALLOW_PLAINTEXT'),
    pgwireProxyProtocol,
    drainDelayMs: integer('SVC_DRAIN_DELAY_SECONDS', 0, 300) * 1_000,
    store:
      databaseUrl !== undefined && secretsKey !== undefined
        ? { kind: 'postgres', databaseUrl: new Secret(databaseUrl), secretsKey, ...otherKeys }
        : { kind: 'embedded', dataDir, secretsKey, ...otherKeys },
    journalDir: text('SVC_JOURNAL_DIR') ?? (databaseUrl === undefined ? join(dataDir, 'journal') : undefined),
    auditKey: auditKeyFiles(text, required),
    clientCertificateStrict: flag('SVC_CLIENT_CERTIFICATE_STRICT'),
    migrate: flag('SVC_MIGRATE'),
    poolMax: integer('SVC_POOL_MAX', 1, 200),
    memoryBytes: mebibytes('SVC_MEMORY_MB', 256, 16_777_216),
    detectionWorkers: integer('SVC_L3_WORKERS', 1, 64),
    readEngine: {
      directory: text('SVC_READ_DIR'),
      memoryBytes: mebibytes('SVC_READ_MEMORY_MB', 256, 1_048_576),
      cacheBytes: integer('SVC_READ_CACHE_MB', 64, 16_777_216) * bytesPerMiB,
      queries,
      poolThreads,
    },
    alphaWebhookEnabled: flag('SVC_ALPHA_WEBHOOK_ENABLED'),
    idpWebhookEnabled: flag('SVC_IDP_WEBHOOK_ENABLED'),
    billingWebhookEnabled: flag('SVC_BILLING_WEBHOOK_ENABLED'),
    s3Events:
      queueUrl !== undefined && queueTenant !== undefined && region !== undefined
        ? { queueUrl, tenantId: queueTenant, region }
        : undefined,
    transformKmsKey: optional('SVC_TRANSFORM_KMS_KEY', parseKmsKey, 'the ARN of an AWS KMS key or alias'),
    chatWebhookUrl: wrap(optional('SVC_CHAT_WEBHOOK_URL', parseHttpUrl, 'an http(s) URL')),
    trustedProxies,
    jwt:
      jwksUrl !== undefined && issuer !== undefined && audience !== undefined
        ? { jwksUrl, issuer, audience, authorizedParties }
        : undefined,
    upstreamAllow: {
      cidrs: upstreamAllow.filter((item) => typeof item !== 'string'),
      hosts: upstreamAllow.filter((item) => typeof item === 'string'),
    },
    mcpClients: list('SVC_MCP_CLIENTS', parseClient, 'a client id, a space and its https:// redirect URI'),
    demo,
    logLevel:
      optional(
        'SVC_LOG_LEVEL',
        (value) => logLevels.find((level) => level === value),
        `one of ${logLevels.join(', ')}`,
      ) ?? 'info',
    tracing: parseTracing({ text, optional }),
    license:
      licenseText !== undefined
        ? { text: licenseText }
        : licenseFile !== undefined
          ? { file: licenseFile }
          : undefined,
    idp: {
      issuerUrl: idpIssuerUrl,
      clientId: idpClientId,
      apiKey: secret('IDP_API_KEY'),
      webhookSecret: secret('IDP_WEBHOOK_SECRET'),
      claims: {
        organization: claimName('IDP_ORGANIZATION_CLAIM') ?? variables.IDP_ORGANIZATION_CLAIM.default,
        roles: claimName('IDP_ROLES_CLAIM'),
      },
      internalAdminOrgId: optional(
        'IDP_INTERNAL_ADMIN_ORG_ID',
        (value) => (isOrganizationId(value) ? value : undefined),
        'an organization id (org_ and letters or digits)',
      ),
    },
    billingWebhookSecret: secret('BILLING_WEBHOOK_SECRET'),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return deepFreeze(config)
}

/** Replaces an unreadable address. It is never returned, because a problem was reported. */
const unusable: ListenAddress = { host: '127.0.0.1', port: 0 }

function wrap(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value)
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Secret) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
