/** What one principal sees of a table: columns, values, counts, and that the table is there. */

import { describe, expect, test } from 'bun:test'
import type { Gives } from '../../src/core/gives.ts'
import type { Governance, StoredColumn, StoredMask, StoredReveal } from '../../src/core/governance.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import {
  currentSchema,
  everySchema,
  isWhole,
  maySee,
  rolesThatShow,
  seenTable,
  showsValues,
  type Viewer,
} from '../../src/core/seen-table.ts'

const mask = (exemptRoles: readonly string[]): StoredMask => ({
  ...{ policyId: 'm', action: 'replace-with-null', exemptRoles, origin: { kind: 'column' } },
})
const column = (
  fieldId: number,
  name: string,
  type: IcebergType = 'string',
  more: Partial<StoredColumn> = {},
): StoredColumn => ({
  ...{ id: name, fieldId, name, type, required: false, current: true, tags: [], masks: [], ...more },
})
const list: IcebergType = { type: 'list', element: 'string' }
const governed = (more: Partial<Governance> = {}): Governance => ({
  ...{ ref: { namespace: ['sales'], name: 'orders' }, contract: { id: 'c', version: 1 }, pin: undefined },
  ...{ readableWithoutContract: false, rowFilters: [], tags: [] },
  columns: [
    column(1, 'id', 'long', { place: 1 }),
    column(2, 'tags', list, { place: 0 }),
    column(3, 'tags.element', 'string', { masks: [mask(['officer'])] }),
    column(4, 'email', 'string', { masks: [mask(['clerk'])], place: 2 }),
    column(5, 'old', 'string', { current: false, masks: [mask([])] }),
  ],
  ...more,
})
const seenBy = (viewer: Viewer, governance = governed()) =>
  seenTable(governance, currentSchema(governance), viewer)
const officer = { roles: ['officer'] }
const namesOf = (viewer: Viewer) => seenBy(viewer).columns.map(({ name }) => name)

describe('columns', () => {
  test('stand in the order of the schema, without one whose type does not say where its masked field is', () => {
    expect(namesOf('anyone')).toEqual(['id', 'email'])
    expect(seenBy('anyone').hidden.map(({ name }) => name)).toEqual(['tags'])
  })

  test('are whole for a reader whom the mask of the field exempts', () => {
    expect(namesOf(officer)).toEqual(['tags', 'id', 'email'])
  })

  test('have the masks of fields inside them, for those whom they do not exempt', () => {
    const whole: IcebergType = { type: 'list', element: 'string', elementId: 3 }
    const own = governed()
    const known = {
      ...own,
      columns: own.columns.map((one) => (one.fieldId === 2 ? { ...one, type: whole } : one)),
    }
    const tags = (viewer: Viewer) => seenBy(viewer, known).columns.find(({ name }) => name === 'tags')
    const { exemptRoles: _, ...masked } = mask([])
    expect(tags('anyone')?.nestedMasks).toEqual([{ fieldId: 3, masks: [masked] }])
    expect(tags(officer)).not.toHaveProperty('nestedMasks')
    expect(showsValues(seenBy('anyone', known), [2])).toBe(false)
    expect(showsValues(seenBy('anyone', known), [3])).toBe(false)
    expect(showsValues(seenBy(officer, known), [2, 3])).toBe(true)
    expect(isWhole(seenBy({ roles: ['officer', 'clerk'] }, known))).toBe(true)
    expect(isWhole(seenBy({ roles: ['clerk'] }, known))).toBe(false)
  })

  test('with a masked key of a map are hidden', () => {
    const map: IcebergType = { type: 'map', keyId: 2, key: 'string', valueId: 3, value: 'string' }
    const withMask = (masked: number) =>
      governed({
        columns: [
          column(1, 'm', map),
          column(2, 'm.key', 'string', masked === 2 ? { masks: [mask([])] } : {}),
          column(3, 'm.value', 'string', masked === 3 ? { masks: [mask([])] } : {}),
        ],
      })
    expect(seenBy('anyone', withMask(2)).columns).toEqual([])
    expect(seenBy('anyone', withMask(3)).columns).toHaveLength(1)
  })

  test('that the graph does not know are hidden from everybody, nested fields too', () => {
    const schema = [
      { fieldId: 9, name: 'new', type: 'string', required: false, nestedIds: [] },
      { fieldId: 2, name: 'tags', type: list, required: false, nestedIds: [8] },
    ]
    expect(seenTable(governed(), schema, officer).columns).toEqual([])
  })

  test('that some see and others do not are told by the roles that show them', () => {
    const governance = governed()
    expect(rolesThatShow(governance, seenBy('anyone'))).toEqual(['officer'])
    expect(rolesThatShow(governance, seenBy(officer))).toEqual([])
  })
})

