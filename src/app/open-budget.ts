/**
 * Divides the memory of the process: what it needs when idle, the embedded engine, and the budget of all requests
 * (docs/sizing.md).
 */

import { availableParallelism } from 'node:os'
import { ByteBudget } from '../base/byte-budget.ts'
import { Fault } from '../base/fault.ts'
import { memorySize } from '../base/memory-size.ts'
import type { Config } from '../config.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** How the memory of a process is divided, in bytes. */
export interface MemoryPlan {
  /** Bound on everything that is reserved, the engine included. */
  readonly budgetBytes: number
  /** The limit that the engine is given. */
  readonly engineBytes: number
  /** What the engine takes of the budget: its limit, and what its threads hold beside it. */
  readonly engineHeldBytes: number
}

const MiB = 1024 * 1024

/**
 * Divides memory.
 * @param totalBytes what the process may use
 * @param engineBytes the engine's limit; undefined: a share of the total
 * @param engineThreads threads of the engine
 * @throws Fault `misconfigured` where too little is left for requests
 */
export function planMemory(
  totalBytes: number,
  engineBytes: number | undefined,
  engineThreads: number,
): MemoryPlan {
  const budgetBytes = totalBytes - Math.floor(totalBytes / limits.allocatorShare) - limits.processBytes
  const engine =
    engineBytes ?? Math.min(Math.floor(totalBytes / limits.engineShare), limits.engineBytesDefaultMax)
  const engineHeldBytes = engine + engineThreads * limits.engineThreadBytes
  if (budgetBytes - engineHeldBytes < limits.requestBytesMin)
    throw new Fault(
      'misconfigured',
      `SVC_MEMORY_MB: ${inMiB(totalBytes)} MiB of memory are too few beside ${inMiB(engine)} MiB of the read engine. Give the process more, or lower SVC_READ_MEMORY_MB (docs/sizing.md).`,
    )
  return { budgetBytes, engineBytes: engine, engineHeldBytes }
}

const inMiB = (bytes: number) => Math.floor(bytes / MiB)

/**
 * Opens the budget of the process, in which the engine holds its part from the start.
 * @throws Fault `misconfigured` where too little is left for requests
 */
export function openBudget(
  { memoryBytes = memorySize(), readEngine }: Pick<Config, 'memoryBytes' | 'readEngine'>,
  metrics: Pick<Metrics, 'memoryBound' | 'memoryRefused'>,
): { readonly budget: ByteBudget; readonly engineBytes: number } {
  const plan = planMemory(memoryBytes, readEngine.memoryBytes, availableParallelism())
  const free = plan.budgetBytes - plan.engineHeldBytes
  const budget = new ByteBudget({
    bytesMax: plan.budgetBytes,
    keptForSmall: Math.floor(free / limits.smallReservationsShare),
    smallBytesMax: limits.smallReservationBytesMax,
    onRefused: (kind) => metrics.memoryRefused.inc({ kind }),
  })
  budget.reserve({ engine: plan.engineHeldBytes })
  metrics.memoryBound.set(plan.budgetBytes)
  return { budget, engineBytes: plan.engineBytes }
}
