/** Rows are grouped by what they belong to: by the key of their table, or by the column that leads to another one. */

import { afterAll, expect, test } from 'bun:test'
import { attested, maskedColumns, openStaff, type Payment, staffModel, staffTables } from './staff.ts'

const payment = (id: number, site: number): Payment => ({
  ...{ id, site, person: id, team: 'a', city: 'u' },
  ...{ kind: 'wage', paid: '2026-01-05', pay: 10 },
})
// Site 9 is no row of the other table.
const staff = await openStaff([payment(1, 1), payment(2, 1), payment(3, 2), payment(4, 2), payment(5, 9)])
afterAll(() => staff.close())

test('an entity groups by the column itself, also where it leads to no row', async () => {
  const bySite = 'SELECT at, MEASURE(payments) FROM staff__metrics GROUP BY 1 ORDER BY 1'
  const expected = [
    ['1', '2'],
    ['2', '2'],
    ['9', '1'],
  ]
  expect(await staff.sql(bySite, staffModel())).toEqual(expected)
  const request = { metrics: ['payments'], dimensions: [{ name: 'at' }] }
  expect(await staff.request(request, staffModel())).toEqual(expected)
})

test('an entity is filtered by, and read as its column is masked', async () => {
  const where = [{ dimension: 'at', operator: '=', values: ['9'] }] as const
  const request = { metrics: ['payments'], where }
  expect(await staff.request(request, staffModel())).toEqual([['1']])
  const masked = staffTables({ columns: maskedColumns('pay', 'site') })
  expect(await staff.request(request, staffModel(), masked)).toEqual([['0']])
})

test('a star names dimensions and no entities', async () => {
  const [row] = await staff.sql('SELECT * FROM staff__metrics LIMIT 1', staffModel())
  expect(row).toHaveLength(9)
})

test('a query by an entity lifts nothing by an attestation that does not name it', async () => {
  const request = { metrics: ['pays'], dimensions: [{ name: 'at' }] }
  const rows = await staff.request(request, staffModel(attested({ minGroupSize: 2 })))
  expect(rows.map(([, value]) => value)).toEqual([null, null, null])
})
