/** Declares a client's connection as the protocol code uses it. */

import type { Inbox } from './inbox.ts'
import type { Outbox } from './outbox.ts'

export interface Client {
  readonly inbox: Inbox
  readonly outbox: Outbox
  readonly address: string
  readonly isLoopback: boolean
  readonly isEncrypted: boolean
  /** Whether TLS is configured. */
  readonly offersTls: boolean
  /** Sends and receives everything through TLS from now on. */
  startTls(): void
  /** Aborted once the socket is closed. */
  readonly gone: AbortSignal
  /** Closes the socket. */
  end(): void
}
