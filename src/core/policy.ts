/** A policy as it is stored (docs/reference/policies.md 1.2), and what it is bound to (4.2). */

import { createHash } from 'node:crypto'
import { type Grantee, isGrantedTo, isOfTable } from './access-grant.ts'
import type { TableRef } from './table-ref.ts'

export const policyKinds = ['schema', 'write_acl', 'retention'] as const
/** P1, P2 and P3 of docs/reference/policies.md 4.1, as stored. */
export type PolicyKind = (typeof policyKinds)[number]

export const policyModes = ['enforce', 'warn', 'shadow'] as const
export type PolicyMode = (typeof policyModes)[number]

/** All tables in a namespace and below it; `[]` is the root namespace, and so every table of the tenant. */
export interface NamespaceScope {
  readonly namespace: readonly string[]
  readonly name?: undefined
}

/** All tables that carry a tag, themselves or by a column. */
export interface TagScope {
  readonly tag: string
}

/** What a policy is bound to; it may be bound to several. */
export type PolicyScope = TableRef | NamespaceScope | TagScope

export interface Policy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  /** Shown to a writer who is denied. */
  readonly name: string
  /** What the writer should do about a denial; '' where the author wrote nothing. */
  readonly message: string
  readonly definitionCel: string
  /** The namespace or tag through which it governs a table; absent where it is bound to the table itself. */
  readonly scope?: NamespaceScope | TagScope
  /** A policy of mode `shadow` is enforced from this time on, in milliseconds since 1970. */
  readonly enforceFromMs?: number
  /** Set for a policy that follows from a contract; it is changed by the contract alone. */
  readonly derived?: DerivedPolicy
  /** Grants by which it only warns about commits to the table; absent where there is none. */
  readonly exemptions?: readonly Exemption[]
  /** The grant by which it only warns about this commit. */
  readonly grant?: string
}

/** A grant by which a policy only warns about the commits of one subject, or of those with a role, for a time. */
interface Exemption {
  readonly grant: string
  readonly grantee: Grantee
  /** Of the table that it is for, in lower case; absent where it is not known. */
  readonly tableUuid?: string
  /** Milliseconds since 1970: it holds from the first to before the second. */
  readonly fromMs: number
  readonly untilMs: number
}

/** What a policy refuses, as a text by which two are compared. */
export function policyEffect({ kind, definitionCel }: Pick<Policy, 'kind' | 'definitionCel'>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, definitionCel]))
    .digest('hex')
}

/** A policy's name for a denial, with the namespace or tag through which it governs. */
export function policyTitle({ name, scope }: Pick<Policy, 'name' | 'scope'>): string {
  if (scope === undefined) return name
  if ('tag' in scope) return `${name} (tag ${scope.tag})`
  return `${name} (${scope.namespace.length === 0 ? 'every namespace' : `namespace ${scope.namespace.join('.')}`})`
}

/** A version of a contract by its number. */
export interface VersionNumber {
  readonly contract: string
  readonly number: number
}

/** Which version of a contract a policy follows from. */
export interface DerivedPolicy {
  readonly contract: string
  readonly number: number
  /** What the document says of itself. */
  readonly version: string
  /** When the contract began to govern the table, in milliseconds since 1970. */
  readonly sinceMs: number
  /** Set for a policy that the document holds as CEL: what it denies is no change of a column. */
  readonly written?: true
  /**
   * Approved versions, newest first. A commit that the version in force refuses is judged by their policies instead.
   * Only the first policy of a table has them.
   */
  readonly covering: readonly CoveringVersion[]
}

/** An approved version, with its policies of one table. */
export interface CoveringVersion {
  readonly number: number
  readonly version: string
  /** Until when an approval by break-glass holds. */
  readonly untilMs?: number
  readonly policies: readonly Policy[]
}

/** The start of a derived policy's id. No policy of a person has a colon in its id. */
export const derivedPolicyPrefix = 'contract:'

/** The key of `table` and `commit.result` that holds columns by path. No policy can name it by a field selection. */
export const columnsKey = '@columns'

/**
 * Since when a policy refuses that only recorded before, for the reason of a denial; '' for all others.
 * @param policy as {@link inEffect} gives it
 */
export function enforcedSince({ mode, enforceFromMs }: Pick<Policy, 'mode' | 'enforceFromMs'>): string {
  if (mode !== 'enforce' || enforceFromMs === undefined) return ''
  return ` (enforced since ${new Date(enforceFromMs).toISOString()}, only recorded before)`
}

/** Who commits, and to the table with which uuid. */
interface Commit {
  readonly committer: { readonly sub: string; readonly roles: readonly string[] } | undefined
  readonly tableUuid: string | undefined
}

/**
 * Policies with the modes that they have at a time.
 * @param commit to a table that exists; a policy only warns of it where a grant exempts its committer
 */
export function inEffect(policies: readonly Policy[], atMs: number, commit?: Commit): readonly Policy[] {
  return policies.map((policy) => exempted(timed(policy, atMs), atMs, commit))
}

function timed(policy: Policy, atMs: number): Policy {
  return policy.enforceFromMs !== undefined && policy.mode === 'shadow' && atMs >= policy.enforceFromMs
    ? { ...policy, mode: 'enforce' }
    : policy
}

function exempted(policy: Policy, atMs: number, commit: Commit | undefined): Policy {
  const { committer, tableUuid } = commit ?? {}
  if (committer === undefined || tableUuid === undefined) return policy
  if (policy.exemptions === undefined || policy.mode !== 'enforce') return policy
  const found = policy.exemptions.find(
    (exemption) =>
      isGrantedTo(exemption.grantee, committer) &&
      isOfTable(exemption, tableUuid) &&
      exemption.fromMs <= atMs &&
      atMs < exemption.untilMs,
  )
  return found === undefined ? policy : { ...policy, mode: 'warn', grant: found.grant }
}
