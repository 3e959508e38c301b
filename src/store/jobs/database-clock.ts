/** Reads the clock of the database, which all replicas share. */

import type { Store } from '../store.ts'

/** Milliseconds since the Unix epoch. @throws Fault where the database does not answer */
export async function readDatabaseClock(store: Store): Promise<number> {
  const [row] = await store.adminQuery<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return row?.ms ?? Number.NaN
}
