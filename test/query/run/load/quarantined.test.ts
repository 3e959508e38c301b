/** Which snapshot may not be read because it is quarantined. */

import { expect, test } from 'bun:test'
import type { TerritoryFound, TerritoryOwner } from '../../../../src/core/territory-owner.ts'
import { assertNotQuarantined } from '../../../../src/query/run/load/quarantined.ts'

test('a quarantined snapshot is refused with its number and its table, where the territory is enforced', () => {
  const owner: TerritoryOwner = {
    catalog: 'main',
    table: { namespace: ['sales'], name: 'orders' },
    tableUuid: 'u',
  }
  const said = (mode: TerritoryFound['mode'], snapshotId: bigint | undefined) => {
    const found = { mode, quarantined: [{ ...owner, snapshotId: 7n }] } as unknown as TerritoryFound
    try {
      assertNotQuarantined(found, owner, snapshotId)
      return 'read'
    } catch (thrown) {
      return (thrown as Error).message
    }
  }
  expect(said('enforce', 7n)).toStartWith('Snapshot 7 of table sales.orders is quarantined')
  expect(said('enforce', 8n)).toBe('read')
  expect(said('enforce', undefined)).toBe('read')
  expect(said('observe', 7n)).toBe('read')
})
