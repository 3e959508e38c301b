/** Texts and numbers that occur nowhere else, what each would tell, and whether a caller may learn it. */

import { createHash } from 'node:crypto'
import type { Gives, GivesOfTables } from '../../../src/core/gives.ts'

/** `text` is what a writer of lineage wrote: statements and messages. It is told to nobody who lacks that right. */
export type Told = Gives | 'text'

/** The tables that are planted in each tenant. */
export const kinds = ['bare', 'filtered', 'masked', 'nested', 'open'] as const
export type Kind = (typeof kinds)[number]

export interface Canary {
  readonly text: string
  readonly tenant: 'home' | 'foreign'
  readonly table: Kind
  readonly tells: Told
  /** Whether filters and masks leave it to everyone. */
  readonly isOpen?: boolean
  /** What it is, for a message. */
  readonly about: string
}

export interface Caller {
  readonly name: string
  readonly tenant: 'home' | 'foreign' | 'internal'
  readonly secret: string
  readonly roles: readonly string[]
  readonly scopes: readonly string[]
}

const overseers = ['steward', 'administrator', 'owner', 'auditor']

/** A word of letters that occurs nowhere else, the same in every run. */
export function word(label: string): string {
  const digest = createHash('sha256').update(label).digest()
  return `q${[...digest.subarray(0, 11)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')}`
}

const patterns = new Map<string, RegExp>()
/** The last answer in small letters: it is searched for each canary in turn. */
let small = { of: '', text: '' }

/** Whether an answer holds a canary, a number only as a whole. */
export function holds(answer: string, { text }: Canary): boolean {
  if (!/^\d+$/.test(text)) {
    if (small.of !== answer) small = { of: answer, text: answer.toLowerCase() }
    return small.text.includes(text)
  }
  if (!answer.includes(text)) return false
  const known = patterns.get(text) ?? new RegExp(`(?<![\\d.-])${text}(?![\\d])`)
  patterns.set(text, known)
  return known.test(answer)
}

/** Whether the caller may see this of the table, whatever is asked. */
function maySee({ tenant, roles, scopes }: Caller, canary: Canary): boolean {
  if (canary.tells === 'text') return false
  if (tenant === 'internal') return ['existence', 'description', 'columns'].includes(canary.tells)
  if (tenant !== canary.tenant) return false
  const oversees = roles.some((role) => overseers.includes(role))
  const writes = scopes.includes('commit') && canary.table === 'bare'
  if (canary.tells !== 'values' && canary.tells !== 'counts')
    return canary.table !== 'bare' || oversees || writes
  if (canary.table === 'bare' || isAuditor(roles)) return false
  if (canary.tells === 'counts') return canary.table !== 'filtered' || roles.includes('exempt')
  return canary.isOpen === true || roles.includes('exempt')
}

const isAuditor = (roles: readonly string[]) => roles.length > 0 && roles.every((role) => role === 'auditor')

/** Whether an answer to the caller may hold the canary, by what its giver declares. */
export function mayHold(
  caller: Caller,
  canary: Canary,
  gives: GivesOfTables,
  demanded: readonly string[],
): boolean {
  if (canary.tells === 'text') return false
  const isNamed = canary.tells !== 'values' && canary.tells !== 'counts'
  // A change may name what is attached to what it changes, also in a refusal.
  if ('nothing' in gives) return gives.nothing === 'own input' && isNamed && maySee(caller, canary)
  if (gives.visible?.includes(canary.tells) && maySee(caller, canary)) return true
  if (gives.own?.includes(canary.tells) && caller.tenant === canary.tenant) return true
  if (gives.overseen?.includes(canary.tells) !== true) return false
  if (caller.tenant === 'internal') return canary.tells !== 'values' || gives.overseers === undefined
  const roles = gives.overseers ?? demanded
  return caller.tenant === canary.tenant && caller.roles.some((role) => roles.includes(role))
}
