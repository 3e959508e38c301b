/** The read engines that there are, made for a catalog credential when its first statement asks. */

import { access, constants, mkdir, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../base/fault.ts'
import type { JsonObject } from '../base/json.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { ReadEngineName } from '../core/read-engine.ts'
import type { TableRef } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { credentialScope } from './duckdb/credential-scope.ts'
import { type DuckdbHost, type DuckdbSettings, startDuckdb } from './duckdb/duckdb-host.ts'
import { EngineError } from './engine-error.ts'
import type { EngineKind, EngineKinds } from './engine-kinds.ts'
import { parseTrinoSettings } from './trino/settings.ts'
import { openTrino } from './trino/trino-engine.ts'

export interface EngineOptions {
  readonly addressRules: AddressRules
  /** Where the metadata of a table that Trino reads comes from, by the same credential. */
  readonly catalogs: OpenCatalogs
  /** In which a folder of this process is made; undefined: that of temporary files. */
  readonly directory: string | undefined
  readonly memoryBytes: number
  readonly cacheBytes: number
  /** Statements that DuckDB runs at once. */
  readonly queries: number
  /** UV_THREADPOOL_SIZE of this process; undefined: as many as there are cores. */
  readonly poolThreads: number | undefined
}

/**
 * Makes the directory that the settings name, where it is missing.
 * @throws Fault `misconfigured` where there is none in which this process may make files: every statement would fail
 */
export async function prepareReadDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await access(directory, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Fault('misconfigured', 'SVC_READ_DIR: no directory in which files can be made.', { cause })
  }
}

/** Every kind by its name. */
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
    host ??= startDuckdb(settings)
    // A start that failed is tried again by the next statement.
    host.catch(() => {
      host = undefined
    })
    return host
  }
  return {
    async engine(tenant, credential) {
      // The endpoint's addresses are looked up anew each time.
      const scope = credentialScope(tenant, credential, options.addressRules)
      const [running, known] = await Promise.all([started(), scope])
      return running.engine(known)
    },
    async close() {
      const running = await host?.catch(() => undefined)
      host = undefined
      await running?.close()
      await rm(settings.folder, { recursive: true, force: true })
    },
  }
}

function duckdbSettings(options: EngineOptions): DuckdbSettings {
  const { directory, memoryBytes, cacheBytes, queries, poolThreads } = options
  return {
    folder: join(directory ?? tmpdir(), `covenant-read-${process.pid}-${crypto.randomUUID()}`),
    threads: availableParallelism(),
    memoryBytesMax: memoryBytes,
    spillBytesMax: cacheBytes,
    cacheBytesMax: cacheBytes,
    placesMax: queries,
    queueMax: queries * limits.engineQueueFactor,
    runMs: limits.queryMs,
    poolThreads: poolThreads ?? availableParallelism(),
  }
}

/** A coordinator is asked with each statement, so there is nothing to start or to end. */
function trinoKind({ addressRules, catalogs }: EngineOptions): EngineKind {
  return {
    async engine(tenant, credential) {
      const settings = parseTrinoSettings(credential)
      if (settings === undefined)
        throw new Fault('misconfigured', 'The catalog credential names no `trino.uri` to read by.')
      const catalog = catalogs.get(tenant, credential)
      return openTrino(settings, {
        addressRules,
        loadMetadata: ({ table }, signal) => metadataOf(catalog, table.ref, signal),
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
    throw new EngineError('58030', 'a snapshot of the statement cannot be read', { cause })
  }
  throw new EngineError('58030', 'a snapshot of the statement cannot be read')
}
