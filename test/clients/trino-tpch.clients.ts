/**
 * TPC-H at scale factor 0.1, through the compiler on Trino and on the embedded engine, and directly on PostgreSQL.
 * Trino's generator makes the rows and writes them to Iceberg tables, which both engines read.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Sql } from 'postgres'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import { typeOid } from '../../src/core/sql-type.ts'
import { normal, typeIn } from '../query/support/compare.ts'
import type { Answer } from '../query/support/duckdb.ts'
import { askOracle, startOracle } from '../query/support/postgres.ts'
import { startTestEngine, tenant } from '../support/engine.ts'
import { startRestFixture } from './servers.ts'
import { tpchQueries } from './tpch-queries.ts'
import { icebergCatalog, startTrino, trinoSql } from './trino-server.ts'
import {
  currentSnapshot,
  type GovernedReader,
  governedReader,
  loadTable,
  trinoEngine,
} from './trino-tables.ts'

/** Columns by table: l for long, i for int, n for decimal(12,2), t for text, d for date. */
const schema: Readonly<Record<string, string>> = {
  region: 'l r_regionkey, t r_name, t r_comment',
  nation: 'l n_nationkey, t n_name, l n_regionkey, t n_comment',
  supplier: 'l s_suppkey, t s_name, t s_address, l s_nationkey, t s_phone, n s_acctbal, t s_comment',
  customer:
    'l c_custkey, t c_name, t c_address, l c_nationkey, t c_phone, n c_acctbal, t c_mktsegment, t c_comment',
  part: 'l p_partkey, t p_name, t p_mfgr, t p_brand, t p_type, i p_size, t p_container, n p_retailprice, t p_comment',
  partsupp: 'l ps_partkey, l ps_suppkey, i ps_availqty, n ps_supplycost, t ps_comment',
  orders:
    'l o_orderkey, l o_custkey, t o_orderstatus, n o_totalprice, d o_orderdate, t o_orderpriority, t o_clerk, i o_shippriority, t o_comment',
  lineitem:
    'l l_orderkey, l l_partkey, l l_suppkey, i l_linenumber, n l_quantity, n l_extendedprice, n l_discount, n l_tax, t l_returnflag, t l_linestatus, d l_shipdate, d l_commitdate, d l_receiptdate, t l_shipinstruct, t l_shipmode, t l_comment',
}
/** Without them PostgreSQL takes minutes for correlated subqueries. */
const indexes = [
  'lineitem (l_partkey, l_suppkey)',
  'lineitem (l_orderkey)',
  'orders (o_custkey)',
  'orders (o_orderkey)',
  'partsupp (ps_partkey)',
  'part (p_partkey)',
]

const icebergTypes: Readonly<Record<string, string>> = {
  l: 'long',
  i: 'int',
  n: 'decimal(12,2)',
  t: 'string',
  d: 'date',
}
const postgresTypes: Readonly<Record<string, string>> = {
  l: 'bigint',
  i: 'int',
  n: 'numeric(12,2)',
  t: 'text',
  d: 'date',
}

const columnsOf = (columns: string) =>
  columns.split(', ').map((each) => each.split(' ') as [type: string, name: string])

const tables = Object.entries(schema).map(
  ([name, columns]): GovernedTable => ({
    ref: { namespace: ['tpch'], name },
    schemaName: 'tpch',
    tableName: name,
    relation: { trino: ['lake', 'tpch', name] },
    columns: columnsOf(columns).map(([type, column], index) => ({
      name: column,
      fieldId: index + 1,
      type: icebergTypes[type] ?? '',
      required: false,
      masks: [],
    })),
    rowFilters: [],
    contract: { id: 'tpch', version: 1 },
  }),
)

const stack = new AsyncDisposableStack()
let trino: GovernedReader
let embedded: GovernedReader
let postgres: Sql

beforeAll(async () => {
  const oracle = await startOracle()
  if (oracle === undefined) throw new Error('this platform has no packaged PostgreSQL')
  stack.defer(() => oracle.stop())
  postgres = oracle.admin
  const files = await DuckDBInstance.create(':memory:')
  stack.defer(() => files.closeSync())
  const reader = await files.connect()
  stack.defer(() => reader.closeSync())
  const started = await startTestEngine({ memoryBytesMax: 1024 ** 3 })
  stack.defer(() => started.close())
  const fixture = stack.use(await startRestFixture())
  const server = stack.use(
    await startTrino({
      catalogs: {
        lake: icebergCatalog(fixture.url),
        generator: {
          'connector.name': 'tpch',
          'tpch.column-naming': 'STANDARD',
          'tpch.double-type-mapping': 'DECIMAL',
        },
      },
    }),
  )
  const folder = await mkdtemp(join(tmpdir(), 'covenant-tpch-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  await trinoSql(server.url, 'CREATE SCHEMA lake.tpch')
  for (const table of tables) {
    const name = table.tableName
    const columns = schema[name] ?? ''
    const names = columnsOf(columns).map(([, column]) => column)
    await trinoSql(
      server.url,
      `CREATE TABLE lake.tpch.${name} AS SELECT ${names.join(', ')} FROM generator."sf0.1".${name}`,
    )
    const { metadata } = await loadTable(fixture.url, table)
    const data = join(new URL(String(metadata.get('location'))).pathname, '**/*.parquet')
    const csv = join(folder, `${name}.csv`)
    await reader.run(`COPY (FROM read_parquet('${data}')) TO '${csv}' (FORMAT csv, HEADER false)`)
    const types = columnsOf(columns).map(([type, column]) => `${column} ${postgresTypes[type]}`)
    await postgres.unsafe(`CREATE TABLE ${name} (${types.join(', ')})`)
    await postgres.unsafe(`COPY ${name} FROM '${csv}' (FORMAT csv)`)
  }
  for (const index of indexes) await postgres.unsafe(`CREATE INDEX ON ${index}`)
  await postgres.unsafe('ANALYZE')
  const snapshots = await Promise.all(tables.map((table) => currentSnapshot(fixture.url, table)))
  trino = governedReader(trinoEngine(server.url, fixture.url), snapshots, ['tpch'])
  const access = { roots: [fixture.folder], s3: undefined }
  embedded = governedReader(started.host.engine({ tenant, key: 'tpch', access }), snapshots, ['tpch'])
}, 300_000)

afterAll(() => stack.disposeAsync())

test('trino-tpch: the tables hold what the scale factor 0.1 asks for', async () => {
  for (const [name, expected] of [
    ['orders', '150000'],
    ['customer', '15000'],
    ['lineitem', '600572'],
  ])
    for (const engine of [embedded, trino])
      expect((await engine.run(`SELECT count(*) FROM ${name}`)).rows).toEqual([[expected ?? '']])
})

test.each(Object.entries(tpchQueries))(
  'trino-tpch: %s gives the same on PostgreSQL, the embedded engine and Trino',
  async (_, sql) => {
    const expected = await askOracle(postgres, sql)
    if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
    const check = ({ columns, rows }: Answer) => {
      expect(columns.map(({ name, type }) => [name, String(typeOid(type))])).toEqual(
        expected.columns.map(({ name, type }) => [name, typeIn(type)]),
      )
      const types = columns.map(({ type }) => type)
      expect(normal(rows, types, true)).toEqual(normal(expected.rows, types, true))
    }
    check(await embedded.run(sql))
    check(await trino.run(sql))
  },
)
