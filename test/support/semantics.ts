/** Leaves a row of a tenant in every table of the semantic layer. */

import type { TenantId } from '../../src/core/tenant.ts'
import { endAttestation, saveAttestation } from '../../src/store/semantics/attestations.ts'
import { saveDocuments } from '../../src/store/semantics/documents.ts'
import { countLiftedQuery } from '../../src/store/semantics/lifted-queries.ts'
import { saveMetric } from '../../src/store/semantics/metrics.ts'
import { saveTableModel } from '../../src/store/semantics/models.ts'
import { saveTerm } from '../../src/store/semantics/terms.ts'
import type { Store } from '../../src/store/store.ts'
import { actorOf } from './actor.ts'

/** A table model, a term, a metric that means it, and an attestation that was ended. */
export async function seedSemantics(store: Store, tenant: TenantId): Promise<void> {
  const on = { store, tenant, actor: actorOf('seed') }
  const table = { namespace: ['seed'], name: 'seed' }
  await saveTableModel(on, { table, key: [], dimensions: [], relationships: [] })
  await saveTerm(on, { name: 'seed', definition: '', synonyms: [], links: [] })
  const expression = { text: 'count(*)', names: {} }
  const sha256 = '0'.repeat(64)
  await saveMetric(on, {
    name: 'seed',
    definition: { term: 'seed', computation: { kind: 'simple', table, expression } },
    state: 'active',
    sha256: () => sha256,
    over: undefined,
  })
  const attestation = {
    ...{ metric: 'seed', number: 1, sha256, tags: ['seed'], masks: [], minGroupSize: 2 },
    ...{ reason: 'seed', evidence: 'seed', until: new Date(Date.now() + 60_000) },
  }
  const { id } = await saveAttestation(on, attestation, table)
  await countLiftedQuery(store, tenant, 'seed', [{ attestation: id, perDay: 1 }])
  await endAttestation(on, 'seed', id, 'seed')
  await saveDocuments(on, [{ name: 'seed', json: '{}' }])
}
