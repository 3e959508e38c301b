/** Opens the read engines of the process: DuckDB with the first statement that needs it, Trino per credential. */

import { access, constants, mkdir, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ByteBudget } from '../base/byte-budget.ts'
import type { ByteReservation } from '../base/byte-work.ts'
import { Fault } from '../base/fault.ts'
import type { JsonObject } from '../base/json.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { ReadEngineName } from '../core/read-engine.ts'
import type { TableRef } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import type { ExchangeObserver } from '../telemetry/exchange.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { credentialScope } from './duckdb/credential-scope.ts'
import { type DuckdbHost, type DuckdbSettings, startDuckdb } from './duckdb/duckdb-host.ts'
import { EngineError, unreadable } from './engine-error.ts'
import type { EngineKind, EngineKinds } from './engine-kinds.ts'
import { SnapshotChecks } from './iceberg/snapshot-check.ts'
import { parseTrinoSettings } from './trino/settings.ts'
import { openTrino } from './trino/trino-engine.ts'

/** Waiting statements of the embedded engine for each running one. */
const engineQueueFactor = 16

/** Memory of one thread of the embedded engine, beside that of the engine itself. */
const engineThreadBytes = 16 * 1024 * 1024

interface EngineOptions {
  readonly addressRules: AddressRules
  /** Catalogs that load the metadata of tables that Trino reads, with the same credential. */
  readonly catalogs: OpenCatalogs
  /** The process makes its own folder in it; undefined: the directory of temporary files. */
  readonly directory: string | undefined
  readonly memoryBytes: number
  readonly cacheBytes: number
  /** Statements that DuckDB runs at once. */
  readonly queries: number
  /** UV_THREADPOOL_SIZE of this process; undefined: the number of cores. */
  readonly poolThreads: number | undefined
  /** The bytes of the process, of which DuckDB and snapshots that are planned take some; absent: not counted. */
  readonly budget?: ByteBudget | undefined
  /** Counts requests to Trino and continues their traces; absent: they are not noted. */
  readonly observeTrino?: ExchangeObserver | undefined
}

/**
 * Creates the read directory where it is missing.
 * @throws Fault `misconfigured` where this process cannot write to it, because every statement would fail
 */
export async function prepareReadDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await access(directory, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Fault('misconfigured', 'SVC_READ_DIR: the directory cannot be created or is not writable.', {
      cause,
    })
  }
}

/** Every kind of engine by its name. */
export function openEngines(options: EngineOptions): EngineKinds {
  return new Map<ReadEngineName, EngineKind>([
    ['duckdb', duckdbKind(options)],
    ['trino', trinoKind(options)],
  ])
}

/** DuckDB starts with the first statement: a service that serves no reads does not pay for it. */
function duckdbKind(options: EngineOptions): EngineKind {
  let host: Promise<DuckdbHost> | undefined
  const settings = duckdbSettings(options)
  const started = () => {
    host ??= startHeld(settings, options)
    // The next statement retries a failed start.
    host.catch(() => {
      host = undefined
    })
    return host
  }
  return {
    async engine(tenant, credential) {
      // The endpoint's addresses are looked up again for each query.
      const scope = credentialScope(tenant, credential, options.addressRules)
      const [running, resolved] = await Promise.all([started(), scope])
      return running.engine(resolved)
    },
    async close() {
      const running = await host?.catch(() => undefined)
      host = undefined
      await running?.close()
      await rm(settings.folder, { recursive: true, force: true })
    },
  }
}

/** Starts DuckDB once its memory is reserved, for as long as it runs. @throws EngineError 53200 where there is none */
async function startHeld(
  settings: DuckdbSettings,
  { budget, memoryBytes }: EngineOptions,
): Promise<DuckdbHost> {
  let held: ByteReservation | undefined
  try {
    held = await budget?.reserveForProcessInTurn({ engine: engineHeldBytes(memoryBytes) })
    const host = await startDuckdb(settings)
    return {
      ...host,
      async close() {
        await host.close()
        held?.release()
      },
    }
  } catch (thrown) {
    held?.release()
    throw thrown instanceof Fault ? unreadable(thrown) : thrown
  }
}

/** What DuckDB takes of the process's memory: its limit, and what its threads hold beside it. */
export function engineHeldBytes(memoryBytes: number): number {
  return memoryBytes + availableParallelism() * engineThreadBytes
}

function duckdbSettings(options: EngineOptions): DuckdbSettings {
  const { directory, memoryBytes, cacheBytes, queries, poolThreads, budget } = options
  return {
    folder: join(directory ?? tmpdir(), `covenant-read-${process.pid}-${crypto.randomUUID()}`),
    threads: availableParallelism(),
    memoryBytesMax: memoryBytes,
    spillBytesMax: cacheBytes,
    cacheBytesMax: cacheBytes,
    placesMax: queries,
    queueMax: queries * engineQueueFactor,
    runMs: limits.queryMs,
    poolThreads: poolThreads ?? availableParallelism(),
    budget,
  }
}

/** Each statement makes its own requests to the coordinator, so there is nothing to start or close. */
function trinoKind({ addressRules, catalogs, observeTrino }: EngineOptions): EngineKind {
  const checks = new SnapshotChecks()
  return {
    async engine(tenant, credential) {
      const settings = parseTrinoSettings(credential)
      if (settings === undefined)
        throw new Fault(
          'misconfigured',
          'The catalog credential has no `trino.uri`: set it, or choose another read engine.',
        )
      const catalog = catalogs.get(tenant, credential)
      return openTrino(settings, {
        addressRules,
        observe: observeTrino,
        loadMetadata: ({ table }, signal) => metadataOf(catalog, table.ref, signal),
        checkFiles: (snapshot, metadata, signal) =>
          checks.check(() => credentialScope(tenant, credential, addressRules), snapshot, metadata, signal),
      })
    },
    async close() {},
  }
}

async function metadataOf(catalog: Catalog, table: TableRef, signal: AbortSignal): Promise<JsonObject> {
  try {
    const loaded = await catalog.loadTable(table, { signal })
    if (loaded.status === 'loaded') return parseLoadTableResult(loaded.body).metadata
  } catch (cause) {
    if (signal.aborted) throw cause
    if (cause instanceof Fault && cause.kind === 'overloaded') throw unreadable(cause)
    throw new EngineError('58030', 'the catalog cannot load the metadata of a table of the statement', {
      cause,
    })
  }
  throw new EngineError('58030', 'the catalog cannot load the metadata of a table of the statement')
}
