/**
 * Declares the members of a catalog credential's `config_json`: what each means, and whether it may be shown. The
 * kinds of catalogs name theirs; help, documentation, sealing and the check of names follow from it. Their values are
 * read where they are used.
 */

interface CatalogSetting {
  /** One sentence or two for help and documentation. */
  readonly about: string
  /** Stored and shown in clear. Any other is sealed, because its value may be a secret. */
  readonly shown?: true
}

/** By name. A name that ends with `*` stands for every name with that beginning. */
export type CatalogSettings = Readonly<Record<string, CatalogSetting>>

/** How the adapter reaches the catalog. */
const connection = {
  endpoint: { shown: true, about: 'The address of the credential once more; it must be the same.' },
  warehouse: {
    shown: true,
    about: 'The warehouse that the catalog is asked for. Leave it out where the catalog has none.',
  },
  credential: { about: 'Client credentials of OAuth2, `id:secret`.' },
  client_id: { about: 'The id of client credentials, with `client_secret`, instead of `credential`.' },
  client_secret: { about: 'The secret of client credentials.' },
  token: { about: 'A bearer token that does not expire, instead of client credentials.' },
  'oauth2-server-uri': {
    about: 'Where tokens are issued. Default: `/v1/oauth/tokens` below the endpoint.',
  },
  scope: { about: 'The scope of the token. Default for `alpha`: `PRINCIPAL_ROLE:ALL`.' },
  'header.*': {
    about:
      'A header of every request to the catalog, such as `header.Polaris-Realm`. Headers of the connection, of the message, of authorization and those that the gateway sets are refused.',
  },
  'rest.sigv4-enabled': {
    about: '`true`: requests are signed by AWS Signature Version 4, as Glue and S3 Tables demand.',
  },
  'rest.signing-name': {
    about: 'The service in the signature: `glue` or `s3tables`. Default: `execute-api`.',
  },
  'rest.signing-region': { about: 'The region in the signature. Required with `rest.sigv4-enabled`.' },
  'rest.access-key-id': {
    about:
      'The access key that signs. Required with `rest.sigv4-enabled`; the keys of this process are never used.',
  },
  'rest.secret-access-key': { about: 'Its secret.' },
  'rest.session-token': { about: 'The session token of a temporary access key.' },
  pin_commits: {
    about:
      '`false`: commits always load their table ([pinned commits](iceberg-clients.md#pinned-commits)). Say so of a catalog that ignores a requirement. Default: `true`; a `beta` catalog always loads.',
  },
  case_sensitive_names: {
    shown: true,
    about:
      '`true`: names that differ in case only are two tables. `false`: they are one, and policies, records and audit rows hold its name in lower case ([names](catalogs.md#names-and-case)). `ask`, the default: the service finds out once.',
  },
  'case_sensitive_names.found': {
    shown: true,
    about: 'What the service found out. It writes this itself; leave it out, so that it asks again.',
  },
  atomic_transactions: {
    about:
      '`true` or `false`: whether multi-table commits of this catalog change every table or none. Default: as the kind proves. Register `storage_roots` beside it: the reply to a transaction names no files, and those of two clients at once are told apart by reading them. Without them transactions on the same tables go one after another within a process, and what two replicas send at once may stay an open intent.',
  },
} as const satisfies CatalogSettings

/** How files of tables are read, for queries, detection and verified facts. */
const storage = {
  storage_roots: {
    shown: true,
    about:
      'A list of locations, such as `s3://lake/warehouse`. Below them alone tables may lie, files are read, and credentials, signatures and plans are given out. Without them nothing is read or given out.',
  },
  's3.access-key-id': {
    about: 'The access key for storage. Without it, keys that the catalog vends are used.',
  },
  's3.secret-access-key': { about: 'Its secret.' },
  's3.session-token': { about: 'The session token of a temporary access key.' },
  's3.endpoint': { about: 'The address of the storage. Default: that of AWS in the region.' },
  's3.region': { about: 'The region of the storage. Default: `client.region`, `region`, then `us-east-1`.' },
  'client.region': { about: 'As `s3.region`.' },
  region: { shown: true, about: 'As `s3.region`.' },
  's3.path-style-access': {
    about: '`false`: the bucket is in the host name, with `s3.endpoint`. Default: `true`.',
  },
  namespaces: {
    about:
      'A list of namespaces whose tables detection looks for, levels joined by dots, besides those in the graph.',
  },
} as const satisfies CatalogSettings

