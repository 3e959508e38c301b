/** Which connection a borrower gets, and when one is replaced. */

import { describe, expect, test } from 'bun:test'
import type { Link, StoreBackend } from '../../../src/store/database/link.ts'
import { Pool } from '../../../src/store/database/pool.ts'

/** A backend whose connections do nothing. */
function poolOf(linksMax: number, tenantsOfLinkMax: number) {
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
  return { pool: new Pool(backend), opened, ended }
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
