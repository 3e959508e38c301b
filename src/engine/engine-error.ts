/** The errors of engines. Messages here quote nothing of an engine's own message, because it may hold values. */

import { Fault } from '../base/fault.ts'
import { ReadFailure } from '../storage/read-failure.ts'
import { TerritoryFailure } from '../storage/territory-guard.ts'

/** PostgreSQL's SQLSTATE of each condition (Appendix A of its manual). */
export type EngineErrorCode =
  /** query_canceled: cancelled or timed out. */
  | '57014'
  /** insufficient_resources: memory or temporary space. */
  | '53000'
  /** out_of_memory: the process has none left. */
  | '53200'
  /** too_many_connections: the queue is full. */
  | '53300'
  /** division_by_zero, and the other data exceptions that have a code of their own. */
  | '22012'
  | '22003'
  | '22P02'
  | '22007'
  /** null_value_not_allowed: a key of a JSON object. */
  | '22004'
  | '22008'
  /** invalid_argument_for_logarithm, …_for_power_function, …_for_width_bucket_function. */
  | '2201E'
  | '2201F'
  | '2201G'
  /** substring_error; invalid_argument_for_ntile_function, …_for_nth_value_function; array_subscript_error. */
  | '22011'
  | '22014'
  | '22016'
  | '2202E'
  /** program_limit_exceeded: no such character. */
  | '54000'
  /** invalid_escape_sequence: a LIKE pattern that ends in its escape. */
  | '22025'
  /** data_exception: any other. */
  | '22000'
  /** cardinality_violation: a scalar subquery gave several rows. */
  | '21000'
  /** grouping_error: a subquery uses an ungrouped column of the outer query. */
  | '42803'
  /** statement_too_complex: a recursion without end, or nearly so. */
  | '54001'
  /** invalid_parameter_value: rows of a JSON value that has none. */
  | '22023'
  /** insufficient_privilege: a table names files outside its territory. */
  | '42501'
  /** connection_failure: the engine or its storage cannot be reached. */
  | '08006'
  /** system_error: the engine was restarted meanwhile. */
  | '58000'
  /** io_error: a snapshot cannot be read completely. */
  | '58030'
  /** feature_not_supported: this engine cannot read the table or run the statement. */
  | '0A000'
  /** internal_error: anything else. */
  | 'XX000'

export class EngineError extends Error {
  override readonly name = 'EngineError'
  /** The file that cannot be read, for stewards only. */
  readonly file: string | undefined

  /**
   * @param code the SQLSTATE
   * @param message for the client; it holds no value, path or text of the engine
   * @param options `cause`: the engine's own error, for the server's log only; `file`: the location of the file that
   *   cannot be read
   */
  constructor(
    readonly code: EngineErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly file?: string | undefined } = {},
  ) {
    super(message, options)
    this.file = options.file
  }
}

/** @param what subject of the message, such as "An encrypted table" */
export function engineCannotRead(what: string): EngineError {
  return new EngineError('0A000', `${what} cannot be read by this engine.`)
}

/**
 * The client's error for a table that could not be read.
 * @param thrown what reading threw; an EngineError is returned unchanged
 */
export function unreadable(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown
  if (thrown instanceof Fault && thrown.kind === 'overloaded')
    return new EngineError('53200', thrown.publicMessage, { cause: thrown })
  if (!(thrown instanceof ReadFailure))
    return new EngineError('58030', 'The table cannot be read: its metadata is malformed.', { cause: thrown })
  if (thrown instanceof TerritoryFailure)
    return new EngineError(
      '42501',
      `The table cannot be read: ${thrown.reason}. Ask a steward to grant the folder to the table.`,
      { cause: thrown },
    )
  const sentence = `The table cannot be read: ${thrown.reason}.`
  return new EngineError(thrown.passing ? '08006' : '58030', sentence, {
    cause: thrown,
    file: thrown.location,
  })
}
