/** What the listeners on raw sockets share: where they listen, whose loopback it is, and how they end. */

import { BlockList } from 'node:net'
import { contains } from '../base/cidr.ts'
import { limits } from '../limits.ts'

/** Listens on IPv6 and IPv4, as the HTTP listeners do; on IPv4 alone where the machine has no IPv6. */
export function onEveryInterface<T>(listenOn: (hostname: string) => T): T {
  try {
    return listenOn('::')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error
    return listenOn('0.0.0.0')
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a peer is on this machine, by its address. */
export function isLoopback(address: string): boolean {
  return contains(loopback, address.replace(/^::ffff:(?=\d+\.)/, ''))
}

/** The connections that a listener serves now. */
export class OpenConnections<T extends { terminate(): void }> {
  readonly #open = new Set<T>()
  #whenEmpty: (() => void) | undefined

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#open.values()
  }

  add(connection: T): void {
    this.#open.add(connection)
  }

  delete(connection: T): void {
    this.#open.delete(connection)
    if (this.#open.size === 0) this.#whenEmpty?.()
  }

  /**
   * Waits until all have ended, and closes those that have not.
   * @param cut tells one that its time is over; it may say so to its client before it is closed
   * @returns whether all ended in time
   */
  async end(timeoutMs: number, cut?: (connection: T) => void): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<true>()
    this.#whenEmpty = () => resolve(true)
    const finished =
      this.#open.size === 0 || (await Promise.race([promise, Bun.sleep(timeoutMs).then(() => false)]))
    if (!finished && cut !== undefined) {
      for (const connection of this.#open) cut(connection)
      await Promise.race([promise, Bun.sleep(limits.flushMs)])
    }
    for (const connection of this.#open) connection.terminate()
    return finished
  }
}
