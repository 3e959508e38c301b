/** Lists the environment variables that the service reads; `config.ts` interprets them. */

export interface Variable {
  readonly about: string
  readonly default?: string
  readonly secret?: true
  /** Set but empty is an error here, because treating it as unset would lower a protection. */
  readonly emptyRefused?: true
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The variables, in the order of the documentation. */
export const variables = {
  SVC_LISTEN_ADDR: {
    default: ':8080',
    about: 'Address of the HTTP listener, `host:port`; without a host, every interface.',
  },
  SVC_PUBLIC_URL: {
    about:
      'Address of the service as browsers know it, without a path; `/callback` under it is what the identity provider returns to. Required with `IDP_ISSUER_URL`, except where the HTTP listener is on loopback.',
  },
  SVC_METRICS_ADDR: { default: ':9100', about: 'Address of the metrics listener.' },
  SVC_PGWIRE_ADDR: { default: ':5433', about: 'Address of the PostgreSQL wire listener.' },
  SVC_PGWIRE_TLS_CERT_FILE: {
    emptyRefused: true,
    about:
      'Certificate chain (PEM) of the PostgreSQL wire. Unset: no TLS there, and secrets are accepted on loopback only.',
  },
  SVC_PGWIRE_TLS_KEY_FILE: {
    emptyRefused: true,
    about: 'Private key (PEM) of that certificate. Required with `SVC_PGWIRE_TLS_CERT_FILE`.',
  },
  SVC_PGWIRE_ALLOW_PLAINTEXT: {
    default: '0',
    about:
      '`1`: the PostgreSQL wire accepts secrets from other machines without TLS, as behind a TLS terminator.',
  },
  SVC_XMLA_ADDR: {
    default: ':8082',
    about:
      'Address of the XMLA listener, for Excel and Power BI. It is served over TLS, or on loopback, or with `SVC_XMLA_ALLOW_PLAINTEXT`; otherwise not at all.',
  },
  SVC_XMLA_TLS_CERT_FILE: {
    emptyRefused: true,
    about: 'Certificate chain (PEM) of the XMLA listener. Unset: no TLS there.',
  },
  SVC_XMLA_TLS_KEY_FILE: {
    emptyRefused: true,
    about: 'Private key (PEM) of that certificate. Required with `SVC_XMLA_TLS_CERT_FILE`.',
  },
  SVC_XMLA_ALLOW_PLAINTEXT: {
    default: '0',
    about: '`1`: XMLA is served to other machines without TLS, as behind a TLS terminator.',
  },
  SVC_DATABASE_URL: {
    secret: true,
    emptyRefused: true,
    about: 'PostgreSQL with Apache AGE, `postgres://…`. Unset: an embedded store in `SVC_DATA_DIR`.',
  },
  SVC_DATA_DIR: { default: '.data', about: 'Directory of the embedded store.' },
  SVC_JOURNAL_DIR: {
    about:
      'Directory, of this replica alone, that keeps accepted changes until they are audited. Unset: `journal` in `SVC_DATA_DIR`; with `SVC_DATABASE_URL` none, and only memory keeps them.',
  },
  SVC_MIGRATE: { default: '1', about: '`0`: do not apply migrations at start.' },
  SVC_POOL_MAX: { default: '10', about: 'Database connections of this process, 1 to 200.' },
  SVC_MEMORY_MB: {
    about:
      'Memory that this process may use, in MiB, 256 to 16777216. Unset: the limit of its control group, or what the machine has. See [sizing](sizing.md).',
  },
  SVC_SECRETS_KEY: {
    secret: true,
    emptyRefused: true,
    about:
      '32 bytes in base64 or hex that encrypt stored secrets. Required with `SVC_DATABASE_URL`; the embedded store makes a key file of its own.',
  },
  SVC_SECRETS_KEY_NEXT: {
    secret: true,
    about:
      'The key to which `SVC_SECRETS_KEY` will [turn](operations.md#to-turn-the-secrets-key). It only opens. Unset: none.',
  },
  SVC_SECRETS_KEY_FORMER: {
    secret: true,
    about:
      'The key from which `SVC_SECRETS_KEY` [turned](operations.md#to-turn-the-secrets-key). It only opens. Unset: none; the embedded store reads `secrets.key.former`, where there is one.',
  },
  SVC_AUDIT_KEY_FILE: {
    emptyRefused: true,
    about:
      'Private Ed25519 key (PEM) that signs the [checkpoints of the audit](audit-proof.md), apart from `SVC_SECRETS_KEY`. Unset: the audit is not proven.',
  },
  SVC_AUDIT_KEY_FORMER_FILE: {
    about:
      'The key from which `SVC_AUDIT_KEY_FILE` turned. It signs one checkpoint beside the new one. Unset: none.',
  },
  SVC_READ_DIR: {
    about:
      'Directory for the embedded read engine: copies of data files, and what does not fit into memory. Unset: a temporary one. Each process makes its own folder in it; `pg-catalog` there is cached and shared.',
  },
  SVC_READ_MEMORY_MB: {
    about:
      'Memory of the embedded read engine in MiB, 256 to 1048576. Unset: a quarter of the memory of the process, 2048 at most.',
  },
  SVC_READ_CACHE_MB: {
    default: '10240',
    about:
      'Copies of data files that are cached on disk, in MiB, 64 to 16777216; as much again may hold what does not fit into memory.',
  },
  SVC_READ_QUERIES: {
    default: '4',
    about: 'Statements that the embedded read engine runs at once, 1 to 256; sixteen times as many may wait.',
  },
  UV_THREADPOOL_SIZE: {
    about:
      'Threads of the runtime for native calls, 1 to 1024; at least four more than SVC_READ_QUERIES. The npm scripts and the container set 16.',
  },
  SVC_L3_WORKERS: { default: '4', about: 'Detection workers, 1 to 64.' },
  SVC_ALPHA_WEBHOOK_ENABLED: { default: '1', about: '`0`: `/v1/webhooks/alpha` answers 410.' },
  SVC_IDP_WEBHOOK_ENABLED: { default: '1', about: '`0`: `/webhooks/identity-provider` answers 410.' },
  SVC_BILLING_WEBHOOK_ENABLED: { default: '1', about: '`0`: `/webhooks/billing` answers 410.' },
  SVC_S3_EVENTS_QUEUE_URL: { about: 'Queue of object-created storage events; set, it turns them on.' },
  SVC_S3_EVENTS_TENANT_ID: {
    about: 'Tenant (UUID v4) that the queue belongs to. Required with `SVC_S3_EVENTS_QUEUE_URL`.',
  },
  AWS_REGION: {
    about: 'Region of the queue. This or `AWS_DEFAULT_REGION` is required with `SVC_S3_EVENTS_QUEUE_URL`.',
  },
  AWS_DEFAULT_REGION: { about: 'Region of the queue where `AWS_REGION` is unset.' },
  SVC_TRANSFORM_KMS_KEY: {
    about:
      'ARN of the AWS KMS key that wraps the keys of the [transform](transform.md). Unset: `SVC_SECRETS_KEY` wraps them.',
  },
  SVC_CHAT_WEBHOOK_URL: {
    secret: true,
    about: 'Where alerts of detection and of check runs are posted. Unset: nowhere.',
  },
  SVC_TRUSTED_PROXIES: {
    about:
      'Comma-separated addresses or CIDR ranges of the proxies whose `X-Forwarded-Client-Cert` and PROXY protocol headers are trusted. Unset: none.',
  },
  SVC_CLIENT_CERTIFICATE_STRICT: {
    default: '0',
    about:
      '`1`: a client certificate that a trusted proxy forwards without a URI or DNS name that can be read is 401. `0`: the next step of the principal chain is tried.',
  },
  SVC_PGWIRE_PROXY_PROTOCOL: {
    default: '0',
    about:
      '`1`: every connection of a peer in `SVC_TRUSTED_PROXIES` to the PostgreSQL wire must begin with a PROXY protocol header, version 1 or 2. Requires `SVC_TRUSTED_PROXIES`.',
  },
  SVC_DRAIN_DELAY_SECONDS: {
    default: '0',
    about:
      'Seconds after SIGTERM in which requests are still served while `/readyz` is 503, 0 to 300. Longer than the load balancer takes to notice.',
  },
  SVC_JWKS_URL: {
    emptyRefused: true,
    about: 'Key set that verifies bearer tokens. Unset: tokens are parsed only, for the write gateway only.',
  },
  SVC_JWT_ISSUER: { about: '`iss` that a bearer token must have. Required with `SVC_JWKS_URL`.' },
  SVC_JWT_AUDIENCE: { about: '`aud` that a bearer token must have. Required with `SVC_JWKS_URL`.' },
  SVC_JWT_AUTHORIZED_PARTIES: {
    emptyRefused: true,
    about:
      'Clients whose bearer tokens are taken, by `azp`, or `client_id` of a token without it. Comma-separated. Unset: any, but for ID tokens ([clients](identity.md#for-which-client-a-token-was-issued)).',
  },
  SVC_UPSTREAM_ALLOW: {
    about:
      'Comma-separated CIDR ranges or host names where upstream catalogs may have private addresses. Unset: nowhere.',
  },
  SVC_MCP_CLIENTS: {
    about:
      'OAuth clients of `/mcp` without a metadata document, comma-separated: an id, a space and a redirect URI each; a client with several comes several times.',
  },
  SVC_DEMO: {
    default: '0',
    about:
      '`1`: local walkthrough. `X-Svc-Principal` is used; every listener must be, and by default is, on loopback.',
  },
  SVC_LOG_LEVEL: { default: 'info', about: `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}.` },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about:
      'Receiver of [traces](operations.md#traces), OTLP over HTTP, such as `http://collector:4318`; `/v1/traces` is appended. Unset, and the next one too: nothing is traced.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    about: 'The whole address of the receiver of traces, instead.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    secret: true,
    about: 'Headers for the receiver: `name=value`, comma-separated, values percent-encoded.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: { default: 'http/protobuf', about: 'Only `http/protobuf`.' },
  OTEL_SERVICE_NAME: { about: 'Name of the service in traces. Unset: `covenant`.' },
  OTEL_RESOURCE_ATTRIBUTES: {
    about: 'What traces say of this process: `name=value`, comma-separated, values percent-encoded.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    default: '1',
    about: 'Share of the traces that is sent, 0 to 1. A client that sends `traceparent` decides itself.',
  },
  SVC_LICENSE: { secret: true, about: 'The signed license itself. Not together with `SVC_LICENSE_FILE`.' },
  SVC_LICENSE_FILE: { about: 'File that holds the signed license.' },
  IDP_ISSUER_URL: { about: 'Issuer of the identity provider, for OIDC discovery. Needs `IDP_CLIENT_ID`.' },
  IDP_CLIENT_ID: { about: 'Client id of the service at the identity provider.' },
  IDP_API_KEY: { secret: true, about: 'Client secret of the service at the identity provider.' },
  IDP_WEBHOOK_SECRET: { secret: true, about: 'HMAC secret of `/webhooks/identity-provider`.' },
  IDP_ORGANIZATION_CLAIM: {
    default: 'org_id',
    about: 'Claim of the ID token, the user info or a verified bearer token that names the organization.',
  },
  IDP_ROLES_CLAIM: {
    about:
      'Claim that names the roles, or a path such as `realm_access.roles`. Unset: `roles`, else `groups`.',
  },
  IDP_INTERNAL_ADMIN_ORG_ID: { about: 'Organization (`org_…`) that may use `/admin`. Unset: none.' },
  BILLING_WEBHOOK_SECRET: {
    secret: true,
    about: 'HMAC secret of `/webhooks/billing`. Unset: billing is off.',
  },
} as const satisfies Record<string, Variable>

export type VariableName = keyof typeof variables
