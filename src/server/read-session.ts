/**
 * The session by which a client reads, for every read surface: who reads, until when, and whether the session is
 * still valid. Each message or request checks it once, in the store call that loads the statement where there is one.
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

  /** @throws Fault where that cannot be told */
  stillValid(): Promise<boolean> {
    return this.#credential.stillValid()
  }

  /** As in Reader. */
  sessionToCheck(): string | undefined {
    return this.#credential.sessionToCheck?.()
  }

  /** The context of statements of this session: who reads comes from nowhere else. */
  queryContext(surface: ReadSurface, catalog: string, searchPath: readonly string[]): QueryContext {
    const { tenant, principal, principalSource } = this
    return { tenant, principal, principalSource, reader: this, surface, catalog, searchPath }
  }

  /** Opens the check of one message or request, which asks nobody yet. */
  openCheck(): ReadSessionCheck {
    return new ReadSessionCheck(this)
  }
}

/**
 * Whether the session is valid for one message or request. Its surface calls `askUnlessTaken` once the message's
 * own work has begun, `ask` when that has ended, and sends nothing before `passed`.
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

  /** Resolves where the session is valid. Rejects with a Fault: `unauthenticated`, or `unavailable` where nobody can tell. */
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

  /** Asks by itself, unless a load has taken the check. No load can take it from now on. */
  askUnlessTaken(): void {
    if (!this.#isTaken) this.ask()
  }

  /** Asks by itself, unless the result is there. */
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
