/** Which engine reads by a catalog credential: the kind that its configuration names. */

import { Fault } from '../base/fault.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type ReadEngineName, readEngineOf } from '../core/read-engine.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Engine } from './engine.ts'

/** One kind of engine, with what its engines share. */
export interface EngineKind {
  /**
   * The engine as a tenant's credential sees it; asked for each query, so what is dear to make is kept here.
   * @throws Fault `misconfigured`, or EngineError, where the credential's configuration cannot be used
   */
  engine(tenant: TenantId, credential: CatalogCredential): Promise<Engine>
  /** Ends all of its engines. */
  close(): Promise<void>
}

export type EngineKinds = ReadonlyMap<ReadEngineName, EngineKind>

/** @throws Fault `misconfigured` where the credential's engine is not there; what {@link EngineKind} throws */
export async function engineOf(
  kinds: EngineKinds,
  tenant: TenantId,
  credential: CatalogCredential,
): Promise<Engine> {
  const name = readEngineOf(credential.config)
  const kind = kinds.get(name)
  if (kind === undefined) throw new Fault('misconfigured', `The read engine ${name} is not available.`)
  return await kind.engine(tenant, credential)
}
