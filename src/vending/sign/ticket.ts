/**
 * Seals sign tickets: opaque tokens that say for which session, table and snapshot a client asks for signatures. A client
 * may send a ticket beside the session of another catalog, so the session is the ticket's, and is looked up each time.
 */

import type { PrincipalSource } from '../../core/principal.ts'
import { type OpeningKeys, seal, unseal } from '../../store/database/sealing.ts'
import type { CredentialAccess } from '../issuer.ts'

export interface SignTicket {
  readonly tenant: string
  readonly sessionId: string
  /** Of the catalog: what is under the prefix must still be this credential. */
  readonly credentialId: string
  readonly prefix: string
  readonly namespace: readonly string[]
  readonly name: string
  readonly tableUuid: string | undefined
  readonly access: CredentialAccess
  /** The principal for whom filters and masks are looked up. */
  readonly sub: string
  readonly email?: string | undefined
  readonly roles: readonly string[]
  /** How a person was identified; `session` for a principal that is none. A ticket of an older version has none. */
  readonly source?: PrincipalSource | undefined
  readonly verified: boolean
  /** The purpose that the request named by which the ticket was given; undefined for none. */
  readonly purpose?: string | undefined
  /** The snapshot that a reader reads, in decimal; undefined where the table has none. */
  readonly snapshotId: string | undefined
  /** Its manifest list. */
  readonly manifestList: string | undefined
  readonly metadataFile: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAtMs: number
}

const place = ['sign ticket', '2'] as const

/** The ticket as text that may stand in a path. @param key 32 bytes */
export function sealTicket(key: Uint8Array, ticket: SignTicket): string {
  return Buffer.from(seal(key, place, JSON.stringify(ticket))).toString('base64url')
}

/** The ticket of a text; undefined where it was not sealed with one of the keys. */
export function openTicket(keys: OpeningKeys, text: string): SignTicket | undefined {
  try {
    return JSON.parse(unseal(keys, place, Buffer.from(text, 'base64url'))) as SignTicket
  } catch {
    return undefined
  }
}
