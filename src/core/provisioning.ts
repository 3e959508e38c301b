/** How a tenant's provisioned people are matched with the principals of requests (docs/reference/identity.md 11). */

/** What of a principal is compared. */
export const personClaims = ['sub', 'email'] as const
export type PersonClaim = (typeof personClaims)[number]

/** What of a provisioned user it is compared with. */
export const personAttributes = ['userName', 'externalId', 'email'] as const
export type PersonAttribute = (typeof personAttributes)[number]

/** Where the roles of people come from: their tokens, or the provisioned groups, each group a role of its name. */
export const roleSources = ['token', 'groups'] as const
export type RoleSource = (typeof roleSources)[number]

export interface Provisioning {
  readonly claim: PersonClaim
  readonly attribute: PersonAttribute
  readonly rolesFrom: RoleSource
}

/** The settings of a tenant that has set none. */
export const provisioningDefault: Provisioning = { claim: 'sub', attribute: 'userName', rolesFrom: 'token' }

/** Bounds of one tenant. */
export const provisioningBounds = { usersMax: 100_000, groupsMax: 10_000, membersMax: 100_000 } as const

/** What provisioning says of a principal. */
export type Standing =
  /** Nothing: the tenant has no provisioning, or does not have this person; roles are those of the token. */
  | { readonly kind: 'as token says' }
  /** The roles are these, whatever the token says. */
  | { readonly kind: 'by groups'; readonly roles: readonly string[] }
  /** The person was deactivated or deleted, or the credential lacks the claim by which people are matched. */
  | { readonly kind: 'refused'; readonly why: string; readonly isUnnamed: boolean }
