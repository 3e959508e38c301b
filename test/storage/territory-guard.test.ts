/** Which files a reader of a table may open, and what is said of others. */

import { expect, test } from 'bun:test'
import type { Territory } from '../../src/core/territory.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { guardedStorage, type TerritoryGuard, territoryGuard } from '../../src/storage/territory-guard.ts'

const own = 's3://lake/orders/'
const enforced: Territory = { mode: 'enforce', version: '1', prefixes: [own] }
const observed: Territory = { ...enforced, mode: 'observe' }

function admits(guard: TerritoryGuard, location: string): boolean | string {
  try {
    guard.admit('data file', location)
    return true
  } catch (thrown) {
    return (thrown as Error).message
  }
}
const refused = 'its data file lies outside the folders that belong to it'

test('a file of another table is refused where the territory is enforced, and only listed where it is observed', () => {
  const foreign = 's3://lake/people/data.parquet'
  for (const [territory, expected] of [
    [enforced, refused],
    [observed, true],
  ] as const) {
    const guard = territoryGuard(territory)
    expect(admits(guard, `${own}data.parquet`)).toBe(true)
    expect(guard.outside).toEqual([])
    expect(admits(guard, foreign)).toBe(expected)
    expect(guard.outside).toEqual([{ kind: 'data file', location: foreign, whereabouts: 'outside' }])
  }
})

test('a location by which readers may open different objects is refused as well', () => {
  const guard = territoryGuard(enforced)
  expect(admits(guard, `${own}../people/data.parquet`)).toBe(refused)
  expect(guard.outside).toHaveLength(1)
})

test('where the table of a file is not known, every file is admitted', () => {
  const guard = territoryGuard(undefined)
  expect(admits(guard, 's3://anywhere/data.parquet')).toBe(true)
  expect(guard.outside).toEqual([])
})

test('one file of each folder is reported, of a hundred folders', () => {
  const guard = territoryGuard(observed)
  for (const file of ['a', 'b']) admits(guard, `s3://lake/people/${file}`)
  expect(guard.outside.map(({ location }) => location)).toEqual(['s3://lake/people/a'])
  for (let folder = 0; folder < 200; folder++) admits(guard, `s3://lake/people-${folder}/a`)
  expect(guard.outside).toHaveLength(100)
  expect(admits(territoryGuard(enforced), 's3://lake/people-200/a')).toBe(refused)
})

test('storage neither opens nor reads a file that its guard refuses', async () => {
  const asked: string[] = []
  const answer = async (location: string) => {
    asked.push(location)
    return new Uint8Array()
  }
  const storage = { open: answer, readAll: answer, bytesRead: 0 } as unknown as Storage
  const guarded = guardedStorage(storage, territoryGuard(enforced))
  for (const read of [(at: string) => guarded.open(at), (at: string) => guarded.readAll(at, 9)]) {
    const said = await read('s3://lake/people/a').then(() => 'read', String)
    expect(said).toContain('its file lies outside')
    await read(`${own}a`)
  }
  expect(asked).toEqual([`${own}a`, `${own}a`])
})
