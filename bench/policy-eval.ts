/** Measures one policy's evaluation as the gateway does it, and the same function in plain TypeScript. */

import { firstSnapshotId, removeSnapshots } from '../demo/commits.ts'
import type { JsonValue } from '../src/base/json.ts'
import { newTenantId } from '../src/core/tenant.ts'
import { PolicyEngine } from '../src/policy/engine.ts'
import type { PolicyBindings } from '../src/policy/evaluate.ts'
import { applyUpdates } from '../src/wire/iceberg/apply-updates.ts'
import { parseCommitRequest } from '../src/wire/iceberg/commit-request.ts'
import { commitView, tableView } from '../src/wire/iceberg/policy-view.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { enforcedPolicies, samplePolicies, writerRole } from './sample-policies.ts'
import { Appends, sampleMetadata, type TableSize, tableSizes } from './sample-table.ts'
import { percentile, type Random, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'

const dayMs = 24 * 60 * 60 * 1000
const retentionMs = 7 * dayMs
/** Per millisecond of a batch. */
const warmUpMs = 200
const receivedAtMs = 1_750_000_000_000

export const policyEval: BenchEntry = {
  name: 'policy-eval',
  about: 'one policy, judged by the gate',
  options: {},
  run,
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const engine = new PolicyEngine()
  const random = seededRandom(seed)
  const rounds = smoke ? 3 : 150
  const batchMs = smoke ? 0.1 : 1
  try {
    const policies = enforcedPolicies(6, retentionMs)
    for (const size of Object.values(tableSizes)) {
      const bindings = bindingsOf(size)
      for (const [index, { name, plain }] of samplePolicies(retentionMs).entries()) {
        const one = policies.slice(index, index + 1)
        const tenant = newTenantId()
        const judge = async () => (await engine.judge(tenant, one, bindings)).kind === 'allow'
        const baseline = async () => plain(bindings)
        const [times = [], baselineTimes = []] = await interleaved([judge, baseline], {
          rounds,
          batchMs,
          random,
        })
        const us = percentile(times, 0.5) * 1000
        const baselineUs = percentile(baselineTimes, 0.5) * 1000
        yield {
          bench: 'policy-eval',
          case: { policy: name, ...size },
          figures: {
            us: rounded(us),
            p95_us: rounded(percentile(times, 0.95) * 1000),
            baseline_us: rounded(baselineUs),
          },
        }
      }
    }
  } finally {
    engine.close()
  }
}

/** A commit that expires the oldest snapshot, which is old enough, so every policy is true. */
function bindingsOf(size: TableSize): PolicyBindings {
  const table = { namespace: ['sales'], name: 'orders' }
  const metadata = sampleMetadata(new Appends(size), receivedAtMs - 30 * dayMs)
  const commit = parseCommitRequest(Buffer.from(removeSnapshots([firstSnapshotId + 1n])))
  const result = tableView(table, applyUpdates(metadata, commit.updates, { nowMs: receivedAtMs }))
  return {
    table: tableView(table, metadata),
    commit: commitView(commit, result, receivedAtMs),
    principal: new Map<string, JsonValue>([
      ['sub', 'spark@example.com'],
      ['roles', [writerRole]],
    ]),
  }
}

/**
 * Times functions in turns, in random order, in batches that are long enough for the clock.
 * @returns milliseconds of one call, by function
 */
async function interleaved(
  functions: readonly (() => Promise<boolean>)[],
  { rounds, batchMs, random }: { readonly rounds: number; readonly batchMs: number; readonly random: Random },
): Promise<readonly number[][]> {
  const batches: number[] = []
  for (const one of functions) {
    // Warms up, until the compiler has optimised the function.
    for (const endMs = performance.now() + warmUpMs * batchMs; performance.now() < endMs; ) await one()
    batches.push(await batchSize(one, batchMs))
  }
  const times: number[][] = functions.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const index of shuffled([...functions.keys()], random))
      times[index]?.push(
        await timeBatch(functions[index] as () => Promise<boolean>, batches[index] as number),
      )
  return times
}

async function batchSize(one: () => Promise<boolean>, batchMs: number): Promise<number> {
  for (let size = 1; ; size *= 2) if ((await timeBatch(one, size)) * size >= batchMs) return size
}

async function timeBatch(one: () => Promise<boolean>, size: number): Promise<number> {
  const startMs = performance.now()
  for (let call = 0; call < size; call++) if (!(await one())) throw new Error('a sample policy was not true')
  return (performance.now() - startMs) / size
}
