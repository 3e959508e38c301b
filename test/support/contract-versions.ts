/** Versions of contracts for tests of the store. */

import type { TenantId } from '../../src/core/tenant.ts'
import { addSignOff, recordMove, saveLifeCycleSettings } from '../../src/store/contract/life-cycle.ts'
import { requestSignOff } from '../../src/store/contract/loosenings.ts'
import { addVersion, type NewVersion } from '../../src/store/contract/versions.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from './actor.ts'

/** A version that is in force, with a document of nothing but its names. */
export function versionOf(contract: string): NewVersion {
  const body = new TextEncoder().encode(`id: ${contract}\n`)
  return {
    contract,
    format: 'yaml',
    body,
    sha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
    model: {
      apiVersion: 'v3.2.0',
      id: contract,
      version: '1.0.0',
      compatibility: 'backward',
      secondApproval: false,
      schemas: [],
      sla: [],
    },
    state: 'active',
    unverified: true,
    lifeCycle: false,
    by: actorOf('stella'),
  }
}

/** Leaves a row in each table of contract versions. */
export async function seedContractVersion(store: Store, tenant: TenantId): Promise<void> {
  const version = versionOf('seed')
  const { sha256, by } = version
  await store.tenantTransaction(tenant, async (tx) => {
    const named = { contract: 'seed', sha256, number: await addVersion(tx, tenant, version) }
    await addSignOff(tx, tenant, named, { level: 'first', comment: undefined, by })
    await recordMove(tx, tenant, named, { move: 'import', from: undefined, to: 'active', auto: false, by })
    await saveLifeCycleSettings(tx, tenant, { deployUnverified: false })
  })
  const asked = { action: 'delete-tag', subject: { tag: 'seed' } }
  const wanted = { sha256, contracts: ['seed'], findings: ['The tag seed is removed'] }
  await requestSignOff({ store, tenant, actor: by }, asked, wanted)
}
