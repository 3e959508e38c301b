/** What the author of a row filter or mask is warned of, and what not. */

import { describe, expect, test } from 'bun:test'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { warnPolicy } from '../../../../src/query/compile/protect/protect.ts'

/** A table of `id` and `amount` with this filter, or this mask of `amount`. */
function tableWith(use: 'row filter' | 'mask', expression: string): GovernedTable {
  const attached = { policyId: 'p', expression, exemptRoles: [], origin: { kind: 'table' } } as const
  const column = (fieldId: number, name: string) => ({
    fieldId,
    name,
    type: 'long',
    required: false,
    masks: [],
  })
  const mask = { ...attached, origin: { kind: 'column' }, action: 'apply-expression' } as const
  return {
    ...{
      ref: { namespace: ['sales'], name: 'orders' },
      schemaName: 'sales',
      tableName: 'orders',
      relation: {},
    },
    columns: [column(1, 'id'), { ...column(2, 'amount'), masks: use === 'mask' ? [mask] : [] }],
    rowFilters: use === 'row filter' ? [attached] : [],
  }
}
const warned = (expression: string, use: 'row filter' | 'mask' = 'row filter') =>
  warnPolicy({ use, id: 'p', expression }, [tableWith(use, expression)])

describe('warns of a row filter that', () => {
  test.each([
    ['is NULL', 'null', 'is NULL'],
    ['is NULL of a type', 'null::boolean', 'is NULL'],
    ['is the same for all', '1 = 1', 'reads no column'],
    ['always fails', '1/0 = 1', 'divides by zero'],
    ['always fails beside a column', 'id / 0 = 1', 'divides by zero'],
    ['always fails by a remainder', 'id % 0 = 1', 'divides by zero'],
    ['is volatile', 'random() < 0.5', 'calls random'],
    ['is volatile beside a column', 'id < random() * 10', 'calls random'],
  ])('%s', (_, expression, about) => {
    expect(warned(expression)).toEqual([expect.stringContaining(about)])
  })
})

test('warns of a mask that is volatile or always fails, and not of one that is the same for all', () => {
  expect(warned('(random() * 10)::bigint', 'mask')).toEqual([expect.stringContaining('calls random')])
  expect(warned('this_column / 0', 'mask')).toEqual([expect.stringContaining('divides by zero')])
  expect(warned('7', 'mask')).toEqual([])
})

test.each([
  'id < 10',
  'false',
  "current_principal() = 'ann'",
  "has_role('officer')",
  'current_user = current_user',
  "current_date < date '2030-01-01'",
  'CASE WHEN id = 0 THEN 1/0 = 1 ELSE true END',
  'id = 1 OR 1/0 = 1',
  'id / 2 = 1',
])('does not warn of %s', (expression) => {
  expect(warned(expression)).toEqual([])
})

test('warns of what governs no table yet, as far as it needs none', () => {
  const about = (expression: string) => warnPolicy({ use: 'row filter', id: 'p', expression }, [])
  expect(about('null')).toHaveLength(1)
  expect(about('this_column = 1')).toEqual([])
  expect(about('this is no expression')).toEqual([])
})
