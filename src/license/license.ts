/**
 * The license: a compact JWS (RFC 7515) signed by Ed25519, verified once at start. What it says about time is
 * asked at every use, so that a running service notices its end.
 */

import { createPublicKey, verify } from 'node:crypto'
import { Fault } from '../base/fault.ts'
import { type CommercialCapability, commercialCapabilities } from '../core/capability.ts'
import { type LicenseKey, licenseKeys } from './keys.ts'

export interface License {
  readonly id: string
  readonly licensee: string
  readonly capabilities: readonly CommercialCapability[]
  /** Tenants that may exist; undefined: any number. */
  readonly tenantsMax: number | undefined
  /** Milliseconds since the Unix epoch. */
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** Milliseconds after the expiry for which capabilities still run. */
  readonly graceMs: number
  /** Signed with the development key. */
  readonly development: boolean
}

/** The media type of the JWS header, so that no other token of anyone's is taken for a license. */
export const licenseType = 'covenant-license'

const textMax = 16_384
const day = 86_400_000

/**
 * Verifies a license's signature and form; its expiry is no part of this.
 * @param development whether the development key counts: local walkthroughs only
 * @throws Fault `misconfigured` saying what is wrong with it, without quoting it
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
  if (key === undefined) throw invalid('it is signed with a key that this version does not know')
  const publicKey = createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify(null, signed, publicKey, Buffer.from(signature, 'base64url')))
    throw invalid('its signature does not hold')
  if (key.development && !development)
    throw invalid('it is a development license, which counts under SVC_DEMO=1 only')
  return readClaims(decode(payload), key.development)
}

function readClaims(claims: Readonly<Record<string, unknown>>, development: boolean): License {
  const { id, licensee, capabilities, tenants_max: tenants, issued_at, expires_at, grace_days } = claims
  const known = new Set<unknown>(commercialCapabilities)
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
    capabilities: capabilities.filter((name): name is CommercialCapability => known.has(name)),
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
