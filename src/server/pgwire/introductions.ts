/**
 * Holds the connections of trusted proxies until their PROXY protocol header has arrived. It counts them by no address,
 * because only the header says whose they are; a proxy sends it at once.
 */

import type { Socket } from 'bun'
import { type ProxyHeader, ProxyHeaderError, ProxyHeaderReader } from '../../wire/proxy-protocol.ts'

/** Receives the events of a socket. */
export interface SocketReceiver {
  plainData(chunk: Uint8Array): void
  plainDrained(): void
  /** The socket is closed, on both sides. */
  ended(): void
  /** The peer has disconnected. */
  closed(): void
}

interface IntroductionOptions<Data> {
  /** Milliseconds that a header may take. */
  readonly ms: number
  /** Connections that may wait for their header. */
  readonly max: number
  readonly onClient: (socket: Socket<Data>, header: ProxyHeader) => void
  readonly onRefused: (peer: string, sqlState: string, reason: string) => void
}

export class Introductions<Data> {
  readonly #waiting = new Set<() => void>()

  constructor(readonly options: IntroductionOptions<Data>) {}

  /** Waits for the header of a connection that a trusted proxy has opened. */
  open(socket: Socket<Data>): SocketReceiver {
    const { max, ms, onClient, onRefused } = this.options
    const reader = new ProxyHeaderReader()
    const leave = () => {
      clearTimeout(timer)
      this.#waiting.delete(terminate)
    }
    const terminate = () => {
      leave()
      socket.terminate()
    }
    const refuse = (sqlState: string, reason: string) => {
      onRefused(socket.remoteAddress, sqlState, reason)
      terminate()
    }
    const timer = setTimeout(() => refuse('57014', 'its PROXY protocol header did not arrive in time'), ms)
    // Refused once the socket has its receiver, which hears that it is closed.
    if (this.#waiting.size >= max)
      queueMicrotask(() => refuse('53300', 'too many of them wait for a PROXY protocol header'))
    else this.#waiting.add(terminate)
    return {
      plainData(chunk) {
        try {
          const header = reader.push(chunk)
          if (header === undefined) return
          leave()
          onClient(socket, header)
        } catch (error) {
          if (!(error instanceof ProxyHeaderError)) throw error
          refuse('08P01', error.message)
        }
      },
      plainDrained: () => {},
      ended: leave,
      closed: terminate,
    }
  }

  /** Closes the connections that still wait. */
  end(): void {
    for (const terminate of [...this.#waiting]) terminate()
  }
}
