/** Whose a prefix and a snapshot are, where other tables, catalogs and uuids are there too. */

import { describe, expect, test } from 'bun:test'
import {
  folderPrefixesOf,
  isOwn,
  isQuarantined,
  type TerritoryFound,
  type TerritoryOwner,
  type TerritoryRow,
  territoryOf,
} from '../../src/core/territory-owner.ts'

const own: TerritoryOwner = {
  catalog: 'main',
  table: { namespace: ['sales'], name: 'orders' },
  tableUuid: 'u1',
}
const row = (prefix: string, changes: Partial<TerritoryRow> = {}): TerritoryRow => ({
  ...{ ...own, prefix, kind: 'location' },
  ...changes,
})
const people = { namespace: ['sales'], name: 'people' }
const found = (changes: Partial<TerritoryFound>): TerritoryFound => ({
  ...{ mode: 'enforce', version: '1', manifests: 'off', quarantined: [], rows: [] },
  ...changes,
})

describe('a row is the table’s own', () => {
  test.each<[string, Partial<TerritoryOwner>, boolean]>([
    ['in its catalog, by its name', {}, true],
    ['in its catalog, though it was created again', { tableUuid: 'u2' }, true],
    ['in its catalog, where its uuid is not known', { tableUuid: undefined }, true],
    ['in another catalog, by name and uuid', { catalog: 'other' }, true],
    ['not in another catalog by its name alone', { catalog: 'other', tableUuid: 'u2' }, false],
    ['not in another catalog where the uuid is not known', { catalog: 'other', tableUuid: undefined }, false],
    ['not by its uuid alone', { table: people }, false],
    ['not by its name in another namespace', { table: { ...own.table, namespace: ['hr'] } }, false],
  ])('%s', (_, changes, expected) => {
    expect(isOwn(row('s3://a/', changes), own)).toBe(expected)
  })

  test('not in another catalog where both uuids are not known', () => {
    const unknown = { ...own, tableUuid: undefined }
    expect(isOwn({ ...unknown, catalog: 'other' }, unknown)).toBe(false)
  })
})

test('a territory is the table’s own prefixes, once each; its folders do not lie in its source’s', () => {
  const rows = [
    row('s3://a/'),
    row('s3://a/', { kind: 'granted' }),
    row('s3://source/', { kind: 'derived' }),
    row('s3://people/', { table: people }),
  ]
  expect(territoryOf(found({ rows }), own)).toEqual({
    ...{ mode: 'enforce', version: '1', prefixes: ['s3://a/', 's3://source/'] },
  })
  expect([...new Set(folderPrefixesOf(found({ rows }), own))]).toEqual(['s3://a/'])
})

test('a snapshot is quarantined by its id and its table together', () => {
  const quarantined = [{ ...own, snapshotId: 7n }]
  expect(isQuarantined({ quarantined }, own, 7n)).toBe(true)
  expect(isQuarantined({ quarantined }, own, 8n)).toBe(false)
  expect(isQuarantined({ quarantined }, own, undefined)).toBe(false)
  expect(isQuarantined({ quarantined }, { ...own, table: people }, 7n)).toBe(false)
})
