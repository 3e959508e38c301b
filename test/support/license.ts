/** Issues licenses by a key of this run, so that a test's service is licensed as a production service is. */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type CommercialCapability, commercialCapabilities } from '../../src/core/capability.ts'
import type { LicenseKey } from '../../src/license/keys.ts'
import { licenseType } from '../../src/license/license.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

export const testLicenseKey: LicenseKey = {
  id: 'release-of-tests',
  publicJwk: publicKey.export({ format: 'jwk' }) as LicenseKey['publicJwk'],
  development: false,
}

/** Signs claims as they are, well-formed or not. */
export function signLicense(claims: object, header: object = {}, key: KeyObject = privateKey): string {
  const signed = [{ alg: 'EdDSA', typ: licenseType, kid: testLicenseKey.id, ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

/** A license of 30 days from now, with 14 days of grace, that names these capabilities. */
export function licenseFor(...capabilities: readonly CommercialCapability[]): string {
  const now = Date.now()
  return signLicense({
    id: 'l-test',
    licensee: 'Acme',
    capabilities,
    issued_at: new Date(now),
    expires_at: new Date(now + 30 * 86_400_000),
    grace_days: 14,
  })
}

/** A license for everything that there is to license. */
export function licenseForAll(): string {
  return licenseFor(...commercialCapabilities)
}
