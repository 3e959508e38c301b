/** What a round of jobs costs: it asks for all tenants at once, and looks at those that have changed. On a server. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rememberLooks } from '../../../src/base/last-looks.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import {
  activeTenants,
  tenantChanges,
  tenantsToRoll,
  tenantsToSweep,
  tenantsWithContracts,
  tenantsWithExpired,
} from '../../../src/store/jobs/due-tenants.ts'
import { recordUsage, rollUsage } from '../../../src/store/query/usage.ts'
import { suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { seedContractVersion } from '../../support/contract-versions.ts'
import { countStatements } from '../../support/counted-store.ts'
import { eventually } from '../../support/eventually.ts'
import { lineageEvent, sendLineage } from '../../support/lineage.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

const often = [
  ...[
    'roll-usage',
    'sweep-territory',
    'retry-lineage',
    'end-attestations',
    'schedule-checks',
    'poll-snapshots',
  ],
]

// Skipped where no server is named: an embedded store keeps no counts, so every round looks at all.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a round of jobs', () => {
  const counted = countStatements()
  let service: TestService
  let idle: readonly TenantId[]
  beforeAll(async () => {
    service = await startTestService({ wrapStore: counted.wrap })
    idle = []
    for (let count = 0; count < 5; count++)
      idle = [...idle, (await makeTenant(service.store, { name: `idle ${count}` })).id]
  })
  afterAll(() => service[Symbol.asyncDispose]())

  const round = async () => {
    for (const job of often) await service.app.jobs.run(job)
    return counted.take()
  }
  /** The statements in tenants' contexts of a round that found nothing to do; the counts of the server come late. */
  const quietRound = async () => {
    let last = -1
    await eventually(async () => {
      const now = await round()
      const isQuiet = now === last
      last = now
      return isQuiet
    })
    return last
  }

  test('asks nothing of a tenant that has not changed', async () => {
    await service.app.jobs.run('poll-snapshots')
    const before = await quietRound()
    for (let count = 0; count < 5; count++) await makeTenant(service.store, { name: `more ${count}` })
    expect(await quietRound()).toBe(before)
  })

  test('looks at the one tenant that has changed, and at no other', async () => {
    const [one = '' as TenantId] = idle
    const state = async (tenant: TenantId) => (await tenantChanges(service.store))?.get(tenant)
    const [before, others] = [await state(one), await state(service.owner.tenant)]
    await service.store.tenantQuery(
      one,
      `insert into "Table" (properties) values (jsonb_build_object('id', 'x', 'tenant_id', '${one}')::text::agtype)`,
    )
    await eventually(async () => (await state(one))?.tables !== before?.tables)
    expect(await state(one)).toEqual({ ...before, tables: (await state(one))?.tables ?? '' } as never)
    expect(await state(service.owner.tenant)).toEqual(others)
  })

  test('sees events of lineage, usage, contracts and catalogs of the tenants that have some', async () => {
    const { store, owner, catalog } = service
    const before = (await tenantChanges(store))?.get(owner.tenant)?.lineage
    await sendLineage(service, lineageEvent({ inputs: ['a'], outputs: ['b'] }))
    await eventually(async () => (await tenantChanges(store))?.get(owner.tenant)?.lineage !== before)

    await recordUsage(store, owner.tenant, usageRecord())
    expect(await tenantsToRoll(store)).toEqual([owner.tenant])
    // A transaction of another database of the server may hold it up.
    await eventually(async () => {
      await rollUsage(store, owner.tenant)
      return (await tenantsToRoll(store)).length === 0
    })

    expect([...(await tenantsWithContracts(store)).keys()]).not.toContain(owner.tenant)
    await seedContractVersion(store, owner.tenant)
    expect(await tenantsWithExpired(store)).toEqual([])

    const { tenant } = await addTenant(store, 'unswept', catalog.url)
    expect(await tenantsToSweep(store, 3_600_000)).toContain(tenant)
    await suspendTenant(store, tenant)
    expect(await activeTenants(store)).not.toContain(tenant)
  })

  test('a look over all tenants sees no content of theirs', async () => {
    for (const column of [
      'svc.query_usage.principal_sub',
      'svc.contract_version.body',
      'svc.metric_attestation.reason',
    ]) {
      const [schema, table, name] = column.split('.')
      const work = service.store.adminQuery(`select ${name} from ${schema}.${table}`)
      expect(
        await work.then(
          () => 'read',
          () => 'refused',
        ),
      ).toBe('refused')
    }
  })
})

test('a thing is looked at where its state is another one, is unknown, or was seen long ago', () => {
  let nowMs = 0
  const looks = rememberLooks<string>(100, () => nowMs)
  expect(looks.isDue('a', '1')).toBe(true)
  looks.note('a', '1')
  expect([looks.isDue('a', '1'), looks.isDue('a', '2'), looks.isDue('a', undefined)]).toEqual([
    false,
    true,
    true,
  ])
  nowMs = 100
  expect(looks.isDue('a', '1')).toBe(true)
  looks.note('a', '1')
  looks.keepOnly(new Set())
  expect(looks.isDue('a', '1')).toBe(true)
})
