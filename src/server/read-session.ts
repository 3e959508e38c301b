/**
 * Holds the session with which a client reads, for every read surface. Each message or request checks the session
 * once: in the store call that loads its statement where there is one, else by a call of its own.
 */

import type { ReadCredential } from '../auth/read-credential.ts'
import { Fault } from '../base/fault.ts'
import type { QueryContext, Reader, ReadSurface, SessionCheck } from '../query/query-service.ts'

export class ReadSession implements Reader {
  readonly tenant: ReadCredential['tenant']
  readonly principal: ReadCredential['principal']
  readonly principalSource: ReadCredential['principalSource']
  readonly expiresAtMs: number | undefined
  readonly #credential: ReadCredential

  constructor(credential: ReadCredential) {
    this.#credential = credential
    this.tenant = credential.tenant
    this.principal = credential.principal
    this.principalSource = credential.principalSource
    this.expiresAtMs = credential.expiresAtMs
  }

  /** @throws Fault where the check fails */
  stillValid(): Promise<boolean> {
    return this.#credential.stillValid()
  }

  /** As in Reader. */
  sessionToCheck(): string | undefined {
    return this.#credential.sessionToCheck?.()
  }

  /** The context of this session's statements. Tenant and principal always come from the session. */
  queryContext(surface: ReadSurface, catalog: string, searchPath: readonly string[]): QueryContext {
    const { tenant, principal, principalSource } = this
    return { tenant, principal, principalSource, reader: this, surface, catalog, searchPath }
  }

  /** Opens the check of one message or request without sending it yet. */
  openCheck(): ReadSessionCheck {
    return new ReadSessionCheck(this)
  }
}

/**
 * Checks whether the session is valid for one message or request. The surface calls `askUnlessTaken` once the
 * message's work has begun and `ask` when that has ended. It sends nothing before `passed` resolves.
 */
export class ReadSessionCheck implements SessionCheck {
  readonly #session: ReadSession
  readonly #verdict = Promise.withResolvers<void>()
  #isTaken = false
  #isAsked = false
  #isReported = false

  constructor(session: ReadSession) {
    this.#session = session
    this.#verdict.promise.catch(() => {})
  }

  /** Resolves if the session is valid. Rejects with Fault `unauthenticated`, or `unavailable` if it failed. */
  get passed(): Promise<void> {
    return this.#verdict.promise
  }

  take(): string | undefined {
    if (this.#isTaken || this.#isAsked) return undefined
    const sessionId = this.#session.sessionToCheck()
    this.#isTaken = sessionId !== undefined
    return sessionId
  }

  report(isValid: boolean): void {
    this.#isReported = true
    if (isValid) this.#verdict.resolve()
    else this.#verdict.reject(new Fault('unauthenticated', 'The session was revoked or has expired.'))
  }

  /** Checks by a call of its own, unless a load has taken the check. No load can take it afterwards. */
  askUnlessTaken(): void {
    if (!this.#isTaken) this.ask()
  }

  /** Checks by a call of its own, unless the result was reported. */
  ask(): void {
    if (this.#isAsked || this.#isReported) return
    this.#isAsked = true
    this.#session.stillValid().then(
      (isValid) => this.report(isValid),
      (cause) => {
        this.#verdict.reject(new Fault('unavailable', 'The session could not be checked. Retry.', { cause }))
      },
    )
  }
}
