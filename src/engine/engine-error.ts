/** Why an engine did not answer. Engines quote values in their messages, so nothing of those is kept here. */

import { ReadFailure } from '../storage/read-failure.ts'

/** PostgreSQL's SQLSTATE of each condition (Appendix A of its manual). */
export type EngineErrorCode =
  /** query_canceled: cancelled, or over its time. */
  | '57014'
  /** insufficient_resources: memory or temporary space. */
  | '53000'
  /** too_many_connections: no place in the queue. */
  | '53300'
  /** division_by_zero and the other data exceptions that are told apart. */
  | '22012'
  | '22003'
  | '22P02'
  | '22007'
  | '22008'
  /** invalid_escape_sequence: a LIKE pattern that ends in its escape. */
  | '22025'
  /** data_exception: another one. */
  | '22000'
  /** cardinality_violation: a scalar subquery gave several rows. */
  | '21000'
  /** grouping_error: a subquery that uses a column of the query around it which is not grouped. */
  | '42803'
  /** connection_failure: the engine or its storage cannot be reached. */
  | '08006'
  /** io_error: a snapshot cannot be read whole. */
  | '58030'
  /** feature_not_supported: the table or statement holds what this engine does not read. */
  | '0A000'
  /** internal_error: anything else. */
  | 'XX000'

export class EngineError extends Error {
  override readonly name = 'EngineError'

  /**
   * @param code the SQLSTATE
   * @param message a sentence of our own for the client; holds no value, path or text of the engine
   * @param options `cause`: what the engine said, for the server's log only
   */
  constructor(
    readonly code: EngineErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options)
  }
}

/** @param what begins the sentence: "An encrypted table" */
export function notSupported(what: string): EngineError {
  return new EngineError('0A000', `${what} cannot be read by this engine.`)
}

/**
 * What the client is told of a table that could not be read.
 * @param thrown what reading threw; an EngineError stays as it is
 */
export function unreadable(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown
  if (!(thrown instanceof ReadFailure))
    return new EngineError('58030', 'The table cannot be read: its metadata is malformed.', { cause: thrown })
  const sentence = `The table cannot be read: ${thrown.reason}.`
  return new EngineError(thrown.passing ? '08006' : '58030', sentence, { cause: thrown })
}
