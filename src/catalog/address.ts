/**
 * Checks upstream addresses: http or https, never private, link-local or metadata addresses unless an operator allows
 * them. Names are resolved here, and connections go to the checked address, so DNS rebinding cannot redirect them.
 */

import { lookup as dnsLookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'
import { blockList, type Cidr, contains, parseCidr } from '../base/cidr.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { limits } from '../limits.ts'

/** Special-purpose ranges (IANA registries of RFC 6890) and cloud addresses, which are never upstream catalogs. */
const privateRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]
/** Refused even for an allow-listed host name; only an allow-listed range allows them. */
const neverByName = rangeList([
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fe80::/10',
  'fd00:ec2::/32',
  // The first three through NAT64 (RFC 6052).
  '64:ff9b::a9fe:0/112',
  '64:ff9b::6464:64c8/128',
  '64:ff9b::a83f:8110/128',
])
const refused = rangeList(privateRanges)
/** All other IPv6 space is unassigned or local (RFC 4291), mapped and translated IPv4 included. */
const globalV6 = rangeList(['2000::/3'])

/** The addresses that an operator allows besides public ones. */
export interface AddressRules {
  readonly ranges: BlockList
  /** In lower case. A host's private addresses are accepted; link-local and metadata addresses need a range. */
  readonly hosts: ReadonlySet<string>
}

/** The rules of an allow list, its host names in lower case. */
export function addressRules(allow: {
  readonly cidrs: readonly Cidr[]
  readonly hosts: readonly string[]
}): AddressRules {
  return { ranges: blockList(allow.cidrs), hosts: new Set(allow.hosts) }
}

/**
 * Whether a connection to `address` is allowed.
 * @param address IPv4 or IPv6 text, without brackets or zone
 * @param host the name that was resolved to it, or the address itself
 */
export function isAddressAllowed(address: string, host: string, rules: AddressRules): boolean {
  const family = isIP(address)
  if (family === 0) return false
  const type = family === 6 ? 'ipv6' : 'ipv4'
  if (rules.ranges.check(address, type)) return true
  if (neverByName.check(address, type)) return false
  if (rules.hosts.has(host.toLowerCase().replace(/\.$/, ''))) return true
  return !refused.check(address, type) && (family === 4 || globalV6.check(address, type))
}

/** Whether the operator allows a host by its name, or an address that is spelled out, rather than that it is public. */
export function isAllowedByOperator(host: string, { ranges, hosts }: AddressRules): boolean {
  return hosts.has(host.toLowerCase()) || contains(ranges, host)
}

/**
 * Parses the base address of an upstream.
 * @param text http or https, without credentials, query or fragment
 * @param what names the setting in the error
 * @returns the URL, its path without a trailing slash
 * @throws Fault `misconfigured`, which never quotes the text, because it may hold a secret
 */
export function parseEndpoint(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const problem =
    url === undefined
      ? 'is not a URL'
      : url.protocol !== 'https:' && url.protocol !== 'http:'
        ? 'must be an http or https URL'
        : url.username !== '' || url.password !== ''
          ? 'must not hold credentials'
          : url.search !== '' || url.hash !== '' || text.includes('?') || text.includes('#')
            ? 'must have neither query nor fragment'
            : undefined
  if (url === undefined || problem !== undefined) throw new Fault('misconfigured', `The ${what} ${problem}.`)
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/** All addresses of a host name; as `dns.lookup` with `all`. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

const systemLookup: Lookup = (host) => dnsLookup(host, { all: true })

/** One upstream host with its checked addresses, which are cached so that connections are reused. */
export class PinnedHost {
  readonly host: string
  #addresses: readonly string[] = []
  #resolvedAtMs = Number.NEGATIVE_INFINITY
  #resolving: Promise<readonly string[]> | undefined

  constructor(
    readonly url: URL,
    readonly rules: AddressRules,
    readonly lookup: Lookup = systemLookup,
    readonly clock: Clock = systemClock,
  ) {
    this.host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  }

  /**
   * Addresses to try, in order; at least one. They are resolved and checked again after `limits.upstreamAddressMs`; an
   * address that is still valid keeps its place.
   * @throws Fault `upstream_failed` where the name does not resolve or no address is allowed
   */
  addresses(): readonly string[] | Promise<readonly string[]> {
    if (this.clock.now() - this.#resolvedAtMs < limits.upstreamAddressMs) return this.#addresses
    this.#resolving ??= this.#resolve().finally(() => {
      this.#resolving = undefined
    })
    return this.#resolving
  }

  /** Moves an address that refused a connection to the end; the next call resolves again. */
  failed(address: string): void {
    this.#addresses = [...this.#addresses.filter((other) => other !== address), address]
    this.#resolvedAtMs = Number.NEGATIVE_INFINITY
  }

  async #resolve(): Promise<readonly string[]> {
    const found = isIP(this.host) === 0 ? await this.#lookup() : [this.host]
    const allowed = found.filter((address) => isAddressAllowed(address, this.host, this.rules))
    if (allowed.length === 0)
      throw new Fault('upstream_failed', 'The upstream address is not allowed: it is private or reserved.', {
        detail: `${this.host} resolved to ${found.join(', ') || 'nothing'}`,
      })
    const cached = this.#addresses.filter((address) => allowed.includes(address))
    this.#addresses = [...cached, ...allowed.filter((address) => !cached.includes(address))]
    this.#resolvedAtMs = this.clock.now()
    return this.#addresses
  }

  async #lookup(): Promise<readonly string[]> {
    try {
      return (await this.lookup(this.host)).map(({ address }) => address)
    } catch (cause) {
      throw new Fault('upstream_failed', 'The upstream host name does not resolve.', { cause })
    }
  }
}

function rangeList(ranges: readonly string[]): BlockList {
  return blockList(
    ranges.map((range) => {
      const cidr = parseCidr(range)
      if (cidr === undefined) throw new TypeError(`${range} is no CIDR range`)
      return cidr
    }),
  )
}
