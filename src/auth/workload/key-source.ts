/** Reads from a request where the keys of an issuer are: by discovery, at an address, or given. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import type { KeySource } from '../../core/workload-trust.ts'
import { anyObject, described, list, maybe, text } from '../../http/schemas.ts'
import { checkIssuerUrl } from './issuer-keys.ts'

const keysMax = 20

const keyList = list(anyObject, { minItems: 1, maxItems: keysMax })
const keysUrl = maybe(
  described(text, 'where the keys are; default: as the discovery document of the issuer says'),
)

/** Members of a request. */
export const keyMembers = {
  jwks_url: keysUrl,
  jwks: maybe(
    described(
      Type.Unsafe<GivenKeys['jwks']>({ anyOf: [anyObject, keyList] }),
      'the public keys themselves: a JSON Web Key Set, or its member `keys`',
    ),
  ),
}

/** Members of an answer. */
export const keyViewMembers = {
  jwks_url: keysUrl,
  jwks: maybe(described(keyList, 'the public keys themselves')),
}

interface GivenKeys {
  readonly issuer: string
  readonly jwks_url?: string | undefined
  readonly jwks?: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[] | undefined
}

/** @throws Fault `bad_request` for addresses that are not https, and for keys that are not public */
export function readKeySource(addressRules: AddressRules, given: GivenKeys): KeySource {
  const { issuer, jwks_url: url, jwks } = given
  if (url !== undefined && jwks !== undefined)
    throw new Fault('bad_request', 'Give `jwks_url` or `jwks`, not both.')
  if (jwks !== undefined) {
    const keys = keysIn(jwks)
    for (const key of keys) assertPublic(key)
    return { kind: 'given', keys }
  }
  if (url !== undefined) {
    checkIssuerUrl(url, 'jwks_url', addressRules)
    return { kind: 'address', url }
  }
  checkIssuerUrl(issuer, 'issuer', addressRules)
  return { kind: 'discovery', issuer }
}

/** Other members of a set are ignored (RFC 7517, 5). */
function keysIn(jwks: NonNullable<GivenKeys['jwks']>): readonly object[] {
  const keys = isList(jwks) ? jwks : jwks.keys
  const areKeys = Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)
  if (!areKeys || keys.length === 0 || keys.length > keysMax)
    throw new Fault(
      'bad_request',
      `\`jwks\` must be a JSON Web Key Set, {"keys": […]}, or its list of keys, with 1 to ${keysMax} of them.`,
    )
  return keys
}

const isList = (value: object): value is readonly object[] => Array.isArray(value)

/** Shows a source as the members of an answer. */
export function keyView(keySource: KeySource) {
  return {
    jwks_url: keySource.kind === 'address' ? keySource.url : undefined,
    jwks: keySource.kind === 'given' ? (keySource.keys as Readonly<Record<string, unknown>>[]) : undefined,
  }
}

/** A shared secret as a key would let everybody who may list trusts make tokens, and a private key has no place here. */
function assertPublic(key: object): void {
  const { kty, d } = key as { readonly kty?: unknown; readonly d?: unknown }
  if (!['RSA', 'EC', 'OKP'].includes(String(kty)) || d !== undefined)
    throw new Fault('bad_request', '`jwks` must hold public keys of the kinds RSA, EC or OKP.')
}
