/** A catalog database takes bytes of the process's budget, and is refused where there is no room for it. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { planMemory } from '../../../../src/app/open-budget.ts'
import { ByteBudget } from '../../../../src/base/byte-budget.ts'
import { newTenantId } from '../../../../src/core/tenant.ts'
import { limits } from '../../../../src/limits.ts'
import { openCatalogService } from '../../../../src/server/pgwire/catalog/open-catalog-service.ts'
import { toReport } from '../../../../src/server/pgwire/wire-error.ts'
import { testCatalogOptions } from './compare.ts'
import { sampleTables } from './sample-catalog.ts'
import { query, readAnswer } from './wire.ts'

setDefaultTimeout(300_000)

const MiB = 1024 * 1024

const session = {
  tenant: newTenantId(),
  principal: { sub: 'alice', roles: [] },
  catalog: 'main',
  searchPath: ['public'],
  settings: new Map<string, string>(),
  backendPid: 1,
}

test('in a process that is too small for a database, a statement is 53200 with what to do, and nobody is told to retry', async () => {
  const { catalogRefusal } = planMemory(1024 * MiB, undefined)
  const source = { mark: async () => ({ text: '', tableCount: 0 }), tables: async () => sampleTables }
  const service = openCatalogService({
    ...{ source, activity: () => [], ...testCatalogOptions },
    refusal: catalogRefusal,
  })
  const answer = readAnswer(await service.execute(session, query('select 1 from pg_class limit 1')))
  expect(answer.error).toMatchObject({ code: '53200' })
  expect(answer.error?.message).toContain('Give it 2 GiB, or lower SVC_READ_MEMORY_MB (docs/sizing.md).')
  expect(answer.error?.message).not.toContain('etry')
  expect(service.databases).toBe(0)
})

test('a statement about the catalog is 53200 while there is no memory for a database, and runs once there is', async () => {
  const bytesMax = limits.catalogBuildHeldBytes
  const budget = new ByteBudget({ bytesMax, keptForSmall: 0, smallBytesMax: 0 })
  const source = { mark: async () => ({ text: '', tableCount: 0 }), tables: async () => sampleTables }
  const service = openCatalogService({ source, activity: () => [], ...testCatalogOptions, budget })
  await service.prepare()
  const filler = budget.reserve({ body: bytesMax })
  const ask = () => service.execute(session, query('select 1 from pg_class limit 1'))
  const refused = await ask().catch((thrown: unknown) => toReport(thrown))
  expect(refused).toMatchObject({
    sqlState: '53200',
    message: 'The service has no memory left for this request. Retry.',
  })
  filler.release()
  expect(readAnswer(await ask()).rows).toEqual([['1']])
  expect(budget.held('engine')).toBe(limits.catalogHeldBytes)
  service.close()
  expect(budget.held('engine')).toBe(0)
})
