/**
 * Reads a catalog credential's `config_json` (docs/reference/catalogs.md 1.4) for the adapters. No error quotes a
 * value.
 */

import { Fault } from '../base/fault.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { catalogKindDescriptors } from '../core/catalog-kinds.ts'
import { nameCaseOf, nameCaseProblem } from '../core/name-case.ts'
import { customHeaders } from './custom-headers.ts'
import { settingsReader } from './settings-reader.ts'
import type { SigningKeys } from './sign-request.ts'

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
  /** Absolute address of the token endpoint. */
  readonly tokenUrl: URL
  readonly scope: string | undefined
}

/** How the adapter authenticates to the upstream. */
type UpstreamAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'client-credentials'; readonly credentials: ClientCredentials }
  | { readonly kind: 'sigv4'; readonly keys: SigningKeys }

export interface RestCatalogConfig {
  /** Base of the Iceberg REST API; `/v1/…` follows. */
  readonly endpoint: URL
  readonly warehouse: string | undefined
  readonly branch: string | undefined
  readonly auth: UpstreamAuth
  /** Added to every request; names in lower case. Their values may be secrets. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the catalog's multi-table commits are atomic; undefined where the configuration does not say. */
  readonly atomicTransactions: boolean | undefined
  /** False where commits are never pinned, because the catalog ignores some requirement. */
  readonly pinsCommits: boolean | undefined
  /** Whether names that it lists are given in the form that stands for every spelling. */
  readonly foldsNames: boolean
}

const branchPattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?$/

/**
 * Reads an adapter's settings, the connection of core/catalog-settings.ts. They authenticate by one of `credential`
 * (`id:secret`), `client_id` with `client_secret`, `token`, or signatures.
 * @param scopeDefault the scope where the config names none
 * @throws Fault `misconfigured` with every problem found; it names settings, never their values
 */
export function parseRestCatalogConfig(
  credential: CatalogCredential,
  scopeDefault: string | undefined,
): RestCatalogConfig {
  const { problems, text, address } = settingsReader(credential.config)
  const column = address(credential.endpoint || undefined, 'endpoint')
  const configured = address(text('endpoint'), 'endpoint in config_json')
  const endpoint = column ?? configured
  if (column !== undefined && configured !== undefined && column.href !== configured.href)
    problems.push('The endpoint in config_json differs from the endpoint of the credential.')
  if (endpoint === undefined && problems.length === 0) problems.push('The endpoint is missing.')

  const { capabilities } = catalogKindDescriptors[credential.kind]
  const warehouse = text('warehouse')
  const branch = text('branch')
  if (branch !== undefined && !capabilities.branches)
    problems.push(`A catalog of kind ${credential.kind} has no branches.`)
  else if (branch !== undefined && !branchPattern.test(branch))
    problems.push('The branch is not a valid branch name.')

  const token = text('token')
  const pair = text('credential')
  const colon = pair?.indexOf(':') ?? -1
  const clientId = pair === undefined ? text('client_id') : pair.slice(0, Math.max(colon, 0))
  const clientSecret = pair === undefined ? text('client_secret') : pair.slice(colon + 1)
  const serverUri = address(text('oauth2-server-uri'), 'oauth2-server-uri')
  const scope = text('scope') ?? scopeDefault
  if (pair !== undefined && (clientId === '' || clientSecret === ''))
    problems.push('The credential must have the form id:secret.')
  if (pair !== undefined && (credential.config.client_id || credential.config.client_secret))
    problems.push('Give either credential or client_id and client_secret.')
  if ((clientId === undefined) !== (clientSecret === undefined))
    problems.push('client_id and client_secret go together.')
  if (token !== undefined && clientId !== undefined)
    problems.push('Give either a token or client credentials.')
  if (endpoint?.protocol === 'https:' && serverUri?.protocol === 'http:')
    problems.push('The oauth2-server-uri must be https where the endpoint is.')

  const keys = signingKeys(credential.config, text, problems)
  if (keys !== undefined && (token !== undefined || clientId !== undefined))
    problems.push('Give either rest.sigv4-enabled, a token or client credentials.')
  const headers = customHeaders(credential.config, problems)

  const atomicTransactions = credential.config.atomic_transactions ?? undefined
  if (atomicTransactions !== undefined && typeof atomicTransactions !== 'boolean')
    problems.push('The atomic_transactions must be true or false.')
  const pinsCommits = credential.config.pin_commits ?? undefined
  if (pinsCommits !== undefined && typeof pinsCommits !== 'boolean')
    problems.push('The pin_commits must be true or false.')
  const nameCase = nameCaseProblem(credential.config)
  if (nameCase !== undefined) problems.push(nameCase)

  if (endpoint === undefined || problems.length > 0)
    throw new Fault('misconfigured', `The catalog configuration cannot be used. ${problems.join(' ')}`)
  const auth: UpstreamAuth =
    keys !== undefined
      ? { kind: 'sigv4', keys }
      : clientId !== undefined && clientSecret !== undefined
        ? {
            kind: 'client-credentials',
            credentials: { clientId, clientSecret, tokenUrl: serverUri ?? tokenUrlOf(endpoint), scope },
          }
        : token !== undefined
          ? { kind: 'token', token }
          : { kind: 'none' }
  return {
    endpoint,
    warehouse,
    branch,
    auth,
    headers,
    atomicTransactions: atomicTransactions as boolean | undefined,
    pinsCommits: pinsCommits as boolean | undefined,
    foldsNames: nameCaseOf(credential) === 'folded',
  }
}

/** A host name's letters, which is what names of services and regions consist of. */
const signingWord = /^[a-z0-9-]{1,64}$/

/** @returns undefined where requests are not signed, or a problem was found */
function signingKeys(
  config: CatalogCredential['config'],
  text: (name: string) => string | undefined,
  problems: string[],
): SigningKeys | undefined {
  const enabled = config['rest.sigv4-enabled'] ?? false
  if (![true, false, 'true', 'false'].includes(enabled as boolean | string)) {
    problems.push('The rest.sigv4-enabled must be true or false.')
    return undefined
  }
  if (String(enabled) === 'false') return undefined
  const required = (name: string): string => {
    const value = text(name)
    if (value === undefined) problems.push(`The ${name} is missing.`)
    return value ?? ''
  }
  const region = required('rest.signing-region')
  const service = text('rest.signing-name') ?? 'execute-api'
  const accessKeyId = required('rest.access-key-id')
  const secretAccessKey = required('rest.secret-access-key')
  if (region !== '' && !signingWord.test(region)) problems.push('The rest.signing-region is not a region.')
  if (!signingWord.test(service)) problems.push('The rest.signing-name is not the name of a service.')
  const sessionToken = text('rest.session-token')
  return { region, service, accessKeyId, secretAccessKey, sessionToken }
}

function tokenUrlOf(endpoint: URL): URL {
  const url = new URL(endpoint)
  url.pathname = `${endpoint.pathname.replace(/\/$/, '')}/v1/oauth/tokens`
  return url
}
