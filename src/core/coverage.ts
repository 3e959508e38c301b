/** The kinds of gaps in a tenant's contracts (docs/contracts.md). Finds none. */

export const coverageKinds = [
  /** No active contract. */
  'uncontracted',
  /** The document in force names neither a team nor a member of it. */
  'without_owner',
  /** A column holds what detection found to be sensitive, and no mask is on it. */
  'unprotected_findings',
  /** The contract only records commits that break it. */
  'in_shadow',
  /** No statement has read it for {@link unreadDays} days. */
  'unread',
] as const
export type CoverageKind = (typeof coverageKinds)[number]

/** Days without a statement after which a table counts as unread. */
export const unreadDays = 90
