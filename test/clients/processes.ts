/** Runs servers and clients as child processes: free loopback ports, a timeout each, logs in .cache/logs. */

import { mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { recordAs } from '../support/wire-recorder.ts'

const logs = new URL('../../.cache/logs/', import.meta.url).pathname

export interface ServerProcess extends AsyncDisposable {
  readonly log: string
}

/**
 * Starts a server and waits until it answers.
 * @param ready an address that answers 2xx or 4xx as soon as the server is of use
 * @throws Error with the end of its log where it ends, or is not ready in time
 */
export async function startServer(
  name: string,
  command: readonly string[],
  ready: string,
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly seconds?: number
    readonly cwd?: string
  } = {},
): Promise<ServerProcess> {
  const log = logFile(name)
  const output = openSync(log, 'w')
  const child = Bun.spawn([...command], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', output, output],
  })
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  const deadline = performance.now() + (options.seconds ?? 90) * 1000
  for (;;) {
    try {
      const answer = await fetch(ready, { signal: AbortSignal.timeout(2000) })
      await answer.bytes()
      if (answer.status < 500) return { log, [Symbol.asyncDispose]: stop }
    } catch {
      // Not listening yet.
    }
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${name} did not start:\n${tail(log)}`)
    }
    await Bun.sleep(200)
  }
}

export interface Finished {
  readonly exitCode: number
  /** Standard output and error as they came. */
  readonly output: string
}

/** Runs a client to its end, and keeps what it printed in .cache/logs. */
export async function runClient(
  name: string,
  command: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly seconds: number
    readonly cwd?: string
  },
): Promise<Finished> {
  recordAs(name)
  const log = logFile(name)
  const output = openSync(log, 'w')
  const child = Bun.spawn([...command], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', output, output],
    timeout: options.seconds * 1000,
    killSignal: 'SIGKILL',
  })
  const exitCode = await child.exited
  return { exitCode, output: readFileSync(log, 'utf8') }
}

export interface OpenClient extends AsyncDisposable {
  write(text: string): void
  /** The next line of standard output; undefined once there is none. */
  nextLine(): Promise<string | undefined>
  /** The end of its log. */
  tail(): string
}

/** Starts a client that is talked to: its output is read line by line, and kept in .cache/logs with its errors. */
export function openClient(
  name: string,
  command: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly seconds: number },
): OpenClient {
  const log = logFile(name)
  const output = openSync(log, 'w')
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', output],
    timeout: options.seconds * 1000,
    killSignal: 'SIGKILL',
  })
  const lines = linesOf(child.stdout)
  return {
    write(text) {
      child.stdin.write(text)
      child.stdin.flush()
    },
    async nextLine() {
      const { value } = await lines.next()
      if (value !== undefined) writeSync(output, `${value}\n`)
      return value
    },
    tail: () => tail(log),
    async [Symbol.asyncDispose]() {
      // It ends with its input, and by its timeout otherwise.
      await child.stdin.end()
      await child.exited
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
  return undefined
}

function logFile(name: string): string {
  mkdirSync(logs, { recursive: true })
  return `${logs}${name}.log`
}

function tail(log: string): string {
  return readFileSync(log, 'utf8').trim().split('\n').slice(-20).join('\n')
}
