/** The embedded engine takes bytes of the process's budget from its first statement until it is closed. */

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { OpenCatalogs } from '../../src/catalog/open-catalog.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import { engineHeldBytes, openEngines } from '../../src/engine/open-engines.ts'
import { allowing } from '../support/address-rules.ts'
import { failure, tenant } from '../support/engine.ts'

const MiB = 1024 * 1024
const memoryBytes = 256 * MiB

test('a statement is 53200 while there is no memory for the engine, and the engine starts once there is', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'held-engine-'))
  const bytesMax = engineHeldBytes(memoryBytes)
  const budget = new ByteBudget({ bytesMax, keptForSmall: 0, smallBytesMax: 0 })
  const addressRules = allowing('127.0.0.0/8')
  const engines = openEngines({
    addressRules,
    catalogs: new OpenCatalogs({ addressRules }),
    directory,
    memoryBytes,
    cacheBytes: 64 * MiB,
    queries: 2,
    poolThreads: 16,
    budget,
  })
  const duckdb = engines.get('duckdb')
  if (duckdb === undefined) throw new Error('there is no such engine')
  const credential: CatalogCredential = {
    id: 'c1',
    version: 1,
    kind: 'alpha',
    nickname: 'lake',
    endpoint: 'http://127.0.0.1:1',
    config: { storage_roots: [directory] },
  }
  try {
    const filler = budget.reserve({ body: 1 })
    expect(await failure(duckdb.engine(tenant, credential))).toMatchObject({ code: '53200' })
    expect(budget.held('engine')).toBe(0)
    filler.release()
    await budget.during(async () => void (await duckdb.engine(tenant, credential)))
    expect(budget.held('engine')).toBe(bytesMax)
  } finally {
    for (const kind of engines.values()) await kind.close()
    rmSync(directory, { recursive: true, force: true })
  }
  expect(budget.held('engine')).toBe(0)
})
