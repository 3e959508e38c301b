/**
 * Runs the embedded database: an exclusively locked data directory and one connection to PGlite in a Worker.
 * Acknowledged writes survive the death of the process, not of the machine (no fsync).
 */

import { Database } from 'bun:sqlite'
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import type { FromStoreWorker, ToStoreWorker } from './embedded-worker.ts'
import { connectionOptions, type Link, listenText, type OnNotification, type StoreBackend } from './link.ts'
import { assertNotMoved } from './move-mark.ts'

interface EmbeddedOptions {
  readonly dataDirectory: string
  /** A prepared data directory that is copied where `dataDirectory` is new. */
  readonly template?: string
  readonly statementMs: number
  readonly onNotification?: OnNotification
  /** Only a move opens data that are being moved, or were. */
  readonly mayBeMoved?: true
}

/** Milliseconds that a terminated worker may take to stop before the directory is unusable. */
const terminateMs = 10_000

/**
 * Locks the data directory and opens the embedded database in it.
 * @throws Fault `misconfigured` where another process, or another store of this process, holds the directory, or its data
 * are in a database by now
 */
export async function embeddedBackend(options: EmbeddedOptions): Promise<StoreBackend> {
  const unlock = lockDirectory(options.dataDirectory)
  const dataDir = join(options.dataDirectory, 'pg')
  try {
    if (!options.mayBeMoved) assertNotMoved(options.dataDirectory)
    await prepareData(dataDir, options.template)
  } catch (error) {
    unlock()
    throw error
  }
  let current: Promise<void> = Promise.resolve()
  return {
    name: 'embedded',
    linksMax: 1,
    // The only connection is the database itself.
    tenantsOfLinkMax: Number.POSITIVE_INFINITY,
    statementMs: options.statementMs,
    async open(as) {
      // Two workers on one directory would lose rows without an error.
      await current
      const ended = Promise.withResolvers<void>()
      current = ended.promise
      return openEmbeddedLink(dataDir, as, options.onNotification ?? (() => {}), ended.resolve)
    },
    listen: async () => undefined,
    async close() {
      await current
      unlock()
    },
  }
}

/** Takes a lock that the operating system releases when the process ends, however it ends. */
function lockDirectory(directory: string): () => void {
  let lock: Database | undefined
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, 'lock')
    lock = new Database(path)
    // SQLite opens a file without write permission for reading, and an exclusive lock on it excludes nobody.
    accessSync(path, constants.W_OK)
    lock.run('begin exclusive')
    const held = lock
    return () => held.close()
  } catch (cause) {
    lock?.close()
    const busy = (cause as { code?: unknown }).code === 'SQLITE_BUSY'
    const why = busy ? 'is in use by another process' : 'cannot be written to'
    throw new Fault('misconfigured', `The data directory ${directory} ${why}.`, {
      cause,
      ...(busy && { type: 'StoreInUse' }),
    })
  }
}

/**
 * Whether another process has the data directory open.
 * @throws Fault `misconfigured` where its lock cannot be tried
 */
export function isHeld(directory: string): boolean {
  if (!existsSync(join(directory, 'lock'))) return false
  try {
    lockDirectory(directory)()
    return false
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.type === 'StoreInUse') return true
    throw thrown
  }
}

/** Prepares the data under another name and then renames it, so that a half-made directory is never opened. */
async function prepareData(dataDir: string, template: string | undefined): Promise<void> {
  if (existsSync(dataDir)) return
  const partial = `${dataDir}.partial`
  rmSync(partial, { recursive: true, force: true })
  if (template !== undefined) {
    copyFolder(template, partial)
  } else {
    const { worker, ended } = await startWorker(partial)
    worker.postMessage({ close: true } satisfies ToStoreWorker)
    await ended
  }
  renameSync(partial, dataDir)
}

