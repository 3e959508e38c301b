/** Which grants a statement says that it uses: those of the columns and fields that it reads, and of filters. */

import { expect, test } from 'bun:test'
import type { GovernedTable } from '../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../src/core/iceberg-type.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'

const ref = { namespace: ['sales'], name: 'people' }
const by = (grant: string, untilMs: number) => ({ grant, table: ref, untilMs, purpose: 'refund' })
const address: IcebergType = {
  type: 'struct',
  fields: [
    { fieldId: 2, name: 'city', type: 'string', required: false },
    { fieldId: 3, name: 'zip', type: 'string', required: false },
  ],
} as IcebergType
const table = (more: Partial<GovernedTable> = {}): GovernedTable => ({
  ...{ ref, schemaName: 'sales', tableName: 'people', contract: { id: 'c', version: 1 }, rowFilters: [] },
  relation: { duckdb: ['sales', 'people'] },
  columns: [
    { name: 'addr', fieldId: 1, type: address, required: false, masks: [], liftedBy: [by('fields', 200)] },
    { name: 'email', fieldId: 4, type: 'string', required: false, masks: [], liftedBy: [by('email', 100)] },
    { name: 'id', fieldId: 5, type: 'long', required: false, masks: [] },
  ],
  ...more,
})
const lifted = (text: string, of = table()) => {
  const compiled = compileQuery({
    text,
    principal: { sub: 'ann', roles: [] },
    tables: [of],
    searchPath: ['sales'],
  })
  return [compiled.lifted.map(({ grant }) => grant), compiled.liftedUntilMs]
}

test.each<[string, string[], number | undefined]>([
  ['select id from people', [], undefined],
  ['select email from people', ['email'], 100],
  ['select id from people where email is null', ['email'], 100],
  ['select addr from people', ['fields'], 200],
  ['select (addr).city from people', ['fields'], 200],
  ['select id from people order by (addr).zip', ['fields'], 200],
  ['select * from people', ['fields', 'email'], 100],
  ['select count(*) from (select email from people) x', ['email'], 100],
])('%s uses %p until %p', (text, grants, untilMs) => {
  expect(lifted(text)).toEqual([grants, untilMs])
})

test('a statement that names a table uses the grants that lifted its filters', () => {
  const filtered = table({ filtersLiftedBy: [by('rows', 50)] })
  expect(lifted('select count(*) from people', filtered)).toEqual([['rows'], 50])
})
