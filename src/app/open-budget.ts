/**
 * Divides the memory of the process: what it needs when idle, the embedded engine, and the budget of all requests
 * (docs/sizing.md).
 */

import type { Logger } from 'pino'
import { ByteBudget } from '../base/byte-budget.ts'
import { Fault } from '../base/fault.ts'
import { memorySize } from '../base/memory-size.ts'
import { inNextTurn } from '../base/turn.ts'
import type { Config } from '../config.ts'
import { engineHeldBytes } from '../engine/open-engines.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../telemetry/metrics.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** How memory is divided; a share is one of how many parts. docs/sizing.md explains each. */
export const memoryShares = {
  /** Memory of an idle process, its embedded store and workers included. */
  processBytes: 448 * MiB,
  /** Of the memory, left to the allocator. */
  allocatorShare: 8,
  /** Of the memory, the default of the embedded engine, and the most that it gets without a setting. */
  engineShare: 4,
  engineBytesMax: 2_048 * MiB,
  /** Bytes that must be left for requests: a commit of the largest size, once parsed, and room for small ones. */
  requestBytesMin: 144 * MiB,
  /** Of the bytes for requests, kept for small reservations, and up to how many bytes one is small. */
  smallShare: 8,
  smallBytesMax: 256 * KiB,
  /** Of the bytes for requests, what may be garbage before it is collected. */
  garbageShare: 4,
  /** Of the memory, above which resident memory is tight. */
  tightShare: 0.7,
} as const

/**
 * How long a request waits for room, after which time it is taken from bodies that still arrive, of tenants beyond their
 * share, and how many requests of one tenant may wait.
 */
const waits = { waitMs: 5_000, reclaimMs: 1_000, waitingMax: 64 } as const

/** How the memory of a process is divided, in bytes. */
interface MemoryPlan {
  /** Bound on everything that is reserved, the engine included. */
  readonly budgetBytes: number
  /** The limit that the engine is given. */
  readonly engineBytes: number
  /** What is left for requests once the engine has started. */
  readonly requestBytes: number
  /** Why no statement about the catalog can be served; undefined where it can. It stays so until the process gets more. */
  readonly catalogRefusal: string | undefined
}

/**
 * Divides memory.
 * @param totalBytes what the process may use
 * @param engineSetting the engine's limit; undefined: a share of the total
 * @throws Fault `misconfigured` where too little is left for requests
 */
export function planMemory(totalBytes: number, engineSetting: number | undefined): MemoryPlan {
  const budgetBytes =
    totalBytes - Math.floor(totalBytes / memoryShares.allocatorShare) - memoryShares.processBytes
  const engineBytes =
    engineSetting ?? Math.min(Math.floor(totalBytes / memoryShares.engineShare), memoryShares.engineBytesMax)
  const requestBytes = budgetBytes - engineHeldBytes(engineBytes)
  if (requestBytes < memoryShares.requestBytesMin)
    throw new Fault(
      'misconfigured',
      `SVC_MEMORY_MB: ${inMiB(totalBytes)} MiB of memory are too few beside ${inMiB(engineBytes)} MiB of the read engine. Give the process more, or lower SVC_READ_MEMORY_MB (docs/sizing.md).`,
    )
  return { budgetBytes, engineBytes, requestBytes, catalogRefusal: refusalOf(totalBytes, requestBytes) }
}

/** A database of the catalog must fit beside the engine: what comes first would otherwise shut out the other. */
function refusalOf(totalBytes: number, requestBytes: number): string | undefined {
  const room = requestBytes - Math.floor(requestBytes / memoryShares.smallShare)
  if (room >= limits.catalogHeldBytes) return undefined
  return `Statements about the catalog (pg_catalog, information_schema) need more memory than this process has: ${inMiB(limits.catalogHeldBytes)} MiB beside the read engine, and ${inMiB(room)} of its ${inMiB(totalBytes)} MiB are left. Give it 2 GiB, or lower SVC_READ_MEMORY_MB (docs/sizing.md).`
}

const inMiB = (bytes: number) => Math.floor(bytes / MiB)

/**
 * Opens the budget of the process.
 * @throws Fault `misconfigured` where too little is left for requests
 */
export function openBudget(
  { memoryBytes = memorySize(), readEngine }: Pick<Config, 'memoryBytes' | 'readEngine'>,
  metrics: Pick<Metrics, 'memoryBound' | 'memoryRefused'>,
  log: Pick<Logger, 'warn'>,
): { readonly budget: ByteBudget } & Pick<MemoryPlan, 'engineBytes' | 'catalogRefusal'> {
  const plan = planMemory(memoryBytes, readEngine.memoryBytes)
  const { budgetBytes, engineBytes, requestBytes, catalogRefusal } = plan
  const budget = new ByteBudget({
    bytesMax: budgetBytes,
    keptForSmall: Math.floor(requestBytes / memoryShares.smallShare),
    smallBytesMax: memoryShares.smallBytesMax,
    ...waits,
    onRefused: (kind) => metrics.memoryRefused.inc({ kind }),
    // The collector waits until the heap has doubled, which a small container has no room for. It is asked to begin, and
    // works beside this thread: to wait for it holds everybody for a tenth of a second. That is better only than what
    // the kernel does where memory is all but used up.
    garbage: {
      bytesMax: Math.floor(requestBytes / memoryShares.garbageShare),
      collect: () =>
        inNextTurn(() => Bun.gc(process.memoryUsage.rss() > memoryBytes * memoryShares.tightShare)),
    },
  })
  metrics.memoryBound.set(budgetBytes)
  if (catalogRefusal !== undefined) log.warn(catalogRefusal)
  return { budget, engineBytes, catalogRefusal }
}
