/** Runs the command line on a store that a test owns, in this process or in one of its own. */

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCall } from '../../src/admin/call.ts'
import type { OpenStore } from '../../src/admin/store-in-use.ts'
import type { Terminal } from '../../src/admin/terminal.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { requestRun } from '../support/check-rows.ts'
import { intentOf } from '../support/commits.ts'
import { storeTemplate, testSecretsKey } from '../support/store.ts'
import { quarantineSnapshot } from '../support/territory.ts'

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandLine extends AsyncDisposable {
  readonly folder: string
  /** Runs `admin …words` in this process, on a store that stays open. */
  run(words: readonly string[], options?: { readonly stdin?: string; readonly env?: Env }): Promise<Outcome>
  /** Runs it as a user does: a process that opens the store and closes it. `run` must not have been called. */
  spawn(words: readonly string[], options?: { readonly stdin?: string; readonly env?: Env }): Promise<Outcome>
  /** Leaves an intent that no process owns. @returns its commit id */
  leaveIntent(tenant: string): Promise<string>
  /** Leaves a snapshot in quarantine. @returns the id of its row */
  leaveQuarantine(tenant: string): Promise<string>
  /** Leaves a check run that waits. @returns its id */
  leaveCheckRun(tenant: string): Promise<string>
  /** Runs it in this process, expects success, and gives its JSON. */
  json<T>(words: readonly string[], stdin?: string): Promise<T>
}

type Env = Readonly<Record<string, string>>

interface RunOptions {
  readonly stdin?: string
  readonly env?: Env
}

/** Runs `admin …words` in this process, on a store that stays open. */
export function runOn(store: Store, words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return runWith(async () => ({ ...store, close: async () => {} }), words, options)
}

/** Runs `admin …words` in this process, where it must not open a store. */
export function runRemotely(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return runWith(() => Promise.reject(new Error('the store was opened')), words, options)
}

async function runWith(
  open: OpenStore,
  words: readonly string[],
  { stdin = '', env = {} }: RunOptions,
): Promise<Outcome> {
  const printed: string[] = []
  const complaints: string[] = []
  const terminal: Terminal = {
    env,
    stdin: async () => stdin,
    print: (text) => printed.push(`${text}\n`),
    complain: (text) => complaints.push(`${text}\n`),
  }
  const status = await runCall(words, terminal, open)
  return { status, stdout: printed.join(''), stderr: complaints.join('') }
}

/** An embedded store in a temporary directory, prepared as a first start would. */
export async function commandLine(): Promise<CommandLine> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-admin-'))
  mkdirSync(join(folder, 'data', 'store'), { recursive: true })
  cpSync(await storeTemplate(), join(folder, 'data', 'store', 'pg'), { recursive: true })
  writeFileSync(join(folder, 'data', 'secrets.key'), testSecretsKey, { mode: 0o600 })

  let opened: Promise<Store> | undefined
  const open = () =>
    (opened ??= openStore({
      dataDirectory: join(folder, 'data', 'store'),
      secretsKey: testSecretsKey,
      migrate: false,
      onNotice: () => {},
    }))

  async function run(
    words: readonly string[],
    { stdin = '', env = {} }: { readonly stdin?: string; readonly env?: Env } = {},
  ): Promise<Outcome> {
    return await runOn(await open(), words, { stdin, env })
  }

  async function spawn(
    words: readonly string[],
    { stdin = '', env = {} }: { readonly stdin?: string; readonly env?: Env } = {},
  ): Promise<Outcome> {
    const child = Bun.spawn([process.execPath, program, 'admin', ...words], {
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
    spawn,
    async leaveIntent(tenant) {
      const intent = intentOf()
      await openIntent(await open(), tenant as TenantId, intent, { leaseMs: 0, upstreamMs: 0 })
      return intent.commitId
    },
    leaveCheckRun: async (tenant) => await requestRun(await open(), tenant as TenantId),
    leaveQuarantine: async (tenant) => await quarantineSnapshot(await open(), tenant as TenantId),
    async json<T>(words: readonly string[], stdin = '') {
      const { status, stdout, stderr } = await run(words, { stdin })
      if (status !== 0) throw new Error(`admin ${words.join(' ')} ended with ${status}: ${stderr}`)
      return JSON.parse(stdout) as T
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
