/** Reads the Trino settings of a catalog credential's `config_json`. Errors name settings, never their values. */

import { Fault } from '../../base/fault.ts'
import { settingsReader } from '../../catalog/settings-reader.ts'
import type { CatalogCredential } from '../../core/catalog.ts'

/** How the service authenticates to Trino. Its user must be allowed to impersonate the principals. */
export type TrinoAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string }

export interface TrinoSettings {
  /** Base URL of the coordinator, without `/v1/statement`. */
  readonly endpoint: URL
  /** Trino's name of the credential's Iceberg catalog. */
  readonly catalog: string
  readonly auth: TrinoAuth
  /** Further origins from which spooled segments may be read. */
  readonly segmentOrigins: readonly URL[]
}

/** Visible ASCII, which is valid in a header's value. */
const headerText = /^[\x21-\x7e]+$/

/**
 * Reads `trino.uri`, `trino.catalog`, `trino.user` with `trino.password`, or `trino.token`, and
 * `trino.segment-origins` (origins separated by commas).
 * @returns undefined where the credential names no Trino
 * @throws Fault `misconfigured` with every problem found
 */
export function parseTrinoSettings({ config }: Pick<CatalogCredential, 'config'>): TrinoSettings | undefined {
  const { problems, text, address } = settingsReader(config)
  const uri = text('trino.uri')
  if (uri === undefined && problems.length === 0) return undefined
  const endpoint = address(uri, 'trino.uri')
  const catalog = text('trino.catalog')
  if (catalog === undefined) problems.push('The trino.catalog is missing.')
  const origins = (text('trino.segment-origins') ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .flatMap((each) => address(each, 'trino.segment-origins') ?? [])
  if (origins.some(({ pathname }) => pathname !== '/'))
    problems.push('The trino.segment-origins must be origins, without a path.')
  const auth = authOf(text, problems)
  if (auth.kind !== 'none' && endpoint?.protocol === 'http:')
    problems.push('The trino.uri must be https, because a password or token is sent to it.')
  if (endpoint === undefined || catalog === undefined || problems.length > 0)
    throw new Fault('misconfigured', `The Trino configuration cannot be used. ${problems.join(' ')}`)
  return { endpoint, catalog, auth, segmentOrigins: origins }
}

function authOf(text: (name: string) => string | undefined, problems: string[]): TrinoAuth {
  const user = text('trino.user')
  const password = text('trino.password')
  const token = text('trino.token')
  if ((user === undefined) !== (password === undefined))
    problems.push('Give both trino.user and trino.password, or neither.')
  if (token !== undefined && user !== undefined)
    problems.push('Give either trino.token or trino.user, not both.')
  if (user?.includes(':')) problems.push('The trino.user must not hold a colon.')
  if (token !== undefined && !headerText.test(token))
    problems.push('The trino.token must consist of visible ASCII characters.')
  if (token !== undefined) return { kind: 'token', token }
  return user === undefined || password === undefined
    ? { kind: 'none' }
    : { kind: 'password', user, password }
}

/** The value of the Authorization header, or undefined where none is sent. */
export function authorization(auth: TrinoAuth): string | undefined {
  if (auth.kind === 'none') return undefined
  if (auth.kind === 'token') return `Bearer ${auth.token}`
  return `Basic ${Buffer.from(`${auth.user}:${auth.password}`).toString('base64')}`
}
