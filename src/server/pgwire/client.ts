/** Declares a client's connection as the protocol code uses it. */

import type { Inbox } from './inbox.ts'
import type { Outbox } from './outbox.ts'
import type { WireError } from './wire-error.ts'

export interface Client {
  readonly inbox: Inbox
  readonly outbox: Outbox
  /** Of the client; behind a trusted proxy, the one that the proxy names. */
  readonly address: string
  /** Whether nobody but this machine sees the connection. */
  readonly isLoopback: boolean
  readonly isEncrypted: boolean
  /** Whether TLS is configured. */
  readonly offersTls: boolean
  /** Sends and receives everything through TLS from now on. */
  startTls(): void
  /** Aborted once the socket is closed. */
  readonly gone: AbortSignal
  /** Ends the statement that runs, for this reason, because the server stops; set while there is a session. */
  cut?: ((reason: WireError) => void) | undefined
  /** Closes the socket. */
  end(): void
}
