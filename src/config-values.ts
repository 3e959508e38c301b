/** Parses values of environment variables strictly. Each function returns undefined for an invalid value. */

import { isIPv4 } from 'node:net'
import { type Cidr, parseCidr } from './base/cidr.ts'
import { Secret } from './base/secret.ts'

/** Where a listener's certificate and its private key are, as PEM. */
export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface ListenAddress {
  /** Undefined: every interface. IPv6 without brackets. */
  readonly host: string | undefined
  /** 0: any free port. */
  readonly port: number
}

/** `1` or `0`. */
export function parseFlag(value: string): boolean | undefined {
  return value === '1' ? true : value === '0' ? false : undefined
}

/** A whole number within bounds. */
export function parseInteger(value: string, min: number, max: number): number | undefined {
  const parsed = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN
  return parsed >= min && parsed <= max ? parsed : undefined
}

/** `host:port`, `[IPv6]:port` or `:port`. */
export function parseListenAddress(value: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]*)):([0-9]{1,5})$/.exec(value)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) return undefined
  const bracketed = match[1]
  if (bracketed !== undefined && parseCidr(bracketed)?.family !== 'ipv6') return undefined
  return { host: bracketed ?? (match[2] || undefined), port }
}

/** Whether only this machine reaches a host. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/**
 * Whether two listeners would claim the same address. Hosts are compared as text, so a name and an address that mean
 * the same are found when the listener starts.
 */
export function overlap(one: ListenAddress | undefined, other: ListenAddress | undefined): boolean {
  if (one === undefined || other === undefined || one.port === 0 || one.port !== other.port) return false
  return isEveryInterface(one.host) || isEveryInterface(other.host) || one.host === other.host
}

function isEveryInterface(host: string | undefined): boolean {
  return host === undefined || host === '0.0.0.0' || host === '::'
}

/**
 * A PostgreSQL URL. It allows more than a URL does: several hosts with ports, or none for a Unix socket. What the
 * driver cannot read is refused here, because the driver's error would show all of it, password included. A `#` is
 * refused as well, because the driver would cut a password or host off there.
 */
export function parseDatabaseUrl(value: string): string | undefined {
  const authority = /^postgres(?:ql)?:\/\/(?=[^\s#]+$)([^/?]*)/.exec(value)?.[1]
  if (authority === undefined || !isPercentEncoded(authority)) return undefined
  // Of several hosts, the driver parses the URL with the first one only.
  const first = authority.replace(/,[^@]*$/, '')
  return URL.canParse(value.replace(authority, () => first)) ? value : undefined
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function parseUrl(value: string, protocols: readonly string[]): string | undefined {
  const url = URL.parse(value)
  return url !== null && protocols.includes(url.protocol) && url.hostname !== '' ? value : undefined
}

/** An http or https URL. */
export function parseHttpUrl(value: string): string | undefined {
  return parseUrl(value, ['http:', 'https:'])
}

/** A URL for keys or an issuer. They decide identity, so plain http is allowed on loopback only. */
export function parseKeySetUrl(value: string): string | undefined {
  const url = URL.parse(value)
  if (url === null) return undefined
  const loopback = isLoopback(url.hostname.replace(/^\[|\]$/g, ''))
  return parseUrl(value, loopback ? ['http:', 'https:'] : ['https:'])
}

/** As `parseKeySetUrl`, for a URL without a path, because the service appends its own paths. */
export function parseHostUrl(value: string): string | undefined {
  const url = parseKeySetUrl(value) === undefined ? null : URL.parse(value)
  return url !== null && url.href === `${url.origin}/` ? value : undefined
}

/** An address or CIDR range that does not cover all addresses. */
export function parseProxyRange(value: string): Cidr | undefined {
  const cidr = parseCidr(value)
  return cidr === undefined || cidr.prefixLength === 0 ? undefined : cidr
}

/** A host name, in lower case. */
export function parseHost(value: string): string | undefined {
  const host = value.toLowerCase()
  const labels = host.split('.')
  const valid =
    host.length <= 253 && labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  // A last label of digits is a mistyped address, never a host name (RFC 3696, 2).
  return valid && !/^[0-9]+$/.test(labels.at(-1) ?? '') ? host : undefined
}

/** 32 bytes in hex or base64. */
export function parseKey(value: string): Secret<Uint8Array> | undefined {
  if (/^[0-9A-Fa-f]{64}$/.test(value)) return new Secret(new Uint8Array(Buffer.from(value, 'hex')))
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return undefined
  return new Secret(new Uint8Array(Buffer.from(value, 'base64')))
}

/** An ARN of a key or alias of AWS KMS. */
export function parseKmsKey(text: string): string | undefined {
  return /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(?:key|alias)\/[\w/-]{1,256}$/.test(text) ? text : undefined
}
