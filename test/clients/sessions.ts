/** Runs Python clients: a script below scripts/ takes steps and reports each on a line. */

import { join } from 'node:path'
import { runClient } from './processes.ts'

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
