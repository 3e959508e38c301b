/** Leaves a row of a tenant in every table that a tenant reads, and a node or edge of every label. */

import { expect } from 'bun:test'
import { Secret } from '../../src/base/secret.ts'
import { appliedPolicy } from '../../src/core/commit.ts'
import type { Policy, PolicyKind } from '../../src/core/policy.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { keepRefusal } from '../../src/store/commit/idempotency-keys.ts'
import { settleIntent } from '../../src/store/commit/intent-settlements.ts'
import { recordUnjudged } from '../../src/store/commit/refusals.ts'
import {
  advanceReplay,
  endReplay,
  nextChanges,
  nextReplay,
  type OpenReplay,
  startReplay,
} from '../../src/store/commit/replays.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { edgeLabels, vertexLabels } from '../../src/store/database/names.ts'
import { lastEvent } from '../../src/store/event/events.ts'
import { upsertEdge, upsertNode } from '../../src/store/graph/graph.ts'
import { removeExpired } from '../../src/store/history/remove-expired.ts'
import { putRetention } from '../../src/store/history/retention.ts'
import { reconcileTenant } from '../../src/store/jobs/reconcile.ts'
import { recordSweep } from '../../src/store/lineage/cycles.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { putNamespace } from '../../src/store/lineage/namespaces.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { saveStoredOnly, storeOperation } from '../../src/store/query/graphql-operations.ts'
import { openUsage } from '../../src/store/query/queries-under-way.ts'
import { addReadLineage } from '../../src/store/query/read-lineage.ts'
import { recordUsage, rollUsage } from '../../src/store/query/usage.ts'
import { putSource, type Source } from '../../src/store/reconcile/sources.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { createScimGroup } from '../../src/store/session/scim-groups.ts'
import { createScimUser, deleteScimUser } from '../../src/store/session/scim-users.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { putTokenIssuer } from '../../src/store/session/token-issuers.ts'
import { putWorkloadTrust } from '../../src/store/session/workload-trusts.ts'
import { recordStagedCheck } from '../../src/store/vended/staged-checks.ts'
import { seedAccess } from './access-rows.ts'
import { actorOf } from './actor.ts'
import { seedChecks } from './check-rows.ts'
import { approvedOf, intentOf, rejectedOf, unjudgedOf } from './commits.ts'
import { seedContractVersion } from './contract-versions.ts'
import { seedDetection } from './detection-rows.ts'
import { eventually } from './eventually.ts'
import { receivedEvent, seedTakenBack } from './lineage.ts'
import { seedProof } from './proof-rows.ts'
import { seedSemantics } from './semantics.ts'
import type { TestStore } from './store.ts'
import { seedTerritory } from './territory.ts'
import { seedTransform } from './transform-rows.ts'
import { usageRecord } from './usage.ts'
import { leaveVended } from './vended.ts'
import { seedWebhook } from './webhooks.ts'

/** A policy of this id that approves everything, unless changed. */
export function policyOf(id: string, kind: PolicyKind = 'schema', change: Partial<Policy> = {}): Policy {
  return { id, kind, mode: 'enforce', name: id, message: '', definitionCel: 'true', ...change }
}

const seedSource: Source = {
  ...{ name: 'seed', host: 'db.example', port: 5432, database: 'd', user: 'u', tls: 'verify' },
  password: new Secret('seed'),
}

const seedTrust = {
  ...{ name: 'seed', issuer: 'https://issuer.example', audience: 'seed', subject: 'seed' },
  ...{ sub: 'service:seed', roles: [], scopes: [] },
  keySource: { kind: 'discovery', issuer: 'https://issuer.example' },
} as const

const seedIssuer = {
  ...{ name: 'seed', issuer: 'https://issuer.example', audience: 'seed', subjectPrefix: 'seed:' },
  ...{ organizationClaim: 'org_id', rolesClaim: undefined, authorizedParties: ['seed'] },
  keySource: { kind: 'discovery', issuer: 'https://issuer.example' },
} as const

const readLineage = {
  principal: 'seed',
  fingerprint: 'seed',
  lineage: { columns: [], outputs: [], conditions: [], truncated: false },
  reads: 1,
  lastAt: new Date(0),
}

/** A user in a group, and one who is gone. */
async function seedPeople(on: TestStore, tenant: TenantId, word: string): Promise<void> {
  const by = actorOf(word)
  const { id } = await createScimUser(on, tenant, { userName: word }, by)
  await createScimGroup(on, tenant, { displayName: word, externalId: undefined }, [id], by)
  const gone = await createScimUser(on, tenant, { userName: 'gone' }, by)
  await deleteScimUser(on, tenant, gone.id, () => true, by)
}

