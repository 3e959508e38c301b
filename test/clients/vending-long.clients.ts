/**
 * A job of Spark that lasts longer than the credentials with which it began: a quarter of an hour, by the lifetimes that
 * the service asks for and the storage keeps.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { metric } from '../support/service.ts'
import { type Lake, type LakeClient, startLake } from './lake.ts'

let lake: Lake
let spark: LakeClient

beforeAll(async () => {
  lake = await startLake('vend')
  const logins = {
    covenant: await lake.logIn('writer', ['commit']),
    reading: await lake.logIn('reader', ['read']),
  }
  spark = await lake.spark('vending-long', logins, 1_400)
  await spark.run(
    `CREATE TABLE covenant.sales.orders_s3 (id BIGINT, note STRING) USING iceberg LOCATION '${lake.place('orders')}'`,
  )
  await spark.run(`INSERT INTO covenant.sales.orders_s3 VALUES (1, 'orders')`)
}, 300_000)
afterAll(() => lake?.[Symbol.asyncDispose]())

test('vending-long: a reader’s job of sixteen minutes reads on, with other credentials than at its start', async () => {
  const table = 'reading.sales.orders_s3'
  const [[own = ''] = []] = (await spark.run(`SELECT DISTINCT _file FROM ${table}`)) as string[][]
  const issued = 'svc_credentials_vended_total{access="read"}'
  const before = await metric(lake.service, issued)
  // Spark's clock is its own.
  for (let half = 0; half < 32; half++) {
    await spark.run(`SELECT reflect('java.lang.Thread', 'sleep', 30000L)`)
    await spark.run({ table, read: own })
  }
  expect(await metric(lake.service, issued)).toBeGreaterThan(before)
}, 1_500_000)
