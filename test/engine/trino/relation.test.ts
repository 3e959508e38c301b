/** The names of tables in Trino, which folds names and reads a snapshot with the schema of its time. */

import { expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, parseJson } from '../../../src/base/json.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { TableSnapshot } from '../../../src/engine/engine.ts'
import { assertSameColumns, trinoRelationSql } from '../../../src/engine/trino/relation.ts'
import { failureOf, openSession, scriptTrino } from './scripted-trino.ts'

function snapshot(
  namespace: readonly string[],
  name: string,
  columns: Readonly<Record<string, number>> = {},
  snapshotId: bigint | undefined = 9_007_199_254_740_993n,
): TableSnapshot {
  const table: GovernedTable = {
    ref: { namespace, name },
    schemaName: namespace.join('.'),
    tableName: name,
    relation: {},
    columns: Object.entries(columns).map(([column, fieldId]) => ({
      name: column,
      fieldId,
      type: 'string',
      required: false,
      masks: [],
    })),
    rowFilters: [],
  }
  return { table, metadataLocation: 's3://b/t/metadata/1.json', snapshotId }
}

/** Snapshot 1 is of schema 0; snapshot 9007199254740993, the current one, of schema 1; schema 2 is current. */
function metadataWith(...schemas: readonly Readonly<Record<string, number>>[]): JsonObject {
  const value = parseJson(
    `{"format-version":2,"current-schema-id":${schemas.length - 1},"schemas":${JSON.stringify(
      schemas.map((fields, id) => ({
        'schema-id': id,
        fields: Object.entries(fields).map(([name, fieldId]) => ({ name, id: fieldId, type: 'string' })),
      })),
    )},"snapshots":[{"snapshot-id":1,"schema-id":0},{"snapshot-id":9007199254740993,"schema-id":1}]}`,
  )
  if (!isJsonObject(value)) throw new Error('no object')
  return value
}

const refusal = (run: () => unknown) => failureOf(Promise.try(run))

test('names a table at its snapshot, every digit of it', () => {
  expect(trinoRelationSql('lake', snapshot(['sales'], 'orders'))).toBe(
    '"lake"."sales"."orders" FOR VERSION AS OF 9007199254740993',
  )
})

test('joins the levels of a namespace, and quotes what needs it', () => {
  expect(trinoRelationSql('my "lake"', snapshot(['hr', 'eu-1'], 'a "b'))).toBe(
    '"my ""lake"""."hr.eu-1"."a ""b" FOR VERSION AS OF 9007199254740993',
  )
})

test('a table without a snapshot is read as empty, whatever is written meanwhile', () => {
  const { table, metadataLocation } = snapshot(['sales'], 'orders')
  expect(trinoRelationSql('lake', { table, metadataLocation, snapshotId: undefined })).toBe(
    '(SELECT * FROM "lake"."sales"."orders" WHERE FALSE)',
  )
})

test.each([
  [['sales'], 'Orders'],
  [['Sales'], 'orders'],
  [['sales'], 'Ünits'],
  [['sales'], 'orders$snapshots'],
  [['sales'], 'orders@1'],
  [['sales'], ''],
  [['sales'], 'a\0b'],
  [['sales.eu'], 'orders'],
])('refuses %j %j, which Trino would read as another name', async (namespace, name) => {
  expect(await refusal(() => trinoRelationSql('lake', snapshot(namespace, name)))).toMatchObject({
    code: '0A000',
  })
})

test('takes columns that are the same fields in the schema of the snapshot, in whatever case', () => {
  const metadata = metadataWith({}, { id: 1, Name: 2, other: 3 }, { id: 1, Name: 2, other: 3, added: 4 })
  expect(() => assertSameColumns(snapshot(['s'], 't', { id: 1, Name: 2 }), metadata)).not.toThrow()
})

test('refuses a table where a masked column was renamed and another one took its name', async () => {
  const metadata = metadataWith({}, { id: 1, name: 2 }, { id: 1, real_name: 2, name: 3 })
  const governed = snapshot(['s'], 't', { id: 1, real_name: 2, name: 3 })
  expect(await refusal(() => assertSameColumns(governed, metadata))).toMatchObject({ code: '0A000' })
})

test('refuses columns that Trino takes for one', async () => {
  const metadata = metadataWith({}, { name: 1, NAME: 2 })
  expect(await refusal(() => assertSameColumns(snapshot(['s'], 't', { name: 1 }), metadata))).toMatchObject({
    code: '0A000',
  })
})

test('refuses a column that would be one of Trino’s own', async () => {
  const metadata = metadataWith({}, { $path: 1 })
  expect(await refusal(() => assertSameColumns(snapshot(['s'], 't', { $path: 1 }), metadata))).toMatchObject({
    code: '0A000',
  })
})

test.each([
  ['no snapshot of that number', metadataWith({}, {}), 5n],
  ['no schema of the snapshot', metadataWith({}), 9_007_199_254_740_993n],
  ['no schemas', new Map() as JsonObject, undefined],
])('metadata with %s cannot be read', async (_, metadata, id) => {
  const { table, metadataLocation } = snapshot(['s'], 't')
  const governed = { table, metadataLocation, snapshotId: id }
  expect(await refusal(() => assertSameColumns(governed, metadata))).toMatchObject({ code: '58030' })
})

test('a session opens no table whose columns moved, and asks Trino nothing', async () => {
  await using trino = scriptTrino([])
  const tables = [snapshot(['s'], 't', { name: 3 })]
  const metadata = metadataWith({}, { name: 2 })
  const opened = openSession(trino.url, { tables, loadMetadata: async () => metadata })
  expect(await failureOf(opened)).toMatchObject({ code: '0A000' })
  expect(trino.seen).toEqual([])
})

test('a session names the tables that it opened, and no other', async () => {
  await using trino = scriptTrino([])
  const [orders, items] = [snapshot(['s'], 'orders'), snapshot(['s'], 'items')]
  const metadata = metadataWith({}, {})
  const session = await openSession(trino.url, { tables: [orders], loadMetadata: async () => metadata })
  expect(session.relation(orders.table)).toContain('"orders"')
  expect(await refusal(() => session.relation(items.table))).toMatchObject({ code: 'XX000' })
})
