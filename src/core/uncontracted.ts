/** What the Iceberg surface and the read path show of a table without an active contract: a tenant's setting. */

/**
 * - `denied`: no session reads it
 * - `to_writers`: sessions that may commit load it by the Iceberg surface; none reads it by SQL
 * - `readable`: everyone who may read tables reads it
 */
export const uncontractedModes = ['denied', 'to_writers', 'readable'] as const
export type Uncontracted = (typeof uncontractedModes)[number]

/** Of a tenant that has never set it. */
export const uncontractedDefault: Uncontracted = 'to_writers'

/** Whether a session may load such a table by the Iceberg surface. */
export function opensUncontracted(mode: Uncontracted, mayCommit: boolean): boolean {
  return mode === 'readable' || (mode === 'to_writers' && mayCommit)
}
