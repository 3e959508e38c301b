/** Converts errors of the database to Faults, without statements, parameters and row contents. */

import { Fault } from '../../base/fault.ts'

/** SQLSTATE of a thrown database error, '' where it has none. */
export function sqlState(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** A copy that may be logged, because a database error's `detail`, `where` and parameters can hold secrets. */
function bare(thrown: unknown): Error {
  const error = thrown as { message?: unknown; constraint_name?: unknown; table_name?: unknown } | null
  const facts = { code: sqlState(thrown), constraint: error?.constraint_name, table: error?.table_name }
  return Object.assign(new Error(String(error?.message ?? thrown)), facts)
}

// Connection, log-in, database, resources, operator intervention, system: the database is unavailable for now.
const transient = /^(08|28|3D|53|57|58)|^CONN|^ECONN|^EPIPE|^ENOTFOUND|^EAI_|^EHOST|^ENET|^ETIMEDOUT/
// Serialization failure, deadlock, lock timeout: a retry may succeed.
const contended = new Set(['40001', '40P01', '55P03'])

// JavaScript accepts the year 0 and years after 9999 as times; PostgreSQL refuses them.
const noTime = new Set(['22007', '22008', '22009'])

/** Returns a Fault unchanged, and a database error as `unavailable`, `conflict`, `bad_request` or `internal`. */
export function toStoreFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  const code = sqlState(thrown)
  const options = { detail: code, cause: bare(thrown) }
  if (transient.test(code)) return new Fault('unavailable', 'The database is not available.', options)
  if (contended.has(code)) return new Fault('unavailable', 'The database is busy. Try again.', options)
  if (code === '23505') return new Fault('conflict', 'This exists already.', options)
  if (code === '22021' || code === '22P05')
    return new Fault('bad_request', 'The text holds a character that cannot be stored.', options)
  if (noTime.has(code)) return new Fault('bad_request', 'There is no such time.', options)
  return new Fault('internal', 'Internal error.', options)
}
