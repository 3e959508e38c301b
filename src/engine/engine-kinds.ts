/** The read engines that there are, made for a catalog credential when its first statement asks. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressRules } from '../catalog/address.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { ReadEngineName } from '../core/read-engine.ts'
import type { TenantId } from '../core/tenant.ts'
import { storageAccess } from '../storage/access.ts'
import { type DuckdbHost, type DuckdbSettings, startDuckdb } from './duckdb/duckdb-host.ts'
import type { Engine } from './engine.ts'
import type { EngineKind } from './engine-pool.ts'

export interface EngineKindOptions {
  readonly addressRules: AddressRules
  readonly duckdb: DuckdbSettings
}

/** Every kind by its name. */
export function engineKinds(options: EngineKindOptions): ReadonlyMap<ReadEngineName, EngineKind> {
  return new Map([['duckdb', duckdbKind(options)]])
}

/** A folder for DuckDB's files that no other process has. */
export function ownFolder(): string {
  return join(tmpdir(), `covenant-read-${process.pid}-${crypto.randomUUID()}`)
}

/** DuckDB starts with the first statement: a service that serves no reads does not pay for it. */
function duckdbKind({ addressRules, duckdb }: EngineKindOptions): EngineKind {
  let host: Promise<DuckdbHost> | undefined
  const started = () => {
    host ??= startDuckdb(duckdb)
    // A start that failed is tried again by the next statement.
    host.catch(() => {
      host = undefined
    })
    return host
  }
  return {
    open: (tenant, credential) => lazyEngine(async () => {
      const [running, access] = await Promise.all([started(), storageAccess(credential, addressRules)])
      return running.engine({ tenant, access, key: scopeKey(tenant, credential) })
    }),
    async close() {
      const running = await host?.catch(() => undefined)
      host = undefined
      await running?.close()
    },
  }
}

function scopeKey(tenant: TenantId, { id, version }: CatalogCredential): string {
  return JSON.stringify([tenant, id, version])
}

/** An engine whose making may fail, and is tried again by the next statement. */
function lazyEngine(make: () => Promise<Engine>): Engine {
  let made: Promise<Engine> | undefined
  return {
    dialect: 'duckdb',
    async open(tables, run) {
      made ??= make()
      made.catch(() => {
        made = undefined
      })
      return await (await made).open(tables, run)
    },
    async close() {
      const engine = await made?.catch(() => undefined)
      await engine?.close()
    },
  }
}
