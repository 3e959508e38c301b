/** A PostgreSQL server that refuses every client with one error. */

export interface RefusingDatabase extends AsyncDisposable {
  readonly port: number
}

/** Starts listening. */
export function refusingDatabase(sqlState: string, message: string): RefusingDatabase {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(4 + fields.length, 1)
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write(Buffer.concat([head, fields]))
        socket.end()
      },
    },
  })
  return {
    port: listener.port,
    async [Symbol.asyncDispose]() {
      listener.stop(true)
    },
  }
}