/** A replay that has come to a finding on the newest decision. */
async function seedReplay(on: TestStore, tenant: TenantId): Promise<void> {
  await startReplay(on, tenant, { commits: 1 }, actorOf('seed'))
  const replay = (await nextReplay(on)) as OpenReplay
  const bounds = { changesMax: 1, bytesMax: 1 }
  const changes = await nextChanges(on, replay, bounds)
  const differs = { outcome: 'differs', reason: 'seed' } as const
  expect(
    await advanceReplay(
      on,
      replay,
      changes.map((change) => [change, differs] as const),
    ),
  ).toBe(true)
  expect(await advanceReplay(on, { ...replay, nextSeq: '0' }, [])).toBe(false)
  await endReplay(on, replay.tenant, replay.id, 'cancelled')
}

/** Leaves a row in every table but that of legal holds, and in every label. @param word what most of them say */
export async function seedTenant(store: TestStore, tenant: TenantId, word = 'seed'): Promise<void> {
  const intent = () => intentOf({ principal: { sub: word, roles: ['etl'] } })
  const seed = { kind: 'schema', mode: 'enforce', name: 's', message: '', definition_cel: 'true' }
  await store.tenantTransaction(tenant, async (tx) => {
    for (const label of vertexLabels)
      await upsertNode(tx, tenant, { label, id: `${word} ${label}`, properties: seed })
    const end = { label: 'Table', id: `${word} Table` } as const
    for (const label of edgeLabels)
      await upsertEdge(tx, tenant, { label, id: `${word} ${label}`, from: end, to: end })
    await tx.query(`insert into svc.breach (tenant_id, kind, subject, detail) values ($1, $2, '', '{}')`, [
      tenant,
      word,
    ])
  })
  await putCatalogCredential(store, tenant, {
    kind: 'alpha',
    nickname: word,
    endpoint: 'https://catalog.example',
    config: {},
  })
  const principal = { sub: word, roles: [] }
  const { id } = await createServiceSession(store, tenant, { name: word, principal, scopes: [] })
  await putWorkloadTrust(store, tenant, seedTrust, actorOf(word))
  await putTokenIssuer(store, tenant, seedIssuer, actorOf(word))
  await seedPeople(store, tenant, word)
  await leaveVended(store, tenant, id)
  await recordStagedCheck(store, tenant, { sessionId: id, files: 1, bytes: 1, complete: true })
  const login = { principal, scopes: [], providerSid: undefined }
  await createBrowserSession(store, tenant, login, undefined)
  await putPolicy(store, tenant, { namespace: [word], name: word }, policyOf(word))
  await openIntent(store, tenant, intent())
  const kept = { key: Bun.randomUUIDv7(), sha256: word, commits: [crypto.randomUUID()] }
  await keepRefusal(store, tenant, kept, { status: 409, body: '{}' })
  const settled = intent()
  await openIntent(store, tenant, settled, { leaseMs: 0, upstreamMs: 0 })
  const settlement = { outcome: 'not-made', metadataLocation: undefined, reason: word } as const
  await settleIntent(store, tenant, settled.commitId, settlement, actorOf(word))
  await recordVerdict(store, tenant, rejectedOf(intent()))
  const runId = crypto.randomUUID()
  const received = ['a', 'b'].map((job) => receivedEvent({ runId, inputs: [job], job }))
  const mapping = { namespace: 'hive://seed', firstLevel: '', catalog: word }
  await putNamespace(store, tenant, mapping, actorOf(word))
  received.push(receivedEvent({ inputs: [{ namespace: 'hive://seed', name: 'seed.seed' }] }))
  await receiveLineage(store, tenant, received, true)
  await seedTakenBack(store, tenant)
  const cycles = [[{ namespace: word, name: word }]]
  await recordSweep(store, tenant, { cycles, edges: '0 0' })
  await seedDetection(store, tenant)
  await recordVerdict(store, tenant, {
    ...approvedOf(intent()),
    policies: [appliedPolicy(policyOf(word))],
  })
  await recordUnjudged(store, tenant, unjudgedOf(intent()))
  await seedReplay(store, tenant)
  await addReadLineage(store, tenant, [readLineage])
  await recordUsage(store, tenant, usageRecord({ statedPurpose: 'refunds' }))
  // A transaction of another database of the server may hold it up.
  await eventually(async () => {
    await rollUsage(store, tenant)
    const [row] = await store.tenantQuery(tenant, 'select from svc.usage_total limit 1')
    return row !== undefined
  })
  await reconcileTenant(store, tenant)
  await openUsage(store, tenant, usageRecord({ outcome: 'failed', sqlState: '57P01' }))
  await putReadSettings(store, tenant, actorOf(word), { uncontracted: 'to_writers' })
  await seedTerritory(store, tenant)
  await seedWebhook(store, tenant)
  await putSource(store, tenant, seedSource, actorOf(word))
  await seedContractVersion(store, tenant)
  await seedAccess(store, tenant)
  await seedChecks(store, tenant)
  await seedTransform(store, tenant)
  await seedSemantics(store, tenant)
  await lastEvent(store, tenant)
  await storeOperation(store, tenant, '{ __typename }', actorOf(word))
  await saveStoredOnly(store, tenant, false, actorOf(word))
  await putRetention(store, tenant, 'commit-bodies', 90, actorOf(word))
  await removeExpired(store, tenant, 'commit-bodies')
  await seedProof(store, tenant)
}
