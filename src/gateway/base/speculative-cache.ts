/**
 * Caches a caller's session and credential and a table's policies, for the speculative start of the next commit.
 * It saves waiting, not checks: the store confirms both on every commit before they are used.
 */

import { Lru } from '../../base/lru.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { Session, SessionScope } from '../../core/session.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { SessionKey } from '../../store/commit/begin-commit.ts'
import type { WriteGovernance } from '../../store/policy/policies.ts'

/** Bytes of governance that is cached for them. */
const cachedGovernanceBytes = 32 * 1024 * 1024

/** Returning callers whose session and credential are cached for a speculative start. */
const returningCallersMax = 10_000

export interface CallerKey {
  readonly session: SessionKey
  /** The scopes of an access token; undefined if the session's own apply. */
  readonly scopes: readonly SessionScope[] | undefined
  readonly prefix: string
}

export interface ReturningCaller {
  readonly session: Session
  /** The tenant's catalog credential of the prefix. */
  readonly credential: CatalogCredential
  /** The fingerprint of session and credential; see `Session.registered`. */
  readonly fingerprint: string
}

interface CachedGovernance {
  /** The store's unparsed text. */
  readonly text: string
  readonly governance: WriteGovernance
}

/** Parsed policies take several times the memory of their text. */
const parsedWeight = 4

export class SpeculativeCache {
  readonly #callers = new Lru<string, ReturningCaller>(returningCallersMax)
  readonly #governance = new Lru<string, CachedGovernance>(cachedGovernanceBytes)

  caller(key: CallerKey): ReturningCaller | undefined {
    return this.#callers.get(callerText(key))
  }

  rememberCaller(key: CallerKey, caller: ReturningCaller): void {
    this.#callers.set(callerText(key), caller)
  }

  forgetCaller(key: CallerKey): void {
    this.#callers.delete(callerText(key))
  }

  governance(tenant: TenantId, table: TableRef): CachedGovernance | undefined {
    return this.#governance.get(`${tenant}/${tableKey(table)}`)
  }

  rememberGovernance(tenant: TenantId, table: TableRef, cached: CachedGovernance): void {
    this.#governance.set(`${tenant}/${tableKey(table)}`, cached, cached.text.length * parsedWeight)
  }
}

function callerText({ session, scopes, prefix }: CallerKey): string {
  const name = session.digest === null ? session.id : Buffer.from(session.digest).toString('hex')
  return JSON.stringify([name, scopes, prefix])
}
