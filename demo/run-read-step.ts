/** Runs one query over the PostgreSQL wire, and reports where its result differs from the expected one. */

import { listUsage } from '../src/store/query/usage.ts'
import { runPsql } from './psql.ts'
import type { ReadStep, ReadUsage } from './read-steps.ts'
import type { World } from './world.ts'

export interface ReadObservation {
  readonly printed: string
  /** Usage records that the tenant gained. */
  readonly usage: readonly ReadUsage[]
}

/** Sends the step's statement as its reader. */
export async function runReadStep(world: World, step: ReadStep): Promise<ReadObservation> {
  const before = (await usageOf(world)).length
  const printed = await runPsql(world.readers[step.reader], step.statement)
  const after = await usageOf(world)
  return { printed, usage: after.slice(0, after.length - before) }
}

async function usageOf({ store, acme }: World): Promise<readonly ReadUsage[]> {
  const { items } = await listUsage(store, acme.id, {}, { limit: 1000 })
  return items.map(({ principal, outcome, rowsOut, policies }) => ({
    principal,
    outcome,
    rowsOut,
    policies: policies.map(({ id }) => id).sort(),
  }))
}

/** @returns each difference as a sentence; empty when everything is as expected */
export function checkReadStep(step: ReadStep, seen: ReadObservation): readonly string[] {
  const problems: string[] = []
  if (seen.printed !== step.printed) problems.push(`the answer should be\n${step.printed}`)
  if (!Bun.deepEquals(seen.usage, [step.usage]))
    problems.push(
      `the usage records should be ${JSON.stringify([step.usage])} and are ${JSON.stringify(seen.usage)}`,
    )
  return problems
}
