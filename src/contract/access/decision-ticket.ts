/**
 * The signed link by which a message leads to a decision about access. It says which request in which tenant, with the
 * hash of what would be decided, and until when. It is no credential: who opens it signs in, and decides by their own
 * rights.
 */

import type { TenantId } from '../../core/tenant.ts'
import { type SecretsKeys, seal, unseal } from '../../store/database/sealing.ts'

/** Path of the page on which a request is decided. */
export const decisionPagePath = '/console/access/decision'

/** What a link leads to. */
export interface DecisionTicket {
  readonly tenant: TenantId
  readonly request: string
  /** Hex: what would be decided. */
  readonly sha256: string
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number
}

const place = ['access', 'decision']
const ticketCharsMax = 1_000

/** The path of the page with the ticket, sealed. */
export function decisionPath(keys: SecretsKeys, ticket: DecisionTicket): string {
  const sealed = Buffer.from(seal(keys.secretsKey, place, JSON.stringify(ticket))).toString('base64url')
  return `${decisionPagePath}?ticket=${sealed}`
}

/** What a ticket says; undefined for one that was not sealed here, and for one whose time is over. */
export function openDecision(keys: SecretsKeys, sealed: string, nowMs: number): DecisionTicket | undefined {
  if (sealed.length > ticketCharsMax) return undefined
  try {
    const text = unseal(keys, place, Buffer.from(sealed, 'base64url'))
    const ticket = JSON.parse(text) as DecisionTicket
    return ticket.untilMs > nowMs ? ticket : undefined
  } catch {
    return undefined
  }
}
