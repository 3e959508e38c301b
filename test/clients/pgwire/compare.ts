/** Runs one client against two servers, and compares step by step what it printed. */

import type { Finished } from '../processes.ts'

export interface ClientStep {
  readonly step: string
  readonly value?: unknown
  readonly error?: string
}

/** @throws Error with the end of its output where the client did not run to its end */
export function stepsOf(name: string, { exitCode, output }: Finished): readonly ClientStep[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{"'))
  if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}:\n${output.slice(-3_000)}`)
  return lines.map((line) => JSON.parse(line) as ClientStep)
}

/** The steps whose answers differ, as `[step, ours, PostgreSQL's]`. */
export function differences(
  ours: readonly ClientStep[],
  theirs: readonly ClientStep[],
): readonly (readonly [string, unknown, unknown])[] {
  const steps = [...new Set([...theirs, ...ours].map(({ step }) => step))]
  const answer = (all: readonly ClientStep[], name: string) => {
    const found = all.filter(({ step }) => step === name)
    return found.length === 0 ? 'no answer' : found.map(({ value, error }) => error ?? value)
  }
  return steps.flatMap((step) => {
    const [mine, other] = [answer(ours, step), answer(theirs, step)]
    return Bun.deepEquals(mine, other) ? [] : [[step, mine, other] as const]
  })
}
