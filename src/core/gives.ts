/**
 * What a read tells of tables: the vocabulary in which operations, fields, tools and catalogs declare it
 * (docs/reference/visibility.md). It decides nothing; a test holds every answer against what is declared.
 */

import type { PrivilegedRole } from './principal.ts'

/** What can be told of a table, least first. */
export const sights = ['existence', 'description', 'columns', 'values', 'counts'] as const
export type Gives = (typeof sights)[number]

/** Why something tells nothing of tables. */
export const silences = {
  oneself: 'It is about the caller alone.',
  administration: 'It is about sessions, settings and keys, and names no table.',
  service: 'It is about the service, and the same for everyone.',
  'own input': 'It answers with what the caller sent or changed.',
} as const
export type Silence = keyof typeof silences

type Some<T> = readonly [T, ...T[]]

/** What one read tells of tables: by what may be seen, to whom it concerns, or for no table. */
export type GivesOfTables =
  | {
      /** Of tables of which the caller may see that much. */
      readonly visible?: Some<Gives>
      /** Of tables that the caller read or changed itself, although it may not any more. */
      readonly own?: Some<Gives>
      /** Of every table of the tenant, to roles that oversee it. */
      readonly overseen?: Some<Gives>
      /** Where absent, the roles that the access demands. */
      readonly overseers?: Some<PrivilegedRole>
    }
  | { readonly nothing: Silence }

/** Why a declaration cannot stand; undefined where it can. */
export function givesProblem(
  gives: GivesOfTables | undefined,
  { isRoleDemanded }: { readonly isRoleDemanded: boolean },
): string | undefined {
  if (gives === undefined) return 'it does not declare what it gives'
  if ('nothing' in gives) return Object.hasOwn(silences, gives.nothing) ? undefined : 'its reason is unknown'
  const all: readonly Gives[] = [...(gives.visible ?? []), ...(gives.own ?? []), ...(gives.overseen ?? [])]
  if (all.length === 0) return 'it declares that it gives something, and not what'
  if (!all.every((one) => sights.includes(one))) return 'it gives what has no name'
  if (gives.overseen !== undefined && gives.overseers === undefined && !isRoleDemanded)
    return 'it gives to overseers, and demands no role'
  return undefined
}
