/** Names of tables are split by the conventions of their producers. */

import { expect, test } from 'bun:test'
import { datasetLevels, namesLocations } from '../../src/lineage/dataset-levels.ts'

const cases = [
  ['Trino', 'trino://trino.example:8080', 'lake.sales.orders', ['lake', 'sales', 'orders'], true],
  ['Spark with Hive', 'hive://metastore:9083', 'sales.orders', ['sales', 'orders'], false],
  ['Spark with a REST catalog', 'https://svc/v1/iceberg/main', 'sales.orders', ['sales', 'orders'], false],
  ['dbt on PostgreSQL', 'postgres://svc:5432', '"main"."sales"."orders"', ['main', 'sales', 'orders'], true],
  ['dbt on Spark', 'spark://thrift:10000', 'sales.orders', ['sales', 'orders'], false],
  ['Flink', 'flink://jobs', 'lake.sales.orders', ['lake', 'sales', 'orders'], true],
  ['Glue', 'arn:aws:glue:eu-west-1:123456789012', 'table/sales/orders', ['sales', 'orders'], false],
] as const

test.each(cases)('%s: %s %s', (_, namespace, name, levels, isCatalogFirst) => {
  expect(datasetLevels({ namespace, name })).toEqual({ levels: [...levels], isCatalogFirst })
})

test('a location, a topic and a name without levels are no names of tables', () => {
  for (const [namespace, name] of [
    ['s3://bucket', 'warehouse/sales.orders'],
    ['s3://bucket', 'sales.orders'],
    ['file', '/tmp/sales.orders'],
    ['kafka://broker:9092', 'sales.orders'],
    ['trino://trino.example:8080', 'orders'],
    ['arn:aws:glue:eu-west-1:123456789012', 'job/sales/orders'],
    ['postgres://db:5432', 'sales.or ders'],
  ] as const)
    expect([namespace, name, datasetLevels({ namespace, name })]).toEqual([namespace, name, undefined])
  expect(['s3://bucket', 'file', 'trino://t:1'].map(namesLocations)).toEqual([true, true, false])
})