describe('a principal', () => {
  const sees = (viewer: Viewer, what: Gives, fieldIds?: readonly number[], governance = governed()) =>
    maySee(seenBy(viewer, governance), what, fieldIds)

  test('without a contract on the table sees nothing, not even that it is there', () => {
    const governance = governed({ contract: undefined })
    for (const what of ['existence', 'description', 'columns', 'values', 'counts'] as const)
      expect(sees(officer, what, [1], governance)).toBe(false)
    expect(sees(officer, 'existence', [], { ...governance, readableWithoutContract: true })).toBe(true)
  })

  test('sees the columns that are not hidden, and fields in them', () => {
    expect([sees('anyone', 'columns', [1, 4]), sees('anyone', 'columns', [3])]).toEqual([true, false])
    expect([sees(officer, 'columns', [2, 3]), sees(officer, 'columns')]).toEqual([true, true])
    expect(sees('anyone', 'columns')).toBe(false)
  })

  test('sees the values of columns without a mask, and of no field that is masked or in a masked column', () => {
    expect([sees(officer, 'values', [1, 3]), sees(officer, 'values', [4])]).toEqual([true, false])
    const home = governed({
      columns: [column(1, 'home', { type: 'struct' }, { masks: [mask([])] }), column(2, 'home.city')],
    })
    expect(sees(officer, 'values', [2], home)).toBe(false)
    expect(sees({ roles: ['officer', 'clerk'] }, 'values')).toBe(true)
  })

  test('sees no value and no count of all rows where a filter hides rows', () => {
    const filter = {
      policyId: 'f',
      expression: 'id > 0',
      exemptRoles: ['clerk'],
      origin: { kind: 'table' },
    } as const
    const governance = governed({ rowFilters: [filter] })
    expect([sees(officer, 'counts', [], governance), sees(officer, 'values', [1], governance)]).toEqual([
      ...[false, false],
    ])
    expect(sees(officer, 'columns', [1], governance)).toBe(true)
    expect(sees({ roles: ['clerk'] }, 'counts', [], governance)).toBe(true)
  })

  test('does not see a whole table while a mask is on a column of older snapshots', () => {
    const governance = governed()
    const all = { roles: ['officer', 'clerk'] }
    expect(isWhole(seenBy(all))).toBe(true)
    const ever = seenTable(governance, everySchema(governance), all)
    expect([isWhole(ever), showsValues(ever, [5]), showsValues(ever, [1])]).toEqual([false, false, true])
  })
})

describe('policies', () => {
  const nameOf = (columns: readonly StoredColumn[], schema = everySchema(governed({ columns }))) =>
    seenTable(governed({ columns }), schema, 'anyone').columns.map(({ name, policyName }) => [
      name,
      policyName,
    ])

  test('name a present column as it is, and a dropped one by its last name', () => {
    const columns = [column(1, 'id', 'long'), column(5, 'old', 'string', { current: false })]
    expect(nameOf(columns)).toEqual([
      ['id', undefined],
      ['old', undefined],
    ])
  })

  test('cannot name a dropped column whose name another one has', () => {
    const columns = [column(1, 'id', 'long'), column(5, 'id', 'string', { current: false })]
    expect(nameOf(columns)).toEqual([
      ['id', undefined],
      ['id', null],
    ])
  })

  test('name a column as it is now, whatever an older snapshot calls it', () => {
    const older = [{ fieldId: 1, name: 'number', type: 'long', required: false, nestedIds: [] }] as const
    expect(nameOf([column(1, 'id', 'long')], older)).toEqual([['number', 'id']])
  })
})

describe('a protected column', () => {
  const rule = { fieldId: 4, roles: ['clerk', 'auditor'], version: 1 } as unknown as StoredReveal
  const revealed = (
    viewer: Viewer,
    reveals: readonly StoredReveal[] = [rule],
    type: IcebergType = 'string',
  ) => {
    const columns = [column(4, 'email', type, { masks: [mask(['clerk', 'auditor'])] })]
    return seenBy(viewer, governed({ columns, reveals })).columns[0]?.reveal
  }

  test('is revealed to who holds one of the roles of its rule, not all of them', () => {
    for (const role of ['clerk', 'auditor'])
      expect(revealed({ roles: ['other', role] })).toMatchObject({ column: 'email', version: 1 })
    expect(revealed({ roles: ['other'] })).toBeUndefined()
    expect(revealed({ roles: [] })).toBeUndefined()
    expect(revealed('anyone')).toBeUndefined()
  })

  test('is not revealed by the rule of another column, where there is none, or where it has another type', () => {
    expect(revealed({ roles: ['clerk'] }, [{ ...rule, fieldId: 5 }])).toBeUndefined()
    expect(revealed({ roles: ['clerk'] }, [])).toBeUndefined()
    expect(revealed({ roles: ['clerk'] }, [rule], 'binary')).toMatchObject({ type: 'binary' })
    expect(revealed({ roles: ['clerk'] }, [rule], 'long')).toBeUndefined()
  })

  test('is not revealed behind a mask that applies to the reader', () => {
    const columns = [column(4, 'email', 'string', { masks: [mask(['officer'])] })]
    expect(
      seenBy({ roles: ['clerk'] }, governed({ columns, reveals: [rule] })).columns[0]?.reveal,
    ).toBeUndefined()
  })
})

test('a table is read by all parts of its name, and shown with its namespace', () => {
  const seen = seenBy('anyone', governed({ ref: { namespace: ['sales', 'eu'], name: 'orders' } }))
  const relation = ['sales', 'eu', 'orders']
  expect(seen).toMatchObject({
    ...{ schemaName: 'sales.eu', tableName: 'orders', relation: { duckdb: relation, trino: relation } },
  })
})
