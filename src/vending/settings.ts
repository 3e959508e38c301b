/**
 * Reads how a catalog credential lets clients reach files (docs/credentials.md): its `vending.*` settings. Their
 * meaning is here, their declaration in core/catalog-settings.ts. No error quotes a value.
 */

import { Fault } from '../base/fault.ts'
import { settingsReader } from '../catalog/settings-reader.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import { s3Access } from '../storage/access.ts'

/**
 * - `pass-through`: the upstream's credentials are passed on
 * - `vend`: the service issues its own, for the table's territory
 * - `sign`: the service signs each request of a client to the storage
 * - `none`: clients bring their own
 */
const vendingModes = ['pass-through', 'vend', 'sign', 'none'] as const
export type VendingMode = (typeof vendingModes)[number]

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** How credentials are issued for S3. */
export interface VendSettings {
  readonly mode: 'vend'
  readonly roleArn: string
  /** The role of sessions that may commit. */
  readonly writerRoleArn: string
  readonly externalId: string | undefined
  /** The keys that assume the roles. */
  readonly keys: AwsKeys
  readonly region: string
  readonly stsEndpoint: URL
  readonly iamEndpoint: URL
  /** Whether sessions that may commit may delete files. */
  readonly deletes: boolean
  /** The KMS key of the buckets, which must be in a session policy too. */
  readonly kmsKeyArn: string | undefined
  /** Settings of storage for clients; they hold no secret. */
  readonly storage: Readonly<Record<string, string>>
}

/** How requests to S3 are signed. */
export interface SignSettings {
  readonly mode: 'sign'
  readonly keys: AwsKeys
  readonly sessionToken: string | undefined
  readonly region: string
  readonly endpoint: URL
  /** Whether the bucket is in the path; otherwise it is in the host name. */
  readonly isPathStyle: boolean
  readonly deletes: boolean
  /** Whether a client may use the signature of a read again, for whichever of its catalogs asks. */
  readonly cachesSignatures: boolean
}

type VendingSettings = { readonly mode: Exclude<VendingMode, 'vend' | 'sign'> } | VendSettings | SignSettings

