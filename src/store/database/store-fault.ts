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
// What this version calls or has prepared is not there: another version has migrated the database, or a pooler
// gave the connection another session.
const otherVersion = new Set(['26000', '3F000', '42883', '42P01', '42703'])
// Functions of the server that say so with a code that has other uses: a kept plan has another result now, and a
// privilege is missing because the session has another role than it was given.
const otherSession = new Set(['RevalidateCachedQuery', 'aclcheck_error'])
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
  if (otherVersion.has(code) || otherSession.has(String((thrown as { routine?: unknown }).routine)))
    return new Fault(
      'unavailable',
      'The database does not fit this version of the service. Try again.',
      options,
    )
  if (contended.has(code)) return new Fault('unavailable', 'The database is busy. Try again.', options)
  if (code === '23505') return new Fault('conflict', 'This exists already.', options)
  if (code === '22021' || code === '22P05')
    return new Fault('bad_request', 'The text holds a character that cannot be stored.', options)
  if (noTime.has(code)) return new Fault('bad_request', 'There is no such time.', options)
  return new Fault('internal', 'Internal error.', options)
}
