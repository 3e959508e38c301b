/** What two states of a table, one after the other, show of a commit. */

import { describe, expect, test } from 'bun:test'
import { type JsonObject, parseJson } from '../../../src/base/json.ts'
import {
  type ClaimedChange,
  changeBetween,
  effectsHold,
  shownBetween,
  snapshotsIn,
} from '../../../src/gateway/recovery/shows-change.ts'

const table = (members: object = {}) =>
  parseJson(
    JSON.stringify({
      ...{
        'format-version': 2,
        'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
        location: 's3://lake/t',
      },
      ...{ 'last-sequence-number': 0, 'last-updated-ms': 1, 'last-column-id': 1, 'current-schema-id': 0 },
      schemas: [
        {
          ...{ type: 'struct', 'schema-id': 0 },
          fields: [{ id: 1, name: 'id', required: false, type: 'long' }],
        },
      ],
      ...{
        'default-spec-id': 0,
        'partition-specs': [{ 'spec-id': 0, fields: [] }],
        'last-partition-id': 999,
      },
      ...{ 'default-sort-order-id': 0, 'sort-orders': [{ 'order-id': 0, fields: [] }] },
      ...members,
    }),
  ) as JsonObject
const withProperties = (properties: object, members: object = {}) => table({ properties, ...members })
const snapshot = (id: number, list: string | undefined = `list-${id}`) => ({
  ...{ 'snapshot-id': id, 'manifest-list': list },
})
const withSnapshots = (...snapshots: readonly object[]) => table({ snapshots })

function change(updates: readonly object[], snapshots: ClaimedChange['intent'] | object = {}): ClaimedChange {
  return {
    intent: { snapshotIds: [], receivedAtMs: 1, ...snapshots } as unknown as ClaimedChange['intent'],
    updates: updates.map((update) => parseJson(JSON.stringify(update)) as JsonObject),
  }
}
const setOwner = change([{ action: 'set-properties', updates: { owner: 'ops' } }])

describe('a commit that adds a snapshot', () => {
  const adds = change([], { snapshotIds: [7n], manifestLists: ['list-7'] })
  test('is shown where its snapshot came between the states, with the list that it sent', () => {
    expect(shownBetween(adds, withSnapshots(), withSnapshots(snapshot(7)))).toBe('whole')
  })
  test('is not known where another list came with its id', () => {
    expect(shownBetween(adds, withSnapshots(), withSnapshots(snapshot(7, 'other')))).toBe('unknown')
  })
  test('was not made between states of which the first has its snapshot already', () => {
    expect(shownBetween(adds, withSnapshots(snapshot(7)), withSnapshots(snapshot(7)))).toBe('no')
  })
  test('is lacking where the later state has not all of its snapshots', () => {
    const two = change([], { snapshotIds: [7n, 8n], manifestLists: ['list-7', 'list-8'] })
    expect(shownBetween(adds, withSnapshots(), withSnapshots(snapshot(8)))).toBe('lacks')
    expect(shownBetween(two, withSnapshots(), withSnapshots(snapshot(7)))).toBe('lacks')
  })
  test('is not known where a state is not', () => {
    expect(shownBetween(adds, undefined, withSnapshots(snapshot(7)))).toBe('unknown')
    expect(shownBetween(adds, withSnapshots(), undefined)).toBe('unknown')
    expect(shownBetween(adds, withSnapshots(snapshot(7)), undefined)).toBe('no')
  })
})

test('a snapshot is a commit’s own unless it is known to have another list', () => {
  const intent = (manifestLists: readonly (string | undefined)[] | undefined, ids = [7n]) =>
    ({ snapshotIds: ids, manifestLists, receivedAtMs: 1 }) as unknown as ClaimedChange['intent']
  const now = withSnapshots(snapshot(7), snapshot(8))
  expect(snapshotsIn(now, intent(['list-7']))).toBe('own')
  expect(snapshotsIn(now, intent(undefined))).toBe('own')
  expect(snapshotsIn(now, intent([undefined]))).toBe('own')
  expect(snapshotsIn(withSnapshots({ 'snapshot-id': 7 }), intent(['list-7']))).toBe('own')
  expect(snapshotsIn(now, intent(['other']))).toBe('other')
  expect(snapshotsIn(now, intent(['list-7', 'other'], [7n, 8n]))).toBe('other')
  expect(snapshotsIn(now, intent(['list-7', 'list-9'], [7n, 9n]))).toBe('none')
})

