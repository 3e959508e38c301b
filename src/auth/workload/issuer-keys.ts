/**
 * Finds the keys of the issuers that tenants trust: given, at an address, or by the issuer's discovery document. Fetches
 * obey the rules of upstreams, because a tenant's administrator names the address.
 */

import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import { type AddressRules, isAllowedByOperator, PinnedHost } from '../../catalog/address.ts'
import { sendUpstream } from '../../catalog/upstream-http.ts'
import type { KeySource } from '../../core/workload-trust.ts'
import { limits } from '../../limits.ts'
import { keySetCooldownMs, remoteKeys, type TokenKeys } from '../token-keys.ts'

/** Finds the keys of an issuer. @throws Fault `unavailable` where they cannot be fetched now */
export type FindIssuerKeys = (source: KeySource) => Promise<TokenKeys>

interface IssuerKeyParts {
  readonly addressRules: AddressRules
  readonly clock: Clock
}

const cachedMax = 1_000
const documentBytesMax = 256 * 1024
/** Milliseconds for which a discovery document is used. */
const discoveredMs = 3_600_000

/** The finder, with a cache that all tenants share: what is at an address does not depend on who names it. */
export function issuerKeys({ addressRules, clock }: IssuerKeyParts): FindIssuerKeys {
  const byAddress = new Lru<string, TokenKeys>(cachedMax)
  const discovered = new Lru<string, { readonly url: Promise<string>; readonly untilMs: number }>(cachedMax)
  const load = (url: string) => fetchDocument(addressRules, url)
  const atAddress = (url: string) => {
    const known = byAddress.get(url) ?? remoteKeys(url, load)
    byAddress.set(url, known)
    return known
  }
  const addressOf = (issuer: string) => {
    const known = discovered.get(issuer)
    if (known !== undefined && known.untilMs > clock.now()) return known.url
    const url = discover(load, issuer)
    discovered.set(issuer, { url, untilMs: clock.now() + discoveredMs })
    // Who asks in the next seconds gets the same failure, because strangers can ask.
    url.catch(() => discovered.set(issuer, { url, untilMs: clock.now() + keySetCooldownMs }))
    return url
  }
  return async (source) => {
    if (source.kind === 'given') return { find: createLocalJWKSet({ keys: source.keys } as JSONWebKeySet) }
    return atAddress(source.kind === 'address' ? source.url : await addressOf(source.issuer))
  }
}

/**
 * Checks an address that an administrator names: https, or http where the operator allows its host.
 * @throws Fault `bad_request`
 */
export function checkIssuerUrl(text: string, what: string, rules: AddressRules): void {
  const url = URL.parse(text)
  const allowed =
    url !== null &&
    `${url.username}${url.password}${url.hash}${url.search}` === '' &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isAllowedByOperator(hostOf(url), rules)))
  if (!allowed) throw new Fault('bad_request', `\`${what}\` must be an https URL.`)
}

const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1')

async function discover(load: (url: string) => Promise<Response>, issuer: string): Promise<string> {
  const failed = (cause?: unknown) =>
    new Fault('unavailable', 'The discovery document of the issuer could not be loaded. Try again.', {
      cause,
    })
  const read = async () => {
    const response = await load(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    return response.status === 200 ? parseJson(await response.bytes()) : undefined
  }
  const document = await read().catch((cause: unknown) => {
    throw failed(cause)
  })
  const url = isJsonObject(document) ? document.get('jwks_uri') : undefined
  // Else one issuer could name the keys of another.
  const isIssuers = isJsonObject(document) && document.get('issuer') === issuer
  if (!isIssuers || typeof url !== 'string' || !URL.canParse(url)) throw failed()
  return url
}

async function fetchDocument(rules: AddressRules, address: string): Promise<Response> {
  const url = new URL(address)
  if (url.protocol !== 'https:' && !isAllowedByOperator(hostOf(url), rules))
    throw new Error('the address is not https')
  const host = new PinnedHost(new URL(url.origin), rules)
  const { status, body } = await sendUpstream(host, {
    ...{ method: 'GET', path: `${url.pathname}${url.search}`, headers: { accept: 'application/json' } },
    ...{ signal: AbortSignal.timeout(limits.identityProviderMs), responseBytesMax: documentBytesMax },
  })
  return new Response(body, { status })
}