/** What computes queries over the catalog's tables. */
const reading = {
  read_engine: { shown: true, about: '`duckdb`, which is embedded, or `trino`. Default: `duckdb`.' },
  'trino.uri': { about: 'The address of the Trino coordinator.' },
  'trino.catalog': { about: 'The name that Trino has for this catalog.' },
  'trino.user': { about: 'The user with which the service logs in to Trino, with `trino.password`.' },
  'trino.password': { about: 'The password of that user.' },
  'trino.token': { about: 'A bearer token for Trino, instead of user and password.' },
  'trino.segment-origins': {
    about:
      'Origins, separated by commas, from which spooled results may be read besides that of `trino.uri`.',
  },
} as const satisfies CatalogSettings

/** How clients reach the files of tables. */
const vendingMode = {
  'vending.mode': {
    shown: true,
    about:
      '`pass-through`: clients get the credentials that the catalog vends. `vend`: they get credentials that the service issues, for the territory of one table. `sign`: the service signs their requests to the storage. `none`: they bring their own. Default for `alpha`: `pass-through`; `beta` knows only `none`.',
  },
} as const satisfies CatalogSettings

/** Of a kind whose clients may be given credentials. */
export const vendingSettings = {
  'vending.storage': {
    shown: true,
    about: 'The storage for which credentials are issued: `s3`, the default and the only one yet.',
  },
  'vending.role-arn': {
    shown: true,
    about: 'The AWS role that is assumed for sessions that may only read. Required with `vend`.',
  },
  'vending.writer-role-arn': {
    shown: true,
    about: 'The role for sessions that may commit. Default: `vending.role-arn`.',
  },
  'vending.external-id': { about: 'The external id that the trust policy of the roles demands.' },
  'vending.access-key-id': {
    about: 'The access key that assumes the roles. Default: `s3.access-key-id`, with its secret.',
  },
  'vending.secret-access-key': { about: 'Its secret.' },
  'vending.deletes': {
    shown: true,
    about: '`true`: sessions that may commit may delete files of the table. Default: `false`.',
  },
  'vending.cache-signatures': {
    shown: true,
    about:
      '`true`: with `sign`, clients may use the signature of a read again for some seconds. Iceberg’s Java does so for all catalogs of a process. Default: `false`.',
  },
  'vending.scan-planning': {
    shown: true,
    about:
      '`server`: with `vend` and `sign`, clients are told to have their scans planned by the service. Default: `client`: they may.',
  },
  'vending.kms-key-arn': {
    shown: true,
    about: 'The KMS key that encrypts the buckets, where there is one.',
  },
  'vending.sts-endpoint': {
    shown: true,
    about: 'The address of STS. Default: that of AWS in the region.',
  },
  'vending.iam-endpoint': {
    shown: true,
    about: 'The address of IAM, which denies sessions. Default: that of AWS.',
  },
} as const satisfies CatalogSettings

/** Settings of every live kind. */
export const commonSettings = {
  ...connection,
  ...storage,
  ...reading,
  ...vendingMode,
} as const satisfies CatalogSettings

/** Of a kind that pushes events. */
export const webhookSettings = {
  webhook_secret: {
    about: 'The secret that signs the events which the catalog sends to `/v1/webhooks/alpha`.',
  },
} as const satisfies CatalogSettings

/** Of a kind that has branches. */
export const branchSettings = {
  branch: { about: 'The branch that commits go to. Default: that of the catalog.' },
} as const satisfies CatalogSettings

/** The declaration of a name; undefined where there is none. */
export function settingNamed(settings: CatalogSettings, name: string): CatalogSetting | undefined {
  if (Object.hasOwn(settings, name) && !name.endsWith('*')) return settings[name]
  const prefix = Object.keys(settings).find(
    (one) => one.endsWith('*') && name.startsWith(one.slice(0, -1)) && name.length >= one.length,
  )
  return prefix === undefined ? undefined : settings[prefix]
}
