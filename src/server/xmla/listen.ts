/** Runs the XMLA listener: sockets, TLS and shutdown. It does not interpret requests. */

import type { Socket } from 'bun'
import type { Logger } from 'pino'
import { isLoopback, OpenConnections, onEveryInterface } from '../accepted-sockets.ts'
import type { TlsOptions } from '../pgwire/listen.ts'
import type { XmlaBounds } from './bounds.ts'
import { Connection } from './connection.ts'

export interface XmlaListenOptions {
  readonly hostname: string | undefined
  /** 0: any free port. */
  readonly port: number
  readonly tls: TlsOptions | undefined
}

export interface XmlaServer {
  readonly port: number
  /**
   * Accepts no more clients, lets requests under way finish and ends idle connections.
   * @returns whether all connections ended in time; the others are closed
   */
  stop(timeoutMs: number): Promise<boolean>
}

interface Attached {
  connection?: Connection
}

/** Serves one connection until it is over. @param ends aborts when no further request is wanted */
type ServeConnection = (connection: Connection, ends: AbortSignal) => Promise<void>

/** Starts the listener. */
export function listenXmla(
  options: XmlaListenOptions,
  bounds: XmlaBounds,
  serve: ServeConnection,
  log: Logger,
): XmlaServer {
  const connections = new OpenConnections<Connection>()
  const ends = new AbortController()
  const listenOn = (hostname: string) =>
    Bun.listen<Attached>({
      hostname,
      port: options.port,
      ...(options.tls && { tls: options.tls }),
      socket: {
        open(socket: Socket<Attached>) {
          const address = socket.remoteAddress
          const connection = new Connection(
            socket,
            address,
            options.tls !== undefined,
            isLoopback(address),
            bounds,
          )
          socket.data = { connection }
          connections.add(connection)
          void serve(connection, ends.signal)
            .catch((err: unknown) => log.error({ err }, 'a connection could not be closed cleanly'))
            .finally(() => connections.delete(connection))
        },
        data: (socket, chunk) => socket.data.connection?.received(chunk),
        drain: (socket) => socket.data.connection?.drained(),
        close: (socket) => socket.data?.connection?.closed(),
        error: (socket) => socket.data?.connection?.closed(),
        end: (socket) => socket.data?.connection?.closed(),
      },
    })
  const listener = options.hostname === undefined ? onEveryInterface(listenOn) : listenOn(options.hostname)
  return {
    port: listener.port,
    async stop(timeoutMs) {
      listener.stop(false)
      ends.abort()
      const finished = await connections.end(timeoutMs)
      listener.stop(true)
      return finished
    },
  }
}
