/**
 * Metrics on a real Trino, over Iceberg tables that it wrote itself: random combinations of metrics, dimensions, filters
 * and grains of warehouses like TPC-H and TPC-DS equal SQL by hand on PostgreSQL, for every principal.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TableSnapshot } from '../../src/engine/engine.ts'
import { type Oracle, startOracle } from '../query/support/postgres.ts'
import { cases, compareRandom, fillOracle, readings, seed } from '../semantics/oracle/compare.ts'
import { governedFor, trinoSetup } from '../semantics/oracle/warehouse.ts'
import { startRestFixture } from './servers.ts'
import { icebergCatalog, startTrino, trinoSql } from './trino-server.ts'
import { currentSnapshot, governedReader, trinoEngine } from './trino-tables.ts'

/** Of each reader of each warehouse: over 500 in all. A query takes Trino a fraction of a second. */
const rounds = 63

const stack = new AsyncDisposableStack()
let oracle: Oracle
let engine: ReturnType<typeof trinoEngine>
/** By namespace and table. */
const snapshots = new Map<string, TableSnapshot>()

beforeAll(async () => {
  const started = await startOracle()
  if (started === undefined) throw new Error('this platform has no packaged PostgreSQL')
  oracle = started
  stack.defer(() => oracle.stop())
  await fillOracle(oracle)
  const fixture = stack.use(await startRestFixture())
  const trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  for (const { warehouse } of cases) {
    for (const statement of trinoSetup(warehouse)) await trinoSql(trino.url, statement)
    for (const table of governedFor(warehouse, { sub: 'loader', roles: [] }))
      snapshots.set(`${warehouse.namespace}.${table.tableName}`, await currentSnapshot(fixture.url, table))
  }
  engine = trinoEngine(trino.url, fixture.url)
}, 400_000)
afterAll(() => stack.disposeAsync())

test('trino-metrics: every principal gets what SQL by hand gives on PostgreSQL', async () => {
  console.log(`seed ${seed}`)
  for (const [namespace, sub, one, principal] of readings) {
    const seen = governedFor(one.warehouse, principal).flatMap((table) => {
      const found = snapshots.get(`${namespace}.${table.tableName}`)
      return found === undefined ? [] : [{ ...found, table }]
    })
    expect(seen).toHaveLength(one.warehouse.tables.length)
    const reader = governedReader(engine, seen, [], principal)
    const { values } = await compareRandom(
      oracle,
      one,
      principal,
      rounds,
      (text, parameters, { expansion }) => reader.run(text, parameters, expansion),
    )
    if (sub !== 'nil') expect(values).toBeGreaterThan(rounds * 5)
  }
}, 800_000)
