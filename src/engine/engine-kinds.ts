/** Chooses the engine that a catalog credential's configuration names. Does not start engines. */

import { Fault } from '../base/fault.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type ReadEngineName, readEngineOf } from '../core/read-engine.ts'
import type { TenantId } from '../core/tenant.ts'
import type { ComputeEngine } from './engine.ts'

/** One kind of engine, with the resources that its engines share. */
export interface EngineKind {
  /**
   * The engine of a tenant's credential. It is called for each query, so expensive resources are cached here.
   * @throws Fault `misconfigured`, or EngineError, where the credential's configuration cannot be used
   */
  engine(tenant: TenantId, credential: CatalogCredential): Promise<ComputeEngine>
  /** Closes all of its engines. */
  close(): Promise<void>
}

export type EngineKinds = ReadonlyMap<ReadEngineName, EngineKind>

/** @throws Fault `misconfigured` where the credential's engine is not available; as {@link EngineKind.engine} */
export async function engineOf(
  kinds: EngineKinds,
  tenant: TenantId,
  credential: CatalogCredential,
): Promise<ComputeEngine> {
  const name = readEngineOf(credential.config)
  const kind = kinds.get(name)
  if (kind === undefined) throw new Fault('misconfigured', `The read engine ${name} is not available.`)
  return await kind.engine(tenant, credential)
}
