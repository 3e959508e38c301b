/**
 * Verifies the license, a compact JWS (RFC 7515) signed with Ed25519, once at start. Its expiry is checked at every use
 * instead, so a running service notices it.
 */

import { createPublicKey, verify } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import { type CommercialCapability, commercialCapabilities } from '../core/capability.ts'
import { type LicenseKey, licenseKeys } from './keys.ts'

export interface License {
  readonly id: string
  readonly licensee: string
  readonly capabilities: readonly CommercialCapability[]
  /** How many tenants may exist; undefined: any number. */
  readonly tenantsMax: number | undefined
  /** Milliseconds since the Unix epoch. */
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** Milliseconds after the expiry for which capabilities still run. */
  readonly graceMs: number
  /** Signed with the development key. */
  readonly development: boolean
}

/** The media type in the JWS header. It prevents another kind of token from being accepted as a license. */
export const licenseType = 'covenant-license'

const textMax = 16_384
const day = 86_400_000

/**
 * Verifies a license's signature and form, not its expiry.
 * @param development whether the development key is valid: local walkthroughs only
 * @throws Fault `misconfigured` that says what is wrong, without quoting the license
 */
export function verifyLicense(
  text: string,
  development: boolean,
  keys: readonly LicenseKey[] = licenseKeys,
): License {
  const parts = text.trim().split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (text.length > textMax || parts.length !== 3) throw invalid('it is not a signed license')
  const { alg, typ, kid } = decode(header)
  if (alg !== 'EdDSA' || typ !== licenseType) throw invalid('it is not a signed license')
  const key = keys.find(({ id }) => id === kid)
  if (key === undefined) throw invalid('it is signed with a key that this version does not have')
  const publicKey = createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify(null, signed, publicKey, Buffer.from(signature, 'base64url')))
    throw invalid('its signature is invalid')
  if (key.development && !development)
    throw invalid('it is a development license, which is valid only under SVC_DEMO=1')
  return readClaims(decode(payload), key.development)
}

function readClaims(claims: Readonly<Record<string, unknown>>, development: boolean): License {
  const { id, licensee, capabilities, tenants_max: tenants, issued_at, expires_at, grace_days } = claims
  const supported = new Set<unknown>(commercialCapabilities)
  const [issuedAtMs, expiresAtMs] = [issued_at, expires_at].map((time) =>
    typeof time === 'string' ? Date.parse(time) : Number.NaN,
  )
  const well =
    typeof id === 'string' &&
    typeof licensee === 'string' &&
    Array.isArray(capabilities) &&
    capabilities.every((capability) => typeof capability === 'string') &&
    (tenants === undefined || isCount(tenants)) &&
    isCount(grace_days) &&
    issuedAtMs !== undefined &&
    expiresAtMs !== undefined &&
    issuedAtMs < expiresAtMs
  if (!well) throw invalid('its content is malformed')
  return {
    id,
    licensee,
    // A newer license may name capabilities that this version does not have.
    capabilities: capabilities.filter((name): name is CommercialCapability => supported.has(name)),
    tenantsMax: tenants === undefined ? undefined : Number(tenants),
    issuedAtMs,
    expiresAtMs,
    graceMs: Number(grace_days) * day,
    development,
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000
}

function decode(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw invalid('it is not a signed license')
}

function invalid(why: string): Fault {
  return new Fault('misconfigured', `The license was refused: ${why}.`)
}
