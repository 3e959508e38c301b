/** One client's end of a socket, as the conversation sees it. */

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
  /** From now on everything goes through TLS. */
  startTls(): void
  /** Aborted once the socket is closed. */
  readonly gone: AbortSignal
  /** Closes the socket. */
  end(): void
}
