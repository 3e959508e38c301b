/** The contract of the demo: its versions, as people propose, sign and deploy them between two commits. */

import type { ChangeContext } from '../src/contract/change.ts'
import { addDraft } from '../src/contract/lifecycle/add-version.ts'
import { type LifeCycleParts, moveVersion, signVersion } from '../src/contract/lifecycle/move-version.ts'
import { checkPolicies } from '../src/query/compile/protect/protect.ts'
import { saveLifeCycleSettings } from '../src/store/contract/life-cycle.ts'
import { findVersion } from '../src/store/contract/versions.ts'
import { performDocumentTask } from '../src/wire/odcs/document-task.ts'
import type { World } from './world.ts'

/** What the contract says of sales.orders. Without a mode it would only record for seven days. */
const document = `apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
customProperties:
  - {property: covenant, vendor: covenant, value: {mode: enforce}}
schema:
  - name: orders
    customProperties:
      - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
    properties:
      - {name: customer, logicalType: string}
      - {name: amount, logicalType: number}
`

/** Ann imports and proposes the contract, Stella signs and deploys it. */
export async function putUnderContract(world: World): Promise<void> {
  const { store, globex } = world
  await store.tenantTransaction(globex.id, (tx) =>
    saveLifeCycleSettings(tx, globex.id, { deployUnverified: true }),
  )
  const task = { kind: 'read', bytes: new TextEncoder().encode(document), format: 'yaml' } as const
  const outcome = performDocumentTask(task)
  if (outcome.kind !== 'read') throw new Error('the contract of the demo is refused')
  await addDraft(as(world, 'ann', []), outcome.read, 'yaml')
  await moveVersion(
    lifeCycle(world),
    as(world, 'ann', []),
    { contract: 'orders', number: 1 },
    { move: 'propose' },
  )
  await sign(world, 1)
  const deploy = { move: 'deploy' } as const
  await moveVersion(
    lifeCycle(world),
    as(world, 'stella', ['steward']),
    { contract: 'orders', number: 1 },
    deploy,
  )
}

/** Stella signs what a refused commit proposed. */
export async function signProposal(world: World): Promise<void> {
  await sign(world, 2)
}

async function sign(world: World, number: number): Promise<void> {
  const { store, globex } = world
  const version = await findVersion((text, params) => store.tenantQuery(globex.id, text, params), globex.id, {
    ...{ contract: 'orders', number },
  })
  if (version === undefined) throw new Error(`the contract of the demo has no version ${number}`)
  const { sha256 } = version
  await signVersion(lifeCycle(world), as(world, 'stella', ['steward']), version, {
    sha256,
    comment: 'agreed',
  })
}

const lifeCycle = ({ app }: World): LifeCycleParts => {
  const { clock } = app.gateway
  return {
    clock,
    states: { current: () => Promise.reject(new Error('the contract of the demo has no pin')) } as never,
  }
}

function as({ store, globex }: World, sub: string, roles: readonly string[]): ChangeContext {
  const actor = { sub, roles, source: 'login', requestId: crypto.randomUUID() } as const
  return { store, tenant: globex.id, checkPolicies, actor }
}
