/** The policies of audit rows: each set is kept once, and shown with each decision that was judged by it. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { AppliedPolicy } from '../../../src/core/commit.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { findAudit } from '../../../src/store/commit/audit.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const policyOf = (id: string): AppliedPolicy => ({
  id,
  kind: 'schema',
  mode: 'enforce',
  definitionCel: `commit.updates.size() > 0 || principal.sub == "${id}"`,
})

/** @returns the commit's id */
async function commit(tenant: TenantId, policies: readonly AppliedPolicy[]): Promise<string> {
  const intent = intentOf()
  await recordVerdict(store, tenant, { ...approvedOf(intent), policies })
  return intent.commitId
}

const policiesOf = async (tenant: TenantId, id: string) => (await findAudit(store, tenant, id))?.policies

async function setsOf(tenant: TenantId): Promise<number> {
  const [row] = await store.tenantQuery<{ n: number }>(
    tenant,
    'select count(*)::int as n from svc.policy_set',
  )
  return row?.n ?? 0
}

test('commits under the same policies share one set, each tenant its own', async () => {
  const policies = ['a', 'b'].map(policyOf)
  const [first, second, third, alone] = [
    await commit(home, policies),
    await commit(home, policies),
    await commit(home, [policyOf('a')]),
    await commit(home, []),
  ]
  const theirs = await commit(foreign, policies)
  for (const id of [first, second]) expect(await policiesOf(home, id)).toEqual(policies)
  expect(await policiesOf(home, third)).toEqual([policyOf('a')])
  expect(await policiesOf(home, alone)).toEqual([])
  expect(await policiesOf(foreign, theirs)).toEqual(policies)
  expect([await setsOf(home), await setsOf(foreign)]).toEqual([2, 1])
})

test('decisions are found by a policy of their set, and by one that their row holds itself', async () => {
  const inSet = await commit(home, [policyOf('rare')])
  const before = crypto.randomUUID()
  // As a version before this one wrote it.
  await store.tenantQuery(
    home,
    `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal, table_id,
       namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location, policies,
       outcomes, received_at)
     select tenant_id, $2, committer, decision, reason, principal_source, principal, table_id, namespace, table_name,
       credential_id, body_sha256, body, base_metadata_location, metadata_location, $3::text::jsonb, outcomes, received_at
     from svc.audit_log where tenant_id = $1 limit 1`,
    [home, before, JSON.stringify([policyOf('rare')])],
  )
  const { items } = await listDecisions(store, home, { policy: 'rare' }, { isExplained: true })
  expect(items.map(({ commitId }) => commitId)).toEqual([before, inSet])
  const { definitionCel: _, ...shown } = policyOf('rare')
  for (const { explanation } of items) expect(explanation?.policies).toEqual([shown])
  expect(await policiesOf(home, before)).toEqual([policyOf('rare')])
  expect((await listDecisions(store, foreign, { policy: 'rare' })).items).toEqual([])
})

test('a set is neither changed nor removed', async () => {
  for (const text of [`update svc.policy_set set policies = '[]'`, 'delete from svc.policy_set']) {
    const refused = await store
      .ownerTransaction(home, (tx) => tx.query(text))
      .then(
        () => 'nothing refused it',
        (error: Error) => String(error.cause),
      )
    expect(refused).toContain('svc.policy_set is append-only')
  }
})
