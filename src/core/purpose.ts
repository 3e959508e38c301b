/**
 * The purpose for which a session reads: a claim of its client, recorded with each query, and which a contract may
 * demand. It gives no right by itself, and nothing is read here.
 */

import { cleanText } from '../base/clean-text.ts'
import { Fault } from '../base/fault.ts'
import { type TableRef, tableName } from './table-ref.ts'

/** UTF-16 units of a purpose. */
export const purposeCharsMax = 200

/** The header that names the purpose of a request. */
export const purposeHeader = 'x-svc-purpose'

/** The property of an XMLA request that names it. */
export const purposeProperty = 'CovenantPurpose'

/** The reason of a refusal for want of a purpose, for programs. */
export const purposeDemandedReason = 'purpose_demanded'

/** The setting of the PostgreSQL wire. */
export const purposeSetting = 'covenant.purpose'

/** What a contract demands of who reads: any purpose, or one of these. An empty list lets nobody read. */
export type PurposeDemand = 'any' | readonly string[]

/**
 * A purpose as it is recorded: without spaces around it; '' for none.
 * @returns undefined for a text that is too long, of several lines, or with characters that nobody sees
 */
export function readPurpose(text: string): string | undefined {
  const purpose = text.trim()
  const isClean = cleanText(purpose, purposeCharsMax) === purpose && !/[\t\n]/.test(purpose)
  return isClean ? purpose : undefined
}

/** Whether all demands are met. Purposes are compared without regard to case. */
export function meetsDemands(demands: readonly PurposeDemand[] | undefined, purpose = ''): boolean {
  if (demands === undefined) return true
  return demands.every((demand) =>
    demand === 'any' ? purpose !== '' : demand.some((one) => folded(one) === folded(purpose)),
  )
}

const folded = (text: string) => text.normalize('NFC').toLowerCase()

/** Purposes that a refusal names. */
const namedMax = 10

/** What is demanded of who reads a table, as a sentence without a full stop. */
export function demandText(table: TableRef, demands: readonly PurposeDemand[]): string {
  const [first, ...others] = demands.filter((demand) => demand !== 'any')
  if (first === undefined) return `${tableName(table)} is read for a purpose only, and none is named`
  const allowed = first.filter((one) => others.every((other) => meetsDemands([other], one)))
  if (allowed.length === 0) return `${tableName(table)} may be read for no purpose`
  const rest = allowed.length - namedMax
  const named = allowed.slice(0, namedMax).join(', ')
  return `${tableName(table)} is read for one of these purposes only: ${named}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** In which ways a demand became looser, in words; none where it did not. */
export function purposeLoosenings(
  before: readonly PurposeDemand[] = [],
  after: readonly PurposeDemand[] = [],
): readonly string[] {
  if (before.length === 0) return []
  if (after.length === 0) return ['No purpose is demanded any more']
  const lists = (demands: readonly PurposeDemand[]) => demands.filter((demand) => demand !== 'any')
  const [old, now] = [lists(before), lists(after)]
  if (old.length > 0 && now.length === 0) return ['Any purpose is enough']
  const added = new Set(now.flat().filter((one) => !meetsDemands(before, one) && meetsDemands(after, one)))
  return added.size === 0 ? [] : [`It may be read for ${[...added].join(', ')} too`]
}

/**
 * The purpose that a header names. Clients send its characters as UTF-8 or as Latin-1.
 * @param value each character one byte; absent: none
 * @throws Fault `bad_request`
 */
export function purposeOfHeader(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined
  return statedPurpose(utf8Of(value), `The header ${purposeHeader}`)
}

/**
 * The purpose that a part of a request names.
 * @param what names that part in errors
 * @throws Fault `bad_request`
 */
export function statedPurpose(text: string, what: string): string | undefined {
  const purpose = readPurpose(text)
  if (purpose === undefined)
    throw new Fault(
      'bad_request',
      `${what} must be one line of at most ${purposeCharsMax} characters that can be seen.`,
    )
  return purpose === '' ? undefined : purpose
}

function utf8Of(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
