/** The catalog's Worker thread. It holds a PGlite in memory and runs the host's requests one after another. */

import { PGlite } from '@electric-sql/pglite'
import { limits } from '../../../limits.ts'
import { queryMessage, readBackend } from './messages.ts'
import { endStatement } from './session-sql.ts'
import { createDatabase, databaseName, dropOthers, snapshotSql } from './snapshot-sql.ts'
import type { CatalogWorkerRequest, CatalogWorkerResult } from './worker-protocol.ts'

/** Bytes of its temporary files. */
const catalogTempBytesMax = 64 * 1024 * 1024

/** Memory of one catalog database, of which 5,000 tables with keys take 400 MiB. */
const catalogHeapBytesMax = 1024 * 1024 * 1024

declare const self: Worker

/**
 * -b allows the OIDs of created objects to be chosen. A scope of thousands of tables is created and dropped in one
 * transaction, which takes a lock for each table.
 */
const startParams = [
  ...[...PGlite.defaultStartParams, '-b', '-c', 'max_locks_per_transaction=1024'],
  // Temporary files are in memory, too.
  ...['-c', `temp_file_limit=${catalogTempBytesMax / 1024}kB`],
  // Files are in memory: a second copy of their pages and a long log would only take more of it.
  ...[
    '-c',
    'shared_buffers=32MB',
    '-c',
    'full_page_writes=off',
    '-c',
    'min_wal_size=32MB',
    '-c',
    'max_wal_size=32MB',
  ],
]

/** Caps the database's memory, because a statement could take any amount and never return it. Excess fails with 53200. */
const { grow } = WebAssembly.Memory.prototype
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * 65_536 > catalogHeapBytesMax)
    throw new RangeError('the database has all the memory that it may have')
  return grow.call(this, pages)
}

let db: PGlite | undefined

class TooLarge extends Error {}

function ask(messages: Uint8Array): Uint8Array {
  if (db === undefined) throw new Error('not open')
  const parts: Uint8Array[] = []
  let size = 0
  // The work is done before the call returns. Its promise waits only for the file system.
  db.execProtocolRawStream(messages, {
    syncToFs: false,
    onRawData(part) {
      size += part.length
      // An error cannot be thrown through the database, so excess output is dropped until the statement ends.
      if (size > limits.catalogAnswerBytesMax) parts.length = 0
      else parts.push(part.slice())
    },
  })
  if (size > limits.catalogAnswerBytesMax) throw new TooLarge()
  return Buffer.concat(parts)
}

/** Runs statements of ours. @throws Error where one fails or leaves a transaction open */
function perform(text: string): void {
  const { failed, status, messages } = readBackend(ask(queryMessage(text)))
  if (failed || status !== 'I') throw new Error(`${new TextDecoder().decode(messages).slice(0, 500)}`)
}

/** Runs a client's messages between our own begin and end. */
function runStatement(begin: string, frontend: Uint8Array): Uint8Array {
  const begun = readBackend(ask(queryMessage(begin)))
  const answer = begun.failed ? begun : readBackend(ask(frontend))
  perform(endStatement)
  return answer.failed && begun.failed ? onlyErrors(begun.messages) : answer.messages
}

/** Keeps only the error, because the SQL that begins a statement also returns other messages. */
function onlyErrors(messages: Uint8Array): Uint8Array {
  const view = new DataView(messages.buffer, messages.byteOffset, messages.byteLength)
  for (let at = 0; at < messages.length; at += 1 + view.getUint32(at + 1))
    if (messages[at] === 0x45) return messages.slice(at, at + 1 + view.getUint32(at + 1))
  throw new Error('a failure without an error')
}

async function receive(message: CatalogWorkerRequest): Promise<CatalogWorkerResult> {
  if (message.kind === 'build') {
    const first = await PGlite.create({ startParams })
    for (const text of createDatabase) await first.exec(text)
    const loadDataDir = await first.dumpDataDir('none')
    await first.close()
    const built = await PGlite.create({ startParams, loadDataDir, database: databaseName })
    for (const text of dropOthers) await built.exec(text)
    await built.exec(snapshotSql)
    const snapshot = await (await built.dumpDataDir('none')).arrayBuffer()
    return { kind: 'built', snapshot }
  }
  if (message.kind === 'open') {
    const loadDataDir = new Blob([message.snapshot])
    db = await PGlite.create({ startParams, loadDataDir, database: databaseName })
    // Without a postmaster the session has no authorization, so a rollback would have none to return to.
    perform('set session authorization postgres')
    return { kind: 'done' }
  }
  if (message.kind === 'perform') {
    for (const text of message.texts) perform(text)
    return { kind: 'done' }
  }
  return { kind: 'answered', messages: runStatement(message.begin, message.frontend) }
}

self.onmessage = async ({ data }: MessageEvent<CatalogWorkerRequest>) => {
  try {
    self.postMessage(await receive(data))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    self.postMessage({
      kind: 'failed',
      tooLarge: error instanceof TooLarge,
      reason,
    } satisfies CatalogWorkerResult)
  }
}
