/**
 * Reads organization and roles from a token's claims, in the forms that identity providers send them
 * (docs/reference/identity.md 3.3). Verifies nothing.
 */

import { Fault } from '../base/fault.ts'

type Claims = Readonly<Record<string, unknown>>

/**
 * Where a provider puts what the service reads. Each is a claim's name, or a path of names joined by dots, in which a
 * backslash makes a dot part of a name.
 */
export interface ClaimNames {
  readonly organization: string
  /** Undefined: `roles`, else `groups`. */
  readonly roles: string | undefined
}

/** Which claim of {@link ClaimNames}. */
type ClaimKind = 'organization' | 'roles'

/** What a claim's name must be, in words for who sets it. */
export const claimNameForm =
  'the name of a claim, or names joined by dots, none of them empty, with `\\.` for a dot within a name and `\\\\` for a backslash'

/** Whether a text can be read as a claim's name or a path to one. */
export function isClaimName(text: string): boolean {
  return segmentsOf(text) !== undefined
}

/** The claims that are set by name and yield nothing: missing, or of a shape that is not read. */
export function yieldingNothing(claims: Claims, { organization, roles }: ClaimNames): readonly ClaimKind[] {
  const named = organizationOf(claims, organization)
  const lacks: ClaimKind[] = []
  // Its default is in no token of many providers, and a session then names the tenant.
  if (named === null || (named === undefined && organization !== organizationClaimDefault))
    lacks.push('organization')
  if (roles !== undefined && namedRoles(claimAt(claims, roles)) === undefined) lacks.push('roles')
  return lacks
}

/** The claim of the organization where none is set. */
export const organizationClaimDefault = 'org_id'

/**
 * The one organization that a claim names: a text, a list of one text, or an object with one member of that name.
 * @returns undefined where the claim is missing, null where it names none, several, or something else
 */
export function organizationOf(claims: Claims, name: string): string | undefined | null {
  const claim = claimAt(claims, name)
  if (claim === undefined) return undefined
  const named = isObject(claim) ? Object.keys(claim) : Array.isArray(claim) ? claim : [claim]
  const [one] = named
  return named.length === 1 && typeof one === 'string' && one !== '' ? one : null
}

/**
 * The e-mail address that claims name. One that the provider calls unverified is none, because whom it names may have
 * chosen it. Many providers say nothing of that.
 */
export function emailIn({ email, email_verified: verified }: Claims): string | undefined {
  if (typeof email !== 'string' || email === '') return undefined
  // Some providers send texts.
  const isTaken =
    verified === undefined || verified === true || (typeof verified === 'string' && /^true$/i.test(verified))
  return isTaken ? email : undefined
}

/**
 * The roles that claims name.
 * @param name of the claim with the roles; undefined: `roles`, else `groups`
 * @throws Fault `unauthenticated` where the provider left the groups out because there are too many of them
 */
export function rolesIn(claims: Claims, name: string | undefined): readonly string[] {
  const roles =
    name === undefined
      ? (textRoles(claims.roles) ?? textRoles(claims.groups))
      : namedRoles(claimAt(claims, name))
  if (roles !== undefined) return roles
  if ((name === undefined || name === 'groups') && leavesGroupsOut(claims))
    throw new Fault(
      'unauthenticated',
      'The token leaves its groups out, because the person is in too many. At the provider, put app roles or only the groups of the application into tokens.',
    )
  return []
}

/**
 * Roles of a claim that is a string array or a space-delimited string (docs/reference/identity.md 3.3). A group that is
 * a path loses the slash with which it begins.
 * @returns undefined for anything else
 */
function textRoles(claim: unknown): readonly string[] | undefined {
  const named = typeof claim === 'string' ? claim.split(' ').filter((role) => role !== '') : claim
  if (!Array.isArray(named) || !named.every((role) => typeof role === 'string')) return undefined
  return named.map((role) => role.replace(/^\//, ''))
}

/**
 * Roles of a claim that is set by name. It may also be an object of grants, whose members are the roles, or a list of
 * objects that each have either `name` or `role`.
 * @returns undefined for any other shape, so that nothing is taken for a role by mistake
 */
function namedRoles(claim: unknown): readonly string[] | undefined {
  if (isObject(claim)) return Object.values(claim).every(isGrant) ? textRoles(Object.keys(claim)) : undefined
  if (Array.isArray(claim) && claim.length > 0 && claim.every(isObject)) return textRoles(claim.map(roleOf))
  return textRoles(claim)
}

/** ZITADEL says for each role which organizations grant it, by id and domain. */
function isGrant(value: unknown): boolean {
  if (!isObject(value)) return false
  const domains = Object.values(value)
  return domains.length > 0 && domains.every((domain) => typeof domain === 'string')
}

/** Undefined also where an object has both, because one of them may be something else. */
function roleOf(one: Claims): unknown {
  if (Object.hasOwn(one, 'name') === Object.hasOwn(one, 'role')) return undefined
  return one.name ?? one.role
}

/** Entra ID names a source instead of the groups, or says that there are some. */
function leavesGroupsOut({ groups, hasgroups, _claim_names: names }: Claims): boolean {
  return groups === undefined && (hasgroups === true || (isObject(names) && Object.hasOwn(names, 'groups')))
}

/** The claim of this name, else what is at the path. @returns undefined where there is none */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  const path = segmentsOf(name)
  return path && valueAt(claims, path)
}

/** A path that leads through a list of objects yields what each of them has there, and undefined for one without. */
function valueAt(from: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined) return from
  if (Array.isArray(from)) return from.flatMap((one) => (isObject(one) ? valueAt(one, path) : undefined))
  return isObject(from) && Object.hasOwn(from, name) ? valueAt(from[name], rest) : undefined
}

/** The names of a path, as Keycloak's mappers write it. @returns undefined where it is none */
function segmentsOf(path: string): readonly string[] | undefined {
  if (!/^(?:[^\\.]|\\[\\.])+(?:\.(?:[^\\.]|\\[\\.])+)*$/.test(path)) return undefined
  return path.match(/(?:[^\\.]|\\[\\.])+/g)?.map((name) => name.replaceAll(/\\([\\.])/g, '$1'))
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
