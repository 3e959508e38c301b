/** Which connection a borrower gets, and when one is replaced. */

import { describe, expect, test } from 'bun:test'
import type { Link, StoreBackend } from '../../../src/store/database/link.ts'
import { Pool } from '../../../src/store/database/pool.ts'

/** A backend whose connections do nothing. */
function poolOf(linksMax: number, tenantsOfLinkMax: number, nowMs?: () => number) {
  const opened: Link[] = []
  const ended: Link[] = []
  const backend = {
    ...{ name: 'postgres', linksMax, tenantsOfLinkMax, statementMs: 1_000 },
    async open() {
      const link = { dead: false } as Link
      const end = async () => void ended.push(link)
      opened.push(Object.assign(link, { close: end, discard: end }))
      return link
    },
  } as unknown as StoreBackend
  return { pool: new Pool(backend, nowMs), opened, ended }
}

describe('a pool of connections', () => {
  test('replaces a connection that has served as many tenants as one may serve', async () => {
    const { pool, opened, ended } = poolOf(1, 3)
    for (const tenant of ['a', 'b', 'c', 'd']) pool.release(await pool.borrow(tenant))
    expect({ opened: opened.length, ended: ended.length }).toEqual({ opened: 2, ended: 1 })
    expect(ended[0]).toBe(opened[0] as Link)
  })

  test('keeps a connection however often the same tenants come, and for work without a tenant', async () => {
    const { pool, opened, ended } = poolOf(1, 3)
    for (let round = 0; round < 20; round++)
      for (const tenant of ['a', 'b', undefined]) pool.release(await pool.borrow(tenant))
    expect({ opened: opened.length, ended: ended.length }).toEqual({ opened: 1, ended: 0 })
  })

  test('opens a new connection for who waits while a worn one ends', async () => {
    const { pool, opened } = poolOf(1, 1)
    const first = await pool.borrow('a')
    const waiting = pool.borrow('b')
    pool.release(first)
    const second = await waiting
    expect(second).not.toBe(first)
    expect(opened).toHaveLength(2)
    expect(pool.use()).toMatchObject({ idle: 0, lent: 1, waiting: 0 })
  })
})

describe('a pool that has a connection for each of a few tenants', () => {
  /** Serves the tenants one after another. @returns the connection of each, by its place in the order of opening */
  async function serve({ pool, opened }: ReturnType<typeof poolOf>, tenants: readonly string[]) {
    const places: number[] = []
    for (const tenant of tenants) {
      const link = await pool.borrow(tenant)
      places.push(opened.indexOf(link))
      pool.release(link)
    }
    return places
  }

  test('gives a tenant the connection that has served it, also where others came after', async () => {
    const made = poolOf(2, 100)
    expect(await serve(made, ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'])).toEqual([0, 1, 1, 0, 0, 1, 1, 0])
  })

  test('gives a new tenant the connection with the fewest tenants', async () => {
    const made = poolOf(3, 100)
    const tenants = Array.from({ length: 30 }, (_, index) => `t${index}`)
    const places = await serve(made, tenants)
    expect([0, 1, 2].map((place) => places.filter((one) => one === place).length)).toEqual([10, 10, 10])
    expect(await serve(made, tenants)).toEqual(places)
  })

  test('gives a tenant another connection where its own is lent', async () => {
    const { pool } = poolOf(2, 100)
    const [first, second] = [await pool.borrow('a'), await pool.borrow('a')]
    expect(second).not.toBe(first)
  })
})

test('a tenant gets a connection before the backlog of another tenant', async () => {
  const { pool } = poolOf(1, 100)
  const held = await pool.borrow('busy')
  const order: string[] = []
  const borrow = async (tenant: string | undefined) => {
    const link = await pool.borrow(tenant)
    order.push(tenant ?? 'none')
    pool.release(link)
  }
  const waiting = [...Array.from({ length: 50 }, () => 'busy'), 'quiet', undefined].map(borrow)
  pool.release(held)
  await Promise.all(waiting)
  expect(order.slice(0, 3)).toEqual(['busy', 'quiet', 'none'])
  expect(order).toHaveLength(52)
})

test('says for how long no tenant but one has used a connection or waited for one', async () => {
  let now = 0
  const { pool } = poolOf(1, 100, () => now)
  const quiet = (besides?: string) => pool.use(besides).quietMs
  expect(quiet('a')).toBe(Number.POSITIVE_INFINITY)
  pool.release(await pool.borrow('b'))
  now = 10
  const held = await pool.borrow('a')
  now = 30
  expect([quiet('a'), quiet('b'), quiet()]).toEqual([30, 20, 20])
  const waiting = pool.borrow('b')
  expect(quiet('a')).toBe(0)
  pool.release(held)
  pool.release(await waiting)
  now = 40
  expect([quiet('a'), quiet('b')]).toEqual([10, 10])
  pool.release(await pool.borrow(undefined))
  expect(quiet('a')).toBe(10)
})

describe('a tenant with slow statements', () => {
  const minuteMs = 60_000

  test('has all connections while nobody else uses the store', async () => {
    const { pool } = poolOf(8, 100)
    for (let taken = 0; taken < 8; taken++) await pool.borrow('slow')
    expect(pool.use()).toMatchObject({ lent: 8, waiting: 0 })
  })

  test('leaves a quarter to others that used it within a minute, and has all again after it', async () => {
    let nowMs = 0
    const { pool } = poolOf(8, 100, () => nowMs)
    pool.release(await pool.borrow('quick'))
    const held = await Promise.all(Array.from({ length: 6 }, () => pool.borrow('slow')))
    const seventh = pool.borrow('slow')
    for (let round = 0; round < 3; round++) pool.release(await pool.borrow('quick'))
    expect(pool.use()).toMatchObject({ lent: 6, waiting: 1 })
    pool.release(held[0] as Link)
    await seventh
    expect(pool.use()).toMatchObject({ lent: 6, waiting: 0 })
    nowMs = minuteMs + 1
    await pool.borrow('slow')
    expect(pool.use()).toMatchObject({ lent: 7, waiting: 0 })
  })

  test('is passed over while it has its share, and has its turn once one of its own is free', async () => {
    const { pool } = poolOf(4, 100)
    const [other, second] = [await pool.borrow('other'), await pool.borrow('another')]
    const held = [await pool.borrow('slow'), await pool.borrow('slow')]
    const order: string[] = []
    const wait = (tenant: string) => pool.borrow(tenant).then(() => order.push(tenant))
    const [third, fourth, late] = [wait('slow'), wait('slow'), wait('late')]
    pool.release(other)
    await third
    pool.release(second)
    await late
    expect(order).toEqual(['slow', 'late'])
    await pool.discard(held[0] as Link)
    await fourth
    expect(order).toEqual(['slow', 'late', 'slow'])
  })

  test('counts neither what has ended nor work outside any tenant', async () => {
    const { pool } = poolOf(4, 100)
    pool.release(await pool.borrow('quick'))
    for (let round = 0; round < 10; round++) await pool.discard(await pool.borrow('slow'))
    for (let round = 0; round < 3; round++) await pool.borrow('slow')
    await pool.borrow()
    expect(pool.use()).toMatchObject({ lent: 4, waiting: 0 })
  })
})
