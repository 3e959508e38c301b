/** Runs the PostgreSQL wire's listener: sockets, TLS and shutdown. It does not interpret messages. */

import type { BlockList } from 'node:net'
import type { Socket, TCPSocketListener } from 'bun'
import { contains } from '../../base/cidr.ts'
import { limits } from '../../limits.ts'
import { isLoopback, OpenConnections, onEveryInterface } from '../accepted-sockets.ts'
import type { Client } from './client.ts'
import { DirectTls, tlsHandshake } from './direct-tls.ts'
import { Inbox } from './inbox.ts'
import { Introductions, type SocketReceiver } from './introductions.ts'
import { Outbox } from './outbox.ts'
import { type ServeParts, serveClient } from './serve-client.ts'
import { WireError } from './wire-error.ts'

export interface TlsOptions {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface ListenOptions {
  readonly hostname: string | undefined
  /** 0: any free port. */
  readonly port: number
  readonly tls: TlsOptions | undefined
  /** Peers whose connections begin with a PROXY protocol header. Absent: none. */
  readonly proxies?: BlockList | undefined
}

export interface PgwireServer {
  readonly port: number
  /** The number of connected clients, also those not authenticated yet. */
  readonly connections: () => number
  readonly clients: () => Iterable<Client>
  /**
   * Accepts no more clients, lets statements under way finish and ends idle connections.
   * @returns whether all connections ended in time; the others are closed
   */
  stop(timeoutMs: number): Promise<boolean>
}

/** A garbage collection runs each time that this many connections were added. */
const connectionsACollection = 64

/**
 * Collects garbage while the number of connections grows. A login leaves far more garbage than live objects, and
 * those objects pin the memory blocks of the garbage. A stable number of connections causes no collection.
 */
class LoginGarbage {
  #collectedAt = 0

  grown(count: number): void {
    if (count < this.#collectedAt + connectionsACollection) return
    this.#collectedAt = count
    Bun.gc(false)
  }

  shrunk(count: number): void {
    // Half as many may come and go without a collection.
    this.#collectedAt = Math.min(this.#collectedAt, count + connectionsACollection / 2)
  }
}

/** The data attached to a socket: what its events go to. */
interface Attached {
  receiver: SocketReceiver
}

/** Starts the listener. */
export function listenPgwire(options: ListenOptions, parts: ServeParts): PgwireServer {
  const connections = new OpenConnections<Connection>()
  const garbage = new LoginGarbage()
  const serve = (socket: Socket<Attached>, source: string | undefined): Connection => {
    const connection = new Connection(socket, options.tls, source)
    socket.data = { receiver: connection }
    connections.add(connection)
    garbage.grown(connections.size)
    void serveClient(parts, connection)
      .catch((err: unknown) => parts.log.error({ err }, 'a connection could not be closed cleanly'))
      .finally(() => {
        connections.delete(connection)
        garbage.shrunk(connections.size)
      })
    return connection
  }
  const introductions = new Introductions<Attached>({
    ms: parts.authenticationMs ?? limits.pgwireAuthenticationMs,
    max: parts.slots.max.strangersMax,
    onClient: (socket, { address, rest }) => {
      const connection = serve(socket, address)
      if (rest.length > 0) connection.plainData(rest)
    },
    onRefused: (peer, sqlState, reason) => {
      parts.meter.refused(sqlState)
      parts.log.warn({ peer, reason }, 'a connection of a trusted proxy was closed')
    },
  })
  const listenOn = (hostname: string): TCPSocketListener<Attached> =>
    Bun.listen<Attached>({
      hostname,
      port: options.port,
      socket: {
        open(socket) {
          const { proxies } = options
          if (proxies === undefined || !contains(proxies, socket.remoteAddress)) serve(socket, undefined)
          else socket.data = { receiver: introductions.open(socket) }
        },
        data: (socket, chunk) => socket.data.receiver.plainData(chunk),
        drain: (socket) => socket.data.receiver.plainDrained(),
        close: (socket) => socket.data.receiver.ended(),
        error: (socket) => socket.data.receiver.closed(),
        end: (socket) => socket.data.receiver.closed(),
      },
    })
  const listener = options.hostname === undefined ? onEveryInterface(listenOn) : listenOn(options.hostname)
  return {
    port: listener.port,
    connections: () => connections.size,
    clients: () => connections,
    async stop(timeoutMs) {
      listener.stop(false)
      introductions.end()
      const reason = new WireError('57P01', 'terminating connection due to administrator command', 'FATAL')
      for (const { inbox } of connections) inbox.interrupt(reason)
      const finished = await connections.end(timeoutMs, ({ cut }) => cut?.(reason))
      listener.stop(true)
      return finished
    },
  }
}

/** The ALPN list of the one name that libpq offers: its length and the name. */
const protocolNames = Buffer.from('\x0apostgresql', 'latin1')

/** The current way to the client: the plain socket, or TLS on it. */
interface Channel {
  write(bytes: Uint8Array): number
  end(): void
}

/** One socket, in plain text until TLS starts. */
class Connection implements Client, SocketReceiver {
  readonly inbox: Inbox
  readonly outbox: Outbox
  readonly address: string
  readonly isLoopback: boolean
  readonly #gone = new AbortController()
  cut: Client['cut']
  #channel: Channel
  #encryption: 'none' | 'upgraded' | DirectTls = 'none'
  #hasRead = false
  #hasEnded = false
  #lingering: Timer | undefined