/** A role of an account, in any partition. What it says goes into a policy, so nothing else is accepted. */
const rolePattern = /^arn:aws(?:-[a-z-]+)?:iam::\d{12}:role\/(?:[\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/
const kmsPattern = /^arn:aws(?:-[a-z-]+)?:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]{1,64}$/
const externalIdPattern = /^[\w+=,.@:/-]{2,1224}$/
const regionPattern = /^[a-z0-9-]{1,40}$/

/** How a credential lets clients reach files; `none` where its kind vends nothing. */
export function vendingModeOf({ kind, config }: Pick<CatalogCredential, 'kind' | 'config'>): VendingMode {
  const mode = config['vending.mode'] ?? undefined
  if (!capabilitiesOf(kind).credentialVending) return 'none'
  if (mode === undefined) return 'pass-through'
  // What is stored was checked; a mode of a later version gives out nothing.
  return vendingModes.find((known) => known === mode) ?? 'none'
}

/**
 * Reads the settings.
 * @throws Fault `misconfigured` with every problem found; it names settings, never their values
 */
export function vendingSettings(credential: Pick<CatalogCredential, 'kind' | 'config'>): VendingSettings {
  const { kind, config } = credential
  const { problems, text, address } = settingsReader(config)
  const matching = (name: string, pattern: RegExp, what: string): string | undefined => {
    const value = text(name)
    if (value === undefined || pattern.test(value)) return value
    problems.push(`The ${name} is not ${what}.`)
    return undefined
  }
  const required = (name: string, value: string | undefined): string => {
    if (value === undefined && !problems.some((one) => one.includes(`The ${name} `)))
      problems.push(`The ${name} is missing: vending.mode is vend.`)
    return value ?? ''
  }

  const given = text('vending.mode')
  if (given !== undefined && !vendingModes.some((mode) => mode === given))
    problems.push(`The vending.mode must be one of ${vendingModes.join(', ')}.`)
  if (!capabilitiesOf(kind).credentialVending) {
    if (given !== undefined && given !== 'none')
      problems.push(`A catalog of kind ${kind} vends nothing: its vending.mode can be none only.`)
    if (problems.length > 0) throw unusable(problems)
    return { mode: 'none' }
  }
  const store = text('vending.storage') ?? 's3'
  if (store !== 's3')
    problems.push('The vending.storage can be s3 only: credentials for other storage are not issued yet.')
  const deletes = String(config['vending.deletes'] ?? false)
  if (deletes !== 'true' && deletes !== 'false') problems.push('The vending.deletes must be true or false.')
  const caches = String(config['vending.cache-signatures'] ?? false)
  if (caches !== 'true' && caches !== 'false')
    problems.push('The vending.cache-signatures must be true or false.')
  const planning = text('vending.scan-planning') ?? 'client'
  if (planning !== 'client' && planning !== 'server')
    problems.push('The vending.scan-planning must be client or server.')

  const mode = vendingModeOf(credential)
  if (mode === 'sign') {
    const s3 = s3Access(config)
    if (s3 === undefined)
      problems.push('The s3.access-key-id and s3.secret-access-key are required: vending.mode is sign.')
    else if (!URL.canParse(s3.endpoint)) problems.push('The s3.endpoint is not a URL.')
    else if (!regionPattern.test(s3.region)) problems.push('The s3.region is not a region.')
    if (s3 === undefined || problems.length > 0) throw unusable(problems)
    const { accessKeyId, secretAccessKey, sessionToken, region } = s3
    return {
      ...{ mode, sessionToken, region },
      keys: { accessKeyId, secretAccessKey },
      endpoint: new URL(s3.endpoint),
      isPathStyle: !s3.virtualHosted,
      deletes: deletes === 'true',
      cachesSignatures: caches === 'true',
    }
  }
  if (mode !== 'vend') {
    if (problems.length > 0) throw unusable(problems)
    return { mode }
  }
  const role = 'the ARN of a role'
  const roleArn = required('vending.role-arn', matching('vending.role-arn', rolePattern, role))
  const writerRoleArn = matching('vending.writer-role-arn', rolePattern, role) ?? roleArn
  const externalId = matching('vending.external-id', externalIdPattern, 'an external id')
  const kmsKeyArn = matching('vending.kms-key-arn', kmsPattern, 'the ARN of a key')
  const own = text('vending.access-key-id') !== undefined || text('vending.secret-access-key') !== undefined
  const keys = own ? 'vending' : 's3'
  const accessKeyId = required(`${keys}.access-key-id`, text(`${keys}.access-key-id`))
  const secretAccessKey = required(`${keys}.secret-access-key`, text(`${keys}.secret-access-key`))
  const region =
    ['s3.region', 'client.region', 'region']
      .map((name) => matching(name, regionPattern, 'a region'))
      .find((value) => value !== undefined) ?? 'us-east-1'
  const endpoint = (name: string, otherwise: string): URL => address(text(name), name) ?? new URL(otherwise)
  const stsEndpoint = endpoint('vending.sts-endpoint', `https://sts.${region}.amazonaws.com`)
  const iamEndpoint = endpoint('vending.iam-endpoint', 'https://iam.amazonaws.com')
  if (problems.length > 0) throw unusable(problems)
  const s3Endpoint = text('s3.endpoint')
  return {
    mode,
    ...{ roleArn, writerRoleArn, externalId, kmsKeyArn, region, stsEndpoint, iamEndpoint },
    keys: { accessKeyId, secretAccessKey },
    deletes: deletes === 'true',
    storage: {
      'client.region': region,
      's3.region': region,
      ...(s3Endpoint !== undefined && {
        's3.endpoint': s3Endpoint,
        's3.path-style-access': String(config['s3.path-style-access'] ?? 'true'),
      }),
    },
  }
}

function unusable(problems: readonly string[]): Fault {
  return new Fault('misconfigured', `The catalog configuration cannot be used. ${problems.join(' ')}`)
}
