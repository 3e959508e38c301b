/** Replays of several tenants: the backlog of one holds up no other for more than a batch. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { ReplayDraft } from '../../../src/core/policy-replay.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { advanceReplay, nextChanges, nextReplay, startReplay } from '../../../src/store/commit/replays.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let busy: TenantId
let quiet: TenantId
beforeAll(async () => {
  store = await openTestStore()
  busy = (await makeTenant(store, { name: 'busy' })).id
  quiet = (await makeTenant(store, { name: 'quiet' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

async function start(tenant: TenantId, commits: number): Promise<void> {
  for (let made = 0; made < commits; made++) await recordVerdict(store, tenant, approvedOf(intentOf()))
  const rule = { name: 'any', message: '', definitionCel: 'true', scope: { namespace: ['sales'] } }
  const draft: ReplayDraft = { ...rule, kind: 'schema' }
  await startReplay(store, tenant, { draft, commits: 1_000 }, actorOf('stella'))
}

test('a tenant with a short replay has every other batch beside a tenant with a long one', async () => {
  await start(busy, 6)
  await start(quiet, 2)
  const turns: (TenantId | undefined)[] = []
  for (;;) {
    const replay = await nextReplay(store)
    if (replay === undefined) break
    turns.push(replay.tenant)
    const changes = await nextChanges(store, replay, { changesMax: 1, bytesMax: 1_000_000 })
    await advanceReplay(
      store,
      replay,
      changes.map((change) => [change, { outcome: 'allowed' }]),
    )
  }
  // The last of each finds no commit more.
  expect(turns).toEqual([busy, quiet, busy, quiet, busy, quiet, busy, busy, busy, busy])
})
