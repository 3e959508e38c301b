/** Wraps the keys of subjects by a key below the tenant's, bound to tenant, kind and the id that values name. */

import { randomBytes } from 'node:crypto'
import type { TenantId } from '../core/tenant.ts'
import { hkdf, openKey, sealKey } from '../transform/derive-keys.ts'

interface SubjectKeyPlace {
  readonly tenant: TenantId
  readonly kind: string
  readonly sid: string
}

function wrappingKey(root: Uint8Array, tenant: TenantId): Uint8Array {
  return hkdf(root, Buffer.from('covenant/1'), `${tenant}|subject-keys`, 32)
}

function boundTo({ tenant, kind, sid }: SubjectKeyPlace): string {
  return `covenant/1|${tenant}|subject|${kind}|${sid}`
}

/** @param root the tenant's key */
export function wrapSubjectRoot(root: Uint8Array, place: SubjectKeyPlace, key: Uint8Array): Uint8Array {
  const sealed = sealKey(wrappingKey(root, place.tenant), randomBytes(12), boundTo(place), key)
  return new Uint8Array(Buffer.from(sealed, 'base64url'))
}

/** @throws where it was changed, or is another subject's */
export function unwrapSubjectRoot(root: Uint8Array, place: SubjectKeyPlace, wrapped: Uint8Array): Uint8Array {
  const text = Buffer.from(wrapped).toString('base64url')
  return openKey(wrappingKey(root, place.tenant), boundTo(place), text)
}
