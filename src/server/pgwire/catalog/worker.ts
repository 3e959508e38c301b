/** The catalog's thread: a PGlite of its own in memory, which runs what the host sends, one after another. */

import { PGlite } from '@electric-sql/pglite'
import { limits } from '../../../limits.ts'
import { queryMessage, readBackend } from './messages.ts'
import { endStatement } from './session-sql.ts'
import { snapshotSql } from './snapshot-sql.ts'
import type { FromWorker, ToWorker } from './worker-protocol.ts'

declare const self: Worker

/**
 * -b lets the OIDs of what is created be chosen; a scope of thousands of tables is made and dropped in one
 * transaction, which takes a lock each.
 */
const startParams = [
  ...[...PGlite.defaultStartParams, '-b', '-c', 'max_locks_per_transaction=1024'],
  // Its files are in memory, too.
  ...['-c', `temp_file_limit=${limits.catalogTempBytesMax / 1024}kB`],
]

/** A statement may ask for memory without end, and what is taken is never given back: here it ends, with 53200. */
const { grow } = WebAssembly.Memory.prototype
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * 65_536 > limits.catalogHeapBytesMax)
    throw new RangeError('the database has all the memory that it may have')
  return grow.call(this, pages)
}

let db: PGlite | undefined

class TooLarge extends Error {}

function ask(messages: Uint8Array): Uint8Array {
  if (db === undefined) throw new Error('not open')
  const parts: Uint8Array[] = []
  let size = 0
  // The callback is set and the work done before the call returns; its promise is of a file system only.
  db.execProtocolRawStream(messages, {
    syncToFs: false,
    onRawData(part) {
      size += part.length
      // Nothing can be thrown through the database; what is too much is dropped until it ends.
      if (size > limits.catalogAnswerBytesMax) parts.length = 0
      else parts.push(part.slice())
    },
  })
  if (size > limits.catalogAnswerBytesMax) throw new TooLarge()
  return Buffer.concat(parts)
}

/** Runs statements of ours. @throws Error where one fails, or a transaction is left open */
function perform(text: string): void {
  const { failed, status, messages } = readBackend(ask(queryMessage(text)))
  if (failed || status !== 'I') throw new Error(`${new TextDecoder().decode(messages).slice(0, 500)}`)
}

/** A client's statement between a begin and an end of ours. */
function runStatement(begin: string, frontend: Uint8Array): Uint8Array {
  const begun = readBackend(ask(queryMessage(begin)))
  const answer = begun.failed ? begun : readBackend(ask(frontend))
  perform(endStatement)
  return answer.failed && begun.failed ? onlyErrors(begun.messages) : answer.messages
}

/** What begins a statement answers with more than the error that stopped it. */
function onlyErrors(messages: Uint8Array): Uint8Array {
  const view = new DataView(messages.buffer, messages.byteOffset, messages.byteLength)
  for (let at = 0; at < messages.length; at += 1 + view.getUint32(at + 1))
    if (messages[at] === 0x45) return messages.slice(at, at + 1 + view.getUint32(at + 1))
  throw new Error('a failure without an error')
}

async function receive(message: ToWorker): Promise<FromWorker> {
  if (message.kind === 'build') {
    const built = await PGlite.create({ startParams })
    await built.exec(snapshotSql)
    const snapshot = await (await built.dumpDataDir('none')).arrayBuffer()
    return { kind: 'built', snapshot }
  }
  if (message.kind === 'open') {
    db = await PGlite.create({ startParams, loadDataDir: new Blob([message.snapshot]) })
    // A session without a postmaster starts with none, so a rollback would have none to return to.
    perform('set session authorization postgres')
    return { kind: 'done' }
  }
  if (message.kind === 'perform') {
    for (const text of message.texts) perform(text)
    return { kind: 'done' }
  }
  return { kind: 'answered', messages: runStatement(message.begin, message.frontend) }
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    self.postMessage(await receive(data))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    self.postMessage({ kind: 'failed', tooLarge: error instanceof TooLarge, reason } satisfies FromWorker)
  }
}
