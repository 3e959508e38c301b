/** Runs Python clients: a script below scripts/ takes steps and reports each on a line. */

import { join } from 'node:path'
import { openClient, runClient } from './processes.ts'

export interface Step {
  readonly step: string
  readonly value?: unknown
  /** Class of what was raised; absent where nothing was. */
  readonly error?: string
  readonly message?: string
}

export interface SessionOptions {
  readonly python: string
  readonly script: string
  readonly log: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** After which it is ended. */
  readonly seconds: number
}

/**
 * Runs one session to its end.
 * @returns one report a step, in order
 * @throws Error with all output where the session ended early
 */
export async function runSession(options: SessionOptions): Promise<readonly Step[]> {
  const { python, script, log, args, env, seconds } = options
  const path = join(import.meta.dir, 'scripts', script)
  const { output, exitCode } = await runClient(log, [python, path, ...args], { seconds, env })
  const steps = [...output.matchAll(/^STEP (.*)$/gm)].map(([, line = '']) => JSON.parse(line) as Step)
  if (exitCode !== 0) throw new Error(`${log} ended with ${exitCode}:\n${output.slice(-3000)}`)
  return steps
}

/** A session that takes its steps one by one, so that a test acts between them. */
export interface OpenSession extends AsyncDisposable {
  /** Sends one step, as a line of JSON. @throws Error with the end of the output where the session ended before */
  ask(step: unknown): Promise<Step>
}

/** Starts a session whose script reads its steps from standard input. */
export function openSession({ python, script, log, args, env, seconds }: SessionOptions): OpenSession {
  const path = join(import.meta.dir, 'scripts', script)
  const client = openClient(log, [python, path, ...args], { seconds, env })
  return {
    async ask(step) {
      client.write(`${JSON.stringify(step)}\n`)
      for (;;) {
        const line = await client.nextLine()
        if (line === undefined) throw new Error(`${log} ended:\n${client.tail()}`)
        if (line.startsWith('STEP ')) return JSON.parse(line.slice('STEP '.length)) as Step
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}
