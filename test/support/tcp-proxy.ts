/** A TCP proxy that a test can cut or let hang, to part two processes from each other. */

import { connect, createServer, type Socket } from 'node:net'

/** `cut`: connections are closed, and new ones at once. `hang`: nothing passes, and nothing is closed. */
export type ProxyMode = 'pass' | 'cut' | 'hang'

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Sets the mode. Connections from before are closed, unless they hang from now on. */
  set(mode: ProxyMode): void
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function tcpProxy(hostname: string, port: number): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass'
  const open = new Set<Socket>()
  const track = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open.delete(socket))
  }
  const server = createServer((near) => {
    track(near)
    if (mode === 'cut') near.destroy()
    if (mode !== 'pass') return
    const far = connect(port, hostname)
    track(far)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  const listening = Promise.withResolvers<number>()
  server.on('error', listening.reject)
  server.listen(0, '127.0.0.1', () => listening.resolve((server.address() as { port: number }).port))
  const closeAll = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: await listening.promise,
    set(next) {
      mode = next
      if (mode !== 'hang') return closeAll()
      for (const socket of open) {
        socket.unpipe()
        socket.pause()
      }
    },
    async [Symbol.asyncDispose]() {
      closeAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
