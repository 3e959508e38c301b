/**
 * Checks that rows of a run that has ended may be sent again, as long as anyone holds them. The run is recorded and its
 * statement's time is over, so a failure only ends the sending.
 */

import type { Pace } from '../../../base/right-of-way.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import type { RunCheck } from './run-check.ts'

/**
 * Begins the idle time of the rows; each call restarts it. After a failure all calls fail.
 * @param idleMs milliseconds that the rows may be held without a call
 * @returns as QueryRun.confirm
 */
export function checkHeld(
  check: Pick<RunCheck, 'look'>,
  pace: Pick<Pace, 'now'>,
  idleMs: number,
): () => Promise<void> | undefined {
  let askedMs = pace.now()
  let failure: unknown
  const fail = (thrown: unknown) => {
    failure ??= thrown
    throw failure
  }
  return () => {
    const nowMs = pace.now()
    if (nowMs - askedMs > idleMs) failure ??= notFetched()
    if (failure !== undefined) return Promise.reject(failure)
    askedMs = nowMs
    return check.look()?.catch(fail)
  }
}

/** The error for rows that waited for their client too long. */
export function notFetched(): SqlError {
  return new SqlError('57014', 'canceling statement because its rows were not fetched in time')
}
