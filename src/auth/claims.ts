/**
 * Reads organization and roles from a token's claims, in the forms that identity providers send them
 * (docs/reference/identity.md 3.3). Verifies nothing.
 */

import { Fault } from '../base/fault.ts'

type Claims = Readonly<Record<string, unknown>>

/** Where a provider puts what the service reads. Each is a claim's name, or a path of names joined by dots. */
export interface ClaimNames {
  readonly organization: string
  /** Undefined: `roles`, else `groups`. */
  readonly roles: string | undefined
}

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
 * The roles that claims name.
 * @param name of the claim with the roles; undefined: `roles`, else `groups`
 * @throws Fault `unauthenticated` where the provider left the groups out because there are too many of them
 */
export function rolesIn(claims: Claims, name: string | undefined): readonly string[] {
  const roles =
    name === undefined ? (rolesOf(claims.roles) ?? rolesOf(claims.groups)) : rolesOf(claimAt(claims, name))
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
function rolesOf(claim: unknown): readonly string[] | undefined {
  const named = typeof claim === 'string' ? claim.split(' ').filter((role) => role !== '') : claim
  if (!Array.isArray(named) || !named.every((role) => typeof role === 'string')) return undefined
  return named.map((role) => role.replace(/^\//, ''))
}

/** Entra ID names a source instead of the groups, or says that there are some. */
function leavesGroupsOut({ groups, hasgroups, _claim_names: names }: Claims): boolean {
  return groups === undefined && (hasgroups === true || (isObject(names) && Object.hasOwn(names, 'groups')))
}

function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (!isObject(found) || !Object.hasOwn(found, part)) return undefined
    found = found[part]
  }
  return found
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
