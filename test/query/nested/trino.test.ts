/** What is emitted for Trino over nested columns: its grammar parses it, and masks stand where the fields are read. */

import { expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import { jsonObject, parseJson } from '../../../src/base/json.ts'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../src/core/iceberg-type.ts'
import { assertSameColumns } from '../../../src/engine/trino/relation.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'

const struct: IcebergType = {
  type: 'struct',
  fields: [
    { fieldId: 2, name: 'a', type: 'string', required: false },
    { fieldId: 3, name: 'o\'h "x"', type: 'timestamptz', required: false },
  ],
}
const list: IcebergType = {
  type: 'list',
  elementId: 5,
  element: { type: 'struct', fields: [{ fieldId: 6, name: 'n', type: 'double', required: false }] },
}
const map: IcebergType = { type: 'map', keyId: 8, key: 'string', valueId: 9, value: 'string' }
const masks = [{ policyId: 'm', origin: { kind: 'column' }, action: 'sha-256-global' }] as const
const column = (name: string, fieldId: number, type: IcebergType, masked: readonly number[] = []) => ({
  ...{ name, fieldId, type, required: false, masks: [] },
  ...(masked.length > 0 && { nestedMasks: masked.map((id) => ({ fieldId: id, masks })) }),
})
const table: GovernedTable = {
  ...{
    ref: { namespace: ['s'], name: 't' },
    schemaName: 's',
    tableName: 't',
    relation: { trino: ['c', 's', 't'] },
  },
  columns: [column('s', 1, struct, [2]), column('l', 4, list), column('m', 7, map, [9])],
  rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression: `(s).a <> 'x'` }],
  contract: { id: 'c', version: 1 },
}

function emitted(text: string): string {
  const compiled = compileQuery({
    text,
    principal: { sub: 'ann', roles: [] },
    tables: [table],
    searchPath: ['s'],
  })
  return renderSql(compiled.emit('trino'), 'trino', { salt: new Uint8Array(16), parameters: [] })
}

test.each([
  'SELECT * FROM t',
  'SELECT (s).* FROM t',
  `SELECT m ->> 'k', m['k'], (l[1]).n FROM t`,
  'SELECT i, (i).n FROM t, unnest(l) AS i',
])("Trino's grammar parses %s", (text) => {
  const sql = emitted(text)
  expect([sql, ...new TrinoSQL().validate(sql).map(({ message }) => message)]).toEqual([sql])
})

test('a masked field is read under its mask alone, and its filter reads it raw', () => {
  const sql = emitted('SELECT (s).a FROM t')
  expect(sql).toContain('lower(to_hex(sha256(to_utf8(_b."s"."a"))))')
  expect(sql).not.toContain('json_parse')
  expect(sql).toContain(`WHERE (_b."s"."a" <> 'x')`)
})

const metadata = (inner: string) =>
  jsonObject({
    'current-schema-id': 0n,
    schemas: parseJson(
      `[{"schema-id": 0, "type": "struct", "fields": [{"id": 1, "name": "s", "required": false, "type": {"type": "struct", "fields": [${inner}]}}]}]`,
    ),
  })
const field = (id: number, name: string, type = 'string') =>
  JSON.stringify({ id, name, required: false, type })
const zoned = field(3, 'o\'h "x"', 'timestamptz')

test.each([
  ['renamed', [field(2, 'b'), zoned]],
  ['another by its name', [field(9, 'a'), zoned]],
  ['added', [field(2, 'a'), zoned, field(9, 'b')]],
  ['different in case only', [field(2, 'a'), field(3, 'A', 'timestamptz')]],
])('a field of the snapshot that is %s is refused where nested columns are read', (_, inner) => {
  const at = { table, metadataLocation: 'm', snapshotId: undefined }
  const check = (nested?: ReadonlySet<number>) => () =>
    assertSameColumns(
      { ...at, table: { ...table, columns: table.columns.slice(0, 1) }, nested },
      metadata(inner.join()),
    )
  expect(check(new Set([1]))).toThrow('cannot be read by this engine')
  expect(check()).not.toThrow()
})
