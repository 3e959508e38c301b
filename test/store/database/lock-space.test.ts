/** When an operator is told that a server has too few locks for a dump. */

import { expect, test } from 'bun:test'
import { lockNotice } from '../../../src/store/database/lock-space.ts'

test('nothing is said while a fifth of the locks remains for others', () => {
  expect(lockNotice({ tables: 5_120, locks: 6_400, transactions: 100 })).toBeUndefined()
})

test('the setting that is told leaves room for as many tables again', () => {
  const notice = lockNotice({ tables: 12_000, locks: 6_400, transactions: 100 })
  expect(notice).toBe(
    'The database has 12000 tables and the server 6400 locks, so pg_dump may fail: set max_locks_per_transaction to 240 or more, and restart the server.',
  )
  expect(lockNotice({ tables: 12_000, locks: 240 * 100, transactions: 100 })).toBeUndefined()
})
