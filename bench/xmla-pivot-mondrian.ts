/**
 * Mondrian on PostgreSQL with the rows of the benchmark xmla-pivot: the same pivot, from its text to its cells. Its caches
 * are emptied before each turn, because a reader of governed rows shares none.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startOlap } from '../test/clients/olap.ts'
import { CannotFetch, fetchPackage, packageFolder } from '../test/clients/packages.ts'
import { startOracle } from '../test/query/support/postgres.ts'
import { freePort } from '../test/support/free-port.ts'
import { type LakeTable, selectList } from '../test/support/lake-tables.ts'
import { BenchUsageError } from './entry.ts'

export interface PivotMondrian extends AsyncDisposable {
  /** Runs the pivot of a measure. @returns how many cells have a value */
  cells(measure: string): Promise<number>
}

const fetchSeconds = 600

const schema = `<Schema name="bench"><Cube name="sales.sold"><Table schema="sales" name="seen"/>
<Dimension name="region"><Hierarchy hasAll="true" allMemberName="All">
  <Level name="region" column="region" type="String" uniqueMembers="true"/></Hierarchy></Dimension>
<Dimension name="status"><Hierarchy hasAll="true" allMemberName="All">
  <Level name="status" column="status" type="String" uniqueMembers="true"/></Hierarchy></Dimension>
<Dimension name="month"><Hierarchy hasAll="true" allMemberName="All">
  <Level name="month" column="month" type="String" uniqueMembers="true"/></Hierarchy></Dimension>
<Measure name="revenue" column="amount" aggregator="sum"/>
<Measure name="customers" column="customer" aggregator="distinct-count"/></Cube></Schema>`

/** A slicer stands for the subselect, which Mondrian does not read. */
const pivot = (measure: string) =>
  `SELECT NON EMPTY [region].Members ON COLUMNS, NON EMPTY [month].Members ON ROWS FROM [sales.sold]
WHERE {([Measures].[${measure}], [status].[s1]), ([Measures].[${measure}], [status].[s3])}`

/** @throws BenchUsageError where its packages cannot be had */
export async function startPivotMondrian(
  { columns, rowCount, rowFilter }: LakeTable,
  note: (line: string) => void,
): Promise<PivotMondrian> {
  for (const name of ['debian:olap', 'maven:pgwire'] as const)
    try {
      await fetchPackage(name, AbortSignal.timeout(fetchSeconds * 1_000))
    } catch (error) {
      if (error instanceof CannotFetch) throw new BenchUsageError(`--mondrian: ${error.message}`)
      throw error
    }
  const stack = new AsyncDisposableStack()
  const port = freePort()
  const oracle = await startOracle({ port })
  if (oracle === undefined) throw new BenchUsageError('--mondrian: this platform has no packaged PostgreSQL')
  stack.defer(() => oracle.stop())
  note(`writing ${rowCount} rows into PostgreSQL`)
  await oracle.admin.unsafe(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.sold AS SELECT *, date_trunc('month', day)::date::text AS month
      FROM (SELECT ${selectList(columns)} FROM generate_series(1::bigint, ${rowCount}) AS t(i)) s;
    CREATE VIEW sales.seen AS SELECT * FROM sales.sold WHERE ${rowFilter};
    ANALYZE sales.sold`)
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'schema.xml'), schema)
  const client = stack.use(
    await startOlap('bench-mondrian', { jars: [join(packageFolder('maven:pgwire'), 'lib/*')] }),
  )
  const url = `jdbc:mondrian:Jdbc=jdbc:postgresql://127.0.0.1:${port}/postgres?user=postgres;JdbcDrivers=org.postgresql.Driver;Catalog=file:${join(folder, 'schema.xml')}`
  return {
    async cells(measure) {
      await client.connect(url)
      await client.ask('flush')
      await client.connect(url)
      const { values } = await client.mdx(pivot(measure))
      return values.filter((value) => value !== null).length
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
