/** Puts sales.orders under a contract with an approved version that lacks a column, for commits that it covers. */

import { appendSnapshot, firstSnapshotId, orderFields, replaceSchema } from '../../demo/commits.ts'
import type { TableStates } from '../../src/catalog/table-states.ts'
import { addDraft } from '../../src/contract/lifecycle/add-version.ts'
import { moveVersion, signVersion } from '../../src/contract/lifecycle/move-version.ts'
import type { Move } from '../../src/contract/lifecycle/state-machine.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { saveLifeCycleSettings } from '../../src/store/contract/life-cycle.ts'
import type { Store } from '../../src/store/store.ts'
import { performDocumentTask } from '../../src/wire/odcs/document-task.ts'
import { actorOf } from './actor.ts'

const [dropped, appended] = [
  replaceSchema(orderFields.filter(({ name }) => name !== 'customer')),
  appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: 1_800_000_000_000 }),
].map((body) => JSON.parse(body) as { readonly updates: object[]; readonly requirements: object[] })

/**
 * A commit that the version in force refuses, and the approved one allows. By its snapshot the table proves that it was
 * made; a change of the schema alone may leave that undecidable.
 */
export const coveredCommit = JSON.stringify({
  requirements: [...(dropped?.requirements ?? []), ...(appended?.requirements ?? [])],
  updates: [...(dropped?.updates ?? []), ...(appended?.updates ?? [])],
})

const documents = [
  ['1.0.0', ['id', 'customer']],
  ['2.0.0', ['id']],
] as const

/** No catalog answers: the table's columns are recorded already. */
const away = {
  catalogs: {
    during: (load: () => unknown) => load(),
    get: () => {
      throw new Error('no catalog is asked here')
    },
  },
} as unknown as TableStates

/** Leaves version 1 in force and version 2 approved. The table has had a commit, so its columns are known. */
export async function approveCovering(store: Store, tenant: TenantId): Promise<void> {
  const as = (sub: string, roles: readonly string[]) => ({
    ...{ store, tenant, checkPolicies },
    actor: { ...actorOf(sub), roles },
  })
  const [ann, stella] = [as('ann', []), as('stella', ['steward'])]
  const parts = { clock: { now: () => Date.now() }, states: away }
  await store.tenantTransaction(tenant, (tx) => saveLifeCycleSettings(tx, tenant, { deployUnverified: true }))
  for (const [index, [version, columns]] of documents.entries()) {
    const name = { contract: 'orders', number: index + 1 }
    const make = (on: typeof ann, move: Move) =>
      moveVersion(parts, on, name, { move, reason: undefined, override: false })
    const read = readDocument(version, columns)
    await addDraft(ann, read, 'json')
    await make(ann, 'propose')
    const sha256 = new Bun.CryptoHasher('sha256').update(read.bytes).digest('hex')
    await signVersion(parts, stella, name, { sha256 })
    if (index === 0) await make(stella, 'deploy')
  }
}

function readDocument(version: string, columns: readonly string[]) {
  const extended = (value: object) => ({
    customProperties: [{ property: 'covenant', vendor: 'covenant', value }],
  })
  const table = { namespace: ['sales'], name: 'orders' }
  const text = JSON.stringify({
    ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'orders', version },
    ...extended({ mode: 'enforce' }),
    schema: [{ name: 'orders', properties: columns.map((name) => ({ name })), ...extended({ table }) }],
  })
  const bytes = new TextEncoder().encode(text)
  const outcome = performDocumentTask({ kind: 'read', bytes, format: 'json' })
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return outcome.read
}
