/** What a grant lifts of a table, for whom, when, and what ends it. */

import { describe, expect, test } from 'bun:test'
import type { StoredGrant } from '../../src/core/access-grant.ts'
import type { Governance, StoredColumn, StoredMask, StoredRowFilter } from '../../src/core/governance.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import { effectOf } from '../../src/core/protection-effect.ts'
import { currentSchema, seenTable, type Viewer, viewerAt } from '../../src/core/seen-table.ts'

const mask = (policyId: string, more: Partial<StoredMask> = {}): StoredMask => ({
  ...{ policyId, action: 'hash', exemptRoles: [], origin: { kind: 'column' }, ...more },
})
const filter: StoredRowFilter = {
  ...{ policyId: 'eu', exemptRoles: [], origin: { kind: 'table' }, expression: "region = 'eu'" },
  names: { region: 2 },
}
const column = (fieldId: number, name: string, more: Partial<StoredColumn> = {}): StoredColumn => ({
  ...{
    id: name,
    fieldId,
    name,
    type: 'string',
    required: false,
    current: true,
    tags: [],
    masks: [],
    ...more,
  },
})
const grant = (more: Partial<StoredGrant> = {}): StoredGrant => ({
  ...{ id: 'g', grantee: { sub: 'ann' }, fromMs: 100, untilMs: 200, purpose: 'audit' },
  lifts: { columns: [{ fieldId: 1, tags: ['pii'], masks: [effectOf(mask('m'))] }], filters: [] },
  ...more,
})
const governed = (more: Partial<Governance> = {}): Governance => ({
  ...{ ref: { namespace: ['sales'], name: 'orders' }, contract: { id: 'c', version: 1 }, pin: undefined },
  ...{ readableWithoutContract: false, rowFilters: [filter], tags: [] },
  columns: [column(1, 'email', { masks: [mask('m')], tags: ['pii'] }), column(2, 'region')],
  grants: [grant()],
  ...more,
})
const seenBy = (viewer: Viewer, governance = governed()) =>
  seenTable(governance, currentSchema(governance), viewer)
const ann = { sub: 'ann', roles: ['analyst'] }
const emailOf = (viewer: Viewer, governance = governed()) =>
  seenBy(viewer, governance).columns.find(({ name }) => name === 'email')
const shows = (viewer: Viewer, governance = governed()) => emailOf(viewer, governance)?.masks.length === 0

describe('a grant', () => {
  test('lifts the mask that it names for its grantee, and says so of that column alone', () => {
    expect(emailOf(viewerAt(ann, 150))).toMatchObject({
      masks: [],
      liftedBy: [
        { grant: 'g', table: { namespace: ['sales'], name: 'orders' }, untilMs: 200, purpose: 'audit' },
      ],
    })
    expect(seenBy(viewerAt(ann, 150)).columns[1]).not.toHaveProperty('liftedBy')
    expect(seenBy(viewerAt(ann, 150)).rowFilters).toHaveLength(1)
  })

  test('holds from its first moment to before its last', () => {
    expect([99, 100, 199, 200].map((atMs) => shows(viewerAt(ann, atMs)))).toEqual([false, true, true, false])
  })

  test('lifts nothing for another subject, for everybody, or for a viewer of no time', () => {
    expect(shows(viewerAt({ sub: 'bob', roles: ['analyst'] }, 150))).toBe(false)
    expect(shows('anyone')).toBe(false)
    expect(shows(ann)).toBe(false)
    expect(shows({ roles: ['analyst'], atMs: 150 })).toBe(false)
  })

  test('to a role lifts for those who have it', () => {
    const toRole = governed({ grants: [grant({ grantee: { role: 'analyst' } })] })
    expect(shows(viewerAt(ann, 150), toRole)).toBe(true)
    expect(shows(viewerAt({ sub: 'ann', roles: [] }, 150), toRole)).toBe(false)
    expect(shows(viewerAt({ sub: 'analyst', roles: [] }, 150), toRole)).toBe(false)
  })

  test('lifts a row filter that it names, and no other', () => {
    const other = { ...filter, policyId: 'us', expression: "region = 'us'" }
    const seen = seenBy(
      viewerAt(ann, 150),
      governed({
        rowFilters: [filter, other],
        grants: [grant({ lifts: { columns: [], filters: [effectOf(filter)] } })],
      }),
    )
    expect(seen.rowFilters.map(({ policyId }) => policyId)).toEqual(['us'])
    expect(seen.filtersLiftedBy).toEqual([
      { grant: 'g', table: { namespace: ['sales'], name: 'orders' }, untilMs: 200, purpose: 'audit' },
    ])
  })

  test('lifts a mask under another id and other exempt roles, as after a rename of the table', () => {
    const renamed = [column(1, 'email', { masks: [mask('n', { exemptRoles: ['boss'] })], tags: ['pii'] })]
    expect(shows(viewerAt(ann, 150), governed({ columns: renamed }))).toBe(true)
  })

  test.each<[string, Partial<StoredColumn>]>([
    ['a mask that has changed', { masks: [mask('m', { action: 'null' })], tags: ['pii'] }],
    ['a mask beside the one it names', { masks: [mask('m'), mask('n', { action: 'null' })], tags: ['pii'] }],
    ['a column that has one more tag', { masks: [mask('m')], tags: ['pii', 'secret'] }],
    ['the same mask on another column', { fieldId: 7, masks: [mask('m')], tags: ['pii'] }],
  ])('does not lift %s', (_, changed) => {
    const columns = [column(1, 'email', changed), column(2, 'region')]
    expect(shows(viewerAt(ann, 150), governed({ columns }))).toBe(false)
  })

  test('lifts nothing of a clone', () => {
    expect(shows(viewerAt(ann, 150), governed({ isClone: true }))).toBe(false)
  })

  test('shows a column whose masked field nobody else may see alone', () => {
    const type: IcebergType = { type: 'map', keyId: 3, key: 'string', valueId: 4, value: 'string' }
    const columns = [
      column(1, 'm', { type }),
      column(3, 'm.key', { masks: [mask('m')], tags: ['pii'] }),
      column(4, 'm.value'),
    ]
    const lifts = { columns: [{ fieldId: 3, tags: ['pii'], masks: [effectOf(mask('m'))] }], filters: [] }
    const governance = governed({ columns, grants: [grant({ lifts })] })
    expect(seenBy('anyone', governance).columns).toEqual([])
    expect(
      seenBy(viewerAt(ann, 150), governance).columns.map(({ name, liftedBy }) => [name, liftedBy]),
    ).toEqual([
      [
        'm',
        [{ grant: 'g', table: { namespace: ['sales'], name: 'orders' }, untilMs: 200, purpose: 'audit' }],
      ],
    ])
  })

  test('that ends later is the one that is named where several lift the same', () => {
    const both = governed({ grants: [grant({ id: 'long', untilMs: 500 }), grant({ id: 'short' })] })
    expect(emailOf(viewerAt(ann, 150), both)?.liftedBy?.map(({ grant: id }) => id)).toEqual(['long'])
  })
})
