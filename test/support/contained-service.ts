/** The program itself in a process of its own, within a bound on memory from its first moment; and commits that are large. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryGroup } from './memory-group.ts'
import { anyPorts } from './start-program.ts'
import { testSecretsKey } from './store.ts'

const root = join(import.meta.dir, '../..')

export interface ContainedService extends AsyncDisposable {
  readonly url: string
  readonly metricsUrl: string
  readonly pgwirePort: number
  readonly isAlive: () => boolean
  /** The most that was resident so far, in MiB. */
  readonly peakMiB: () => number
}

export interface ContainedOptions {
  /** Whose files it may read. */
  readonly folder: string
  readonly dataDirectory: string
  readonly env?: Readonly<Record<string, string>>
}

/** @param container absent: without a bound of the kernel's */
export async function serveContained(
  container: MemoryGroup | undefined,
  { folder, dataDirectory, env }: ContainedOptions,
): Promise<ContainedService> {
  const words = [process.execPath, 'src/main.ts', 'serve']
  const child = Bun.spawn(container?.command(words) ?? words, {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      ...anyPorts,
      SVC_DATA_DIR: dataDirectory,
      SVC_READ_DIR: folder,
      SVC_SECRETS_KEY: Buffer.from(testSecretsKey).toString('hex'),
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
      SVC_LOG_LEVEL: 'info',
      UV_THREADPOOL_SIZE: '16',
      ...env,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const listening = Promise.withResolvers<{ url: string; metrics: string; pgwirePort: number }>()
  void (async () => {
    let text = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const line = text.split('\n').find((each) => each.includes('"msg":"listening"'))
      if (line !== undefined) {
        listening.resolve(JSON.parse(line))
        text = ''
      }
    }
    listening.reject(new Error(`the service ended: ${text}`))
  })()
  const { url, metrics, pgwirePort } = await listening.promise
  return {
    url,
    metricsUrl: metrics,
    pgwirePort,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    peakMiB: () =>
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** A commit of so many bytes at most. It removes snapshots that do not exist, so its table does not grow. */
export function commitOf(bytesMax: number): Uint8Array<ArrayBuffer> {
  const head = '{"requirements":[],"updates":[{"action":"remove-snapshots","snapshot-ids":['
  const id = '9007199254740993'
  const count = Math.max(Math.floor((bytesMax - head.length - 4) / (id.length + 1)), 1)
  return new Uint8Array(Buffer.from(`${head}${Array(count).fill(id).join(',')}]}]}`))
}
