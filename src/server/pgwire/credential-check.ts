/**
 * Whether a connection's credential counts for one message. Asked anew for each: of a call of the store that asks
 * for something else as well, where one begins with the message, and otherwise by itself.
 */

import type { ReadCredential } from '../../auth/read-credential.ts'
import type { CredentialQuestion } from '../../query/query-service.ts'
import { WireError } from './wire-error.ts'

export class CredentialCheck implements CredentialQuestion {
  readonly #verdict = Promise.withResolvers<void>()
  #isTaken = false
  #isAsked = false
  #isAnswered = false

  constructor(readonly identity: ReadCredential) {
    this.#verdict.promise.catch(() => {})
  }

  /** Resolves once the credential is known to count. Rejects with a WireError FATAL: 57P01, or 58000 where that cannot be told. */
  get passed(): Promise<void> {
    return this.#verdict.promise
  }

  take(): string | undefined {
    if (this.#isTaken || this.#isAsked) return undefined
    const sessionId = this.identity.sessionToAsk?.()
    this.#isTaken = sessionId !== undefined
    return sessionId
  }

  answer(counts: boolean): void {
    this.#isAnswered = true
    if (counts) this.#verdict.resolve()
    else this.#fail('57P01', 'the credential of this connection counts no more')
  }

  /** Asks by itself, unless somebody has begun to: from now on nobody may. */
  askUnlessTaken(): void {
    if (!this.#isTaken) this.ask()
  }

  /** Asks by itself, unless there is an answer. */
  ask(): void {
    if (this.#isAsked || this.#isAnswered) return
    this.#isAsked = true
    this.identity.stillValid().then(
      (valid) => this.answer(valid),
      () => this.#fail('58000', 'the credential of this connection cannot be checked'),
    )
  }

  #fail(sqlState: string, message: string): void {
    this.#verdict.reject(new WireError(sqlState, message, 'FATAL'))
  }
}
