/**
 * The embedded database: a data directory held exclusively, and one session with PGlite in a Worker.
 * It survives the death of the process, not of the machine (no fsync).
 */

import { Database } from 'bun:sqlite'
import { accessSync, constants, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import type { FromWorker, ToWorker } from './embedded-worker.ts'
import { type Engine, type Link, listenText, type OnNotification, sessionOptions } from './link.ts'

export interface EmbeddedOptions {
  readonly dataDirectory: string
  /** A prepared data directory to start from, where `dataDirectory` is new. */
  readonly template?: string
  readonly statementMs: number
  readonly onNotification?: OnNotification
}

/** How long a terminated worker may take to stop before the directory counts as unusable. */
const terminateMs = 10_000

/**
 * @throws Fault `misconfigured` where another process, or another store of this one, holds the directory
 */
export async function embeddedEngine(options: EmbeddedOptions): Promise<Engine> {
  const unlock = lockDirectory(options.dataDirectory)
  const dataDir = join(options.dataDirectory, 'pg')
  try {
    await prepareData(dataDir, options.template)
  } catch (error) {
    unlock()
    throw error
  }
  let current: Promise<void> = Promise.resolve()
  return {
    name: 'embedded',
    linksMax: 1,
    statementMs: options.statementMs,
    async open(as) {
      // Two workers on one directory lose rows without an error.
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

/** A lock that the operating system drops with the process that held it, however that died. */
function lockDirectory(directory: string): () => void {
  let lock: Database | undefined
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, 'lock')
    lock = new Database(path)
    // SQLite opens what it may not write for reading, where an exclusive lock keeps nobody out.
    accessSync(path, constants.W_OK)
    lock.run('begin exclusive')
    const held = lock
    return () => held.close()
  } catch (cause) {
    lock?.close()
    const busy = (cause as { code?: unknown }).code === 'SQLITE_BUSY'
    const why = busy ? 'is in use by another process' : 'cannot be written to'
    throw new Fault('misconfigured', `The data directory ${directory} ${why}.`, { cause })
  }
}

/** A half-made directory never gets the name under which it would be opened. */
async function prepareData(dataDir: string, template: string | undefined): Promise<void> {
  if (existsSync(dataDir)) return
  const partial = `${dataDir}.partial`
  rmSync(partial, { recursive: true, force: true })
  if (template !== undefined) {
    cpSync(template, partial, { recursive: true })
  } else {
    const { worker, ended } = await startWorker(partial)
    worker.postMessage({ close: true } satisfies ToWorker)
    await ended
  }
  renameSync(partial, dataDir)
}

interface RunningWorker {
  readonly worker: Worker
  /** Resolves when the thread has stopped. */
  readonly ended: Promise<void>
  onData: (data: Uint8Array) => void
}

let compiling: Promise<WebAssembly.Module> | undefined

/** The database's program, compiled once a process: a Worker starts with what others have optimised of it. */
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
  worker.addEventListener('message', (event: MessageEvent<FromWorker>) => {
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
  worker.postMessage({ open: dataDir, wasm } satisfies ToWorker)
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
      // A copy: the chunk may be a view of a shared buffer, and the copy can be handed over.
      const data = new Uint8Array(chunk)
      worker.postMessage({ data } satisfies ToWorker, [data.buffer])
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
    ...sessionOptions,
    user: 'postgres',
    database: 'postgres',
    // Not in the library's types: a stream in the place of a socket, already connected.
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
    if (first === 'late') throw new Fault('unavailable', 'The embedded database does not stop.')
  }
  const link: Link = {
    sql,
    cancellable: false,
    get dead() {
      return dead
    },
    async close() {
      dead = true
      worker.postMessage({ close: true } satisfies ToWorker)
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
