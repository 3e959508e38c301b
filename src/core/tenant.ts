/** The identifiers of a tenant (docs/reference/identity.md 1.1). */

declare const tenantIdBrand: unique symbol
/** A UUID version 4, lower case. */
export type TenantId = string & { readonly [tenantIdBrand]: true }

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const organizationIdPattern = /^org_[A-Za-z0-9]+$/

/** @returns the tenant id, or undefined where `text` is not a UUID version 4 */
export function parseTenantId(text: string): TenantId | undefined {
  const lower = text.toLowerCase()
  return uuidV4.test(lower) ? (lower as TenantId) : undefined
}

/** A new tenant id. */
export function newTenantId(): TenantId {
  return crypto.randomUUID() as TenantId
}

/** Whether `text` is an identity provider's organization id (docs/reference/identity.md 1.1). */
export function isOrganizationId(text: string): boolean {
  return organizationIdPattern.test(text)
}
