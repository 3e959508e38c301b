/**
 * A grant: an exemption of one principal, or of those with a role, from filters and masks of one table, for a time and a
 * purpose. What it lifts is written down as it stood when access was granted. `seen-table.ts` applies it; nothing is read
 * or decided here.
 */

import type { TableRef } from './table-ref.ts'

/** To whom access is given: one subject, of a person or a service session, or everybody with a role. */
export type Grantee = { readonly sub: string } | { readonly role: string }

/** What a grant lifts. Filters and masks are named by their effects, which a rename of the table keeps. */
export interface GrantLifts {
  readonly columns: readonly {
    readonly fieldId: number
    /** The column's tags when access was granted. With another one beside them nothing of the column is lifted. */
    readonly tags: readonly string[]
    /** By `effectOf` of `protection-effect.ts`. */
    readonly masks: readonly string[]
  }[]
  /** By `effectOf` of `protection-effect.ts`. */
  readonly filters: readonly string[]
  /** Policies that refuse no commit of the grantee's, each with its effect by `policyEffect`. Absent: none. */
  readonly policies?: readonly { readonly id: string; readonly effect: string }[]
}

/** Whether access that is given to a grantee is this principal's. */
export function isGrantedTo(
  grantee: Grantee,
  { sub, roles }: { readonly sub: string; readonly roles: readonly string[] },
): boolean {
  return 'sub' in grantee ? grantee.sub === sub : roles.includes(grantee.role)
}

/** A grant as what governs a table holds it. */
export interface StoredGrant {
  readonly id: string
  readonly grantee: Grantee
  /** Of the table that it is about, in lower case; absent where it was not known when access was asked for. */
  readonly tableUuid?: string
  /** Milliseconds since the Unix epoch: it holds from the first to before the second. */
  readonly fromMs: number
  readonly untilMs: number
  readonly purpose: string
  readonly lifts: GrantLifts
}

/** A grant by which a principal sees more of a table. */
export interface LiftedBy {
  readonly grant: string
  readonly table: TableRef
  readonly untilMs: number
  readonly purpose: string
}

/**
 * What governs a table, with those grants alone that are about the table with this uuid. What lifts masks of a table lifts
 * nothing of another one that has taken its name, in whatever way.
 * @param tableUuid of the table that is read; undefined where its metadata says none
 */
export function withGrantsOf<G extends { readonly grants?: readonly StoredGrant[] }>(
  governance: G,
  tableUuid: string | undefined,
): G {
  const { grants = [] } = governance
  const own = grants.filter((grant) => isOfTable(grant, tableUuid))
  return own.length === grants.length ? governance : { ...governance, grants: own }
}

/** Whether a grant is about the table with this uuid. One that names no uuid is about whatever table has the name. */
export function isOfTable(grant: Pick<StoredGrant, 'tableUuid'>, tableUuid: string | undefined): boolean {
  return grant.tableUuid === undefined || grant.tableUuid === tableUuid?.toLowerCase()
}
