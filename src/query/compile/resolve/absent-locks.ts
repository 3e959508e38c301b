/** Refuses the functions that take advisory locks: to say yes would tell two clients that each is alone. */

import { SqlError } from '../base/sql-error.ts'

const takesLock = /^pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?$/

/** @throws SqlError 25006 for the name of such a function */
export function refuseLock(name: string, position: number | undefined): void {
  if (!takesLock.test(name)) return
  throw new SqlError('25006', `cannot execute ${name}() in a read-only transaction`, position, {
    hint: 'Nothing can be written here, so no lock is taken. Take the lock where the data is written.',
  })
}