describe('a commit without a snapshot', () => {
  const before = withProperties({ owner: 'dev' })
  test('is shown where it alone explains what differs', () => {
    expect(changeBetween(setOwner, before, withProperties({ owner: 'ops' }))).toBe('whole')
    expect(shownBetween(setOwner, before, withProperties({ owner: 'ops' }))).toBe('whole')
  })
  test('is shown whatever time and logs say, and whatever the catalog adds for itself', () => {
    const after = withProperties(
      { owner: 'ops', 'nessie.commit.id': '1' },
      { 'last-updated-ms': 9, 'metadata-log': [{}], 'snapshot-log': [{}] },
    )
    expect(changeBetween(setOwner, before, after)).toBe('whole')
  })
  test('is shown among others where more differs', () => {
    const also = withProperties({ owner: 'ops', other: '1' })
    expect(changeBetween(setOwner, before, also)).toBe('among-others')
    expect(changeBetween(setOwner, before, withProperties({ owner: 'ops' }, { location: 'x' }))).toBe(
      'among-others',
    )
  })
  test('was not made where something else differs, and its effect was there before', () => {
    const had = withProperties({ owner: 'ops' })
    expect(changeBetween(setOwner, had, withProperties({ owner: 'ops', other: '1' }))).toBe('no')
  })
  test('is lacking where the later state is without an update that no catalog rewrites', () => {
    expect(changeBetween(setOwner, before, before)).toBe('lacks')
    expect(changeBetween(setOwner, undefined, before)).toBe('lacks')
  })
  test('was not made, or is not known, where a catalog may keep another form of it', () => {
    const adds = change([{ action: 'set-location', location: 's3://new' }])
    expect(changeBetween(adds, table({ location: 'old' }), table({ location: 'old' }))).toBe('no')
    expect(changeBetween(adds, table({ location: 'old' }), table({ location: 'third' }))).toBe('unknown')
  })
  test('is not known where a state or an update is not', () => {
    expect(changeBetween(setOwner, before, undefined)).toBe('unknown')
    expect(changeBetween(setOwner, undefined, withProperties({ owner: 'ops' }))).toBe('unknown')
    const after = withProperties({ owner: 'ops' })
    expect(changeBetween({ ...setOwner, updates: undefined }, before, after)).toBe('unknown')
    expect(changeBetween(change([{ action: 'unheard-of' }]), before, after)).toBe('unknown')
  })
  test('is shown among others where a member has other contents, of whichever form', () => {
    for (const [one, other] of [
      [{ a: 1 }, { a: 2 }],
      [[1], [2]],
      [{}, { a: 1 }],
      [[], [1]],
      [1, 2],
    ])
      expect(
        changeBetween(
          setOwner,
          withProperties({ owner: 'dev' }, { 'of-a-catalog': one }),
          withProperties({ owner: 'ops' }, { 'of-a-catalog': other }),
        ),
      ).toBe('among-others')
  })
  test('shows nothing by a member that is missing on one side and empty on the other', () => {
    for (const empty of [null, [], {}])
      expect(
        changeBetween(setOwner, before, withProperties({ owner: 'ops' }, { 'of-a-catalog': empty })),
      ).toBe('whole')
  })
})

test('an effect holds where applying it again changes nothing', () => {
  const updates = setOwner.updates ?? []
  expect(effectsHold(updates, withProperties({ owner: 'ops' }), 1)).toBe(true)
  expect(effectsHold(updates, withProperties({ owner: 'dev' }), 1)).toBe(false)
  expect(effectsHold(updates, withProperties({}), 1)).toBe(false)
})
