/**
 * The public keys that verify licenses. They are part of the program, because with a configurable key anyone could
 * sign. `covenant license keygen` makes a pair; the public half goes here.
 */

export interface LicenseKey {
  /** The `kid` of the license's header. */
  readonly id: string
  /** An Ed25519 key (RFC 8037). */
  readonly publicJwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  /** Its private half is public, so it is valid in local walkthroughs only. */
  readonly development: boolean
}

export const licenseKeys: readonly LicenseKey[] = [
  {
    id: 'development',
    publicJwk: { kty: 'OKP', crv: 'Ed25519', x: 'T4WmiySWrWx0OKtGYR2T2oYiS28zwF4Z_-qEPcICwPY' },
    development: true,
  },
]
