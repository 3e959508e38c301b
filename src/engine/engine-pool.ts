/** The engine that reads by a catalog credential, each for as long as the credential's version is in use. */

import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type ReadEngineName, readEngineOf } from '../core/read-engine.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import type { Engine } from './engine.ts'

/** One kind of engine, with what its engines share. */
export interface EngineKind {
  /** @throws Fault `misconfigured` where the credential's configuration cannot be used */
  open(tenant: TenantId, credential: CatalogCredential): Engine
  /** Ends every engine that it opened. */
  close(): Promise<void>
}

export class EnginePool {
  readonly #engines: Lru<string, Engine>

  constructor(
    readonly kinds: ReadonlyMap<ReadEngineName, EngineKind>,
    countMax: number = limits.catalogPoolCount,
  ) {
    this.#engines = new Lru(countMax)
  }

  /** @throws Fault `misconfigured` where the credential's engine is not there or cannot be configured */
  get(tenant: TenantId, credential: CatalogCredential): Engine {
    const key = JSON.stringify([tenant, credential.id, credential.version])
    const known = this.#engines.get(key)
    if (known !== undefined) return known
    const name = readEngineOf(credential.config)
    const engine = this.kinds.get(name)?.open(tenant, credential)
    if (engine === undefined) throw new Fault('misconfigured', `The read engine ${name} is not available.`)
    this.#engines.set(key, engine)
    return engine
  }

  async close(): Promise<void> {
    this.#engines.clear()
    await Promise.all([...this.kinds.values()].map((kind) => kind.close()))
  }
}
