/** One Spark with the catalogs of a writer, of a reader and of another tenant, and three tables in them. */

import type { TestTenant } from '../support/service.ts'
import type { Lake, LakeClient, LakeLogin } from './lake.ts'

export interface SparkTenants {
  readonly other: TestTenant
  /** The login of the other tenant's writer. */
  readonly theirs: LakeLogin
  /** Its catalogs are `covenant`, `reading` and `theirs`. */
  readonly spark: LakeClient
  /** The rows of a table, by id. */
  readonly rows: (table: string) => Promise<unknown>
  /** The locations of a table's data files. */
  readonly filesOf: (table: string) => Promise<readonly string[]>
}

/** Starts Spark and makes `orders` and `secrets` of the one tenant and `foreign` of the other, each with one row. */
export async function startSparkTenants(lake: Lake, log: string): Promise<SparkTenants> {
  const other = await lake.addTenant('other')
  const theirs = await lake.logIn('theirs', ['commit'], other)
  const spark = await lake.spark(
    log,
    {
      covenant: await lake.logIn('writer', ['commit']),
      reading: await lake.logIn('reader', ['read']),
      theirs,
    },
    550,
  )
  for (const [catalog, name] of [
    ['covenant', 'orders'],
    ['covenant', 'secrets'],
    ['theirs', 'foreign'],
  ] as const) {
    await spark.run(
      `CREATE TABLE ${catalog}.sales.${name}_s3 (id BIGINT, note STRING) USING iceberg LOCATION '${lake.place(name)}'`,
    )
    await spark.run(`INSERT INTO ${catalog}.sales.${name}_s3 VALUES (1, '${name}')`)
  }
  return {
    ...{ other, theirs, spark },
    rows: (table) => spark.run(`SELECT id, note FROM ${table} ORDER BY id`),
    async filesOf(table) {
      const files = (await spark.run(`SELECT DISTINCT _file FROM ${table}`)) as readonly (readonly [string])[]
      return files.map(([location]) => location)
    },
  }
}