  constructor(
    readonly plain: Socket<Attached>,
    readonly tls: TlsOptions | undefined,
    source: string | undefined,
  ) {
    this.#channel = plain
    this.address = source ?? plain.remoteAddress
    // Behind a proxy on this machine, a client elsewhere may have sent its bytes in plain text.
    this.isLoopback = isLoopback(plain.remoteAddress) && isLoopback(this.address)
    this.inbox = new Inbox(() => this.terminate())
    this.outbox = new Outbox(plain)
  }

  get isEncrypted(): boolean {
    return this.#encryption !== 'none'
  }

  get offersTls(): boolean {
    return this.tls !== undefined
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  startTls(): void {
    if (this.tls === undefined) throw new Error('TLS is not configured')
    this.#encryption = 'upgraded'
    const [, secured] = this.plain.upgradeTLS<undefined>({
      data: undefined,
      isServer: true,
      tls: { ...this.tls, ALPNProtocols: protocolNames },
      socket: {
        data: (_: unknown, chunk: Uint8Array) => this.inbox.push(chunk),
        drain: () => this.outbox.drained(),
        close: () => this.closed(),
        error: () => this.closed(),
        end: () => this.closed(),
      },
    } as never)
    this.#redirect(secured as Socket<unknown>)
  }

  plainData(chunk: Uint8Array): void {
    if (!this.#hasRead && chunk[0] === tlsHandshake && this.tls !== undefined) this.#startDirectTls(this.tls)
    this.#hasRead = true
    if (this.#encryption === 'none') this.inbox.push(chunk)
    else if (this.#encryption !== 'upgraded') this.#encryption.feed(chunk)
    // After the upgrade, the plain handlers still receive the ciphertext, which the TLS handlers have already read.
  }

  plainDrained(): void {
    if (this.#encryption === 'none') this.outbox.drained()
    else if (this.#encryption !== 'upgraded') this.#encryption.sinkDrained()
  }

  #startDirectTls(tls: TlsOptions): void {
    const direct = new DirectTls(tls, this.plain, {
      data: (chunk) => this.inbox.push(chunk),
      drained: () => this.outbox.drained(),
      closed: () => this.terminate(),
    })
    this.#encryption = direct
    this.#redirect(direct)
  }

  #redirect(channel: Channel): void {
    this.#channel = channel
    this.outbox.redirect(channel)
  }

  end(): void {
    this.closed()
    this.#channel.end()
    // The socket is terminated even if the client never closes its side.
    if (this.#hasEnded) return
    this.#lingering = setTimeout(() => this.plain.terminate(), limits.flushMs)
    this.#lingering.unref()
  }

  /** The socket is closed, on both sides. */
  ended(): void {
    this.#hasEnded = true
    clearTimeout(this.#lingering)
    this.closed()
  }

  /** The client has disconnected. */
  closed(): void {
    if (this.#gone.signal.aborted) return
    this.#gone.abort()
    this.inbox.closed()
    this.outbox.closed()
  }

  terminate(): void {
    this.closed()
    this.plain.terminate()
  }
}