/** Half as long as `cpSync` takes, which looks at each file several times. There are no links in a data directory. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const copy = entry.isDirectory() ? copyFolder : copyFileSync
    copy(join(from, entry.name), join(to, entry.name))
  }
}

interface RunningWorker {
  readonly worker: Worker
  /** Resolves when the thread has stopped. */
  readonly ended: Promise<void>
  onData: (data: Uint8Array) => void
}

let compiling: Promise<WebAssembly.Module> | undefined

/** The database's WebAssembly, compiled once per process, so that a Worker starts with code already optimised. */
function program(): Promise<WebAssembly.Module> {
  compiling ??= compileProgram().catch((error) => {
    compiling = undefined
    throw error
  })
  return compiling
}

async function compileProgram(): Promise<WebAssembly.Module> {
  const file = new URL('./pglite.wasm', import.meta.resolve('@electric-sql/pglite'))
  return WebAssembly.compile(await Bun.file(file).arrayBuffer())
}

async function startWorker(dataDir: string): Promise<RunningWorker> {
  const wasm = await program()
  const worker = new Worker(new URL('./embedded-worker.ts', import.meta.url))
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const running: RunningWorker = { worker, ended: ended.promise, onData: () => {} }
  worker.addEventListener('message', (event: MessageEvent<FromStoreWorker>) => {
    const message = event.data
    if ('data' in message) running.onData(message.data)
    else if ('opened' in message) opened.resolve()
    else worker.terminate()
    if ('failed' in message) opened.reject(new Error(`embedded database: ${message.failed}`))
  })
  worker.addEventListener('error', (event) => {
    opened.reject(new Error(`embedded database: ${event.message}`))
    worker.terminate()
  })
  worker.addEventListener('close', () => {
    opened.reject(new Error('embedded database: the worker stopped'))
    ended.resolve()
  })
  worker.postMessage({ open: dataDir, wasm } satisfies ToStoreWorker)
  await opened.promise
  return running
}

async function openEmbeddedLink(
  dataDir: string,
  as: 'tenant' | 'connecting',
  onNotification: OnNotification,
  onEnded: () => void,
): Promise<Link> {
  let running: RunningWorker
  try {
    running = await startWorker(dataDir)
  } catch (error) {
    onEnded()
    throw error
  }
  const { worker, ended } = running
  let dead = false
  const socket = new Duplex({
    read() {},
    write(chunk: Uint8Array, _, done) {
      // A copy, because the chunk may be a view of a shared buffer. The copy can be transferred.
      const data = new Uint8Array(chunk)
      worker.postMessage({ data } satisfies ToStoreWorker, [data.buffer])
      done()
    },
  })
  running.onData = (data) => socket.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  void ended.then(() => {
    dead = true
    socket.destroy()
    onEnded()
  })
  const sql: postgres.Sql = postgres({
    ...connectionOptions,
    user: 'postgres',
    database: 'postgres',
    // Not in the library's types: a connected stream in place of a socket.
    socket: () => socket,
    onnotify: (_: string, message: string) => onNotification(message),
    onclose: () => {
      dead = true
      void sql.end({ timeout: 0 })
    },
  } as postgres.Options<Record<string, never>>) as unknown as postgres.Sql
  const stopped = async () => {
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => late.resolve('late'), terminateMs)
    const first = await Promise.race([ended, late.promise])
    clearTimeout(timer)
    if (first === 'late')
      throw new Fault('unavailable', 'The embedded database does not stop: restart the process.')
  }
  const link: Link = {
    sql,
    cancellable: false,
    settings: '',
    get dead() {
      return dead
    },
    async close() {
      dead = true
      worker.postMessage({ close: true } satisfies ToStoreWorker)
      await stopped()
      await sql.end({ timeout: 0 })
    },
    async discard() {
      dead = true
      worker.terminate()
      socket.destroy()
      await Promise.all([stopped(), sql.end({ timeout: 0 })])
    },
  }
  try {
    await sql.unsafe(as === 'tenant' ? `set role svc_tenant; ${listenText}` : listenText).simple()
    return link
  } catch (error) {
    await link.discard()
    throw error
  }
}
