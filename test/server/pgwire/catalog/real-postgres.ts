/** A connection to a real PostgreSQL, message by message, so that its results are read as the catalog's are. */

import { type Answer, frame, query, readAnswer } from './wire.ts'

export interface RealSession {
  /** Sends messages and reads up to ReadyForQuery. */
  send(messages: Uint8Array): Promise<Answer>
  run(...texts: readonly string[]): Promise<void>
  close(): void
}

/** @param socketPath of a server that trusts every client */
export async function openRealSession(
  socketPath: string,
  user: string,
  database: string,
): Promise<RealSession> {
  let pending: PromiseWithResolvers<Answer> | undefined
  let received = Buffer.alloc(0)
  const socket = await Bun.connect({
    unix: socketPath,
    socket: {
      data(_, chunk) {
        received = Buffer.concat([received, chunk])
        if (!endsReady(received)) return
        const answer = readAnswer(received)
        received = Buffer.alloc(0)
        pending?.resolve(answer)
      },
      close() {
        pending?.reject(new Error('PostgreSQL closed the connection'))
      },
    },
  })
  const send = (messages: Uint8Array) => {
    pending = Promise.withResolvers<Answer>()
    socket.write(messages)
    return pending.promise
  }
  const startup = Buffer.from(`\0\0\0\0\0\x03\0\0user\0${user}\0database\0${database}\0\0`)
  startup.writeUInt32BE(startup.length)
  await send(startup)
  return {
    send,
    async run(...texts) {
      for (const text of texts) {
        const { error } = await send(query(text))
        if (error) throw new Error(`${error.message}: ${text.slice(0, 200)}`)
      }
    },
    close() {
      socket.write(frame('X'))
      socket.end()
    },
  }
}

/** Whether the last message is ReadyForQuery, or a failure that ends the connection before the first. */
function endsReady(bytes: Buffer): boolean {
  let type = ''
  for (let at = 0; at < bytes.length; ) {
    if (at + 5 > bytes.length) return false
    const end = at + 1 + bytes.readUInt32BE(at + 1)
    if (end > bytes.length) return false
    type = String.fromCharCode(bytes[at] ?? 0)
    at = end
  }
  return type === 'Z'
}
