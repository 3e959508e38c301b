/** The real command line in a process of its own, on a store that a test owns. */

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { storeTemplate } from '../support/store.ts'

const program = fileURLToPath(new URL('../../src/admin.ts', import.meta.url))

export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandLine extends Disposable {
  readonly folder: string
  /** Runs `admin …words`. */
  run(words: readonly string[], options?: { readonly stdin?: string; readonly env?: Env }): Promise<Outcome>
  /** Runs it, expects success, and gives its JSON. */
  json<T>(words: readonly string[], stdin?: string): Promise<T>
}

type Env = Readonly<Record<string, string>>

/** An embedded store in a temporary directory, prepared as a first start would. */
export async function commandLine(): Promise<CommandLine> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-admin-'))
  mkdirSync(join(folder, 'data', 'store'), { recursive: true })
  cpSync(await storeTemplate(), join(folder, 'data', 'store', 'pg'), { recursive: true })

  async function run(
    words: readonly string[],
    { stdin = '', env = {} }: { readonly stdin?: string; readonly env?: Env } = {},
  ): Promise<Outcome> {
    const child = Bun.spawn([process.execPath, program, ...words], {
      env: { PATH: process.env.PATH, SVC_DATA_DIR: join(folder, 'data'), ...env },
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { status, stdout, stderr }
  }

  return {
    folder,
    run,
    async json<T>(words: readonly string[], stdin = '') {
      const { status, stdout, stderr } = await run(words, { stdin })
      if (status !== 0) throw new Error(`admin ${words.join(' ')} ended with ${status}: ${stderr}`)
      return JSON.parse(stdout) as T
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
