/**
 * Maps Trino's errors to SQLSTATEs and messages. Trino's texts quote values and paths, so only the error's name and
 * type are used, and one fixed text that quotes nothing.
 */

import { EngineError, type EngineErrorCode } from '../engine-error.ts'

/** The `error` member of a reply (Trino's StandardErrorCode). */
export interface TrinoFailure {
  readonly errorName: string
  readonly errorType: string
  readonly message: string
}

type Meaning = readonly [code: EngineErrorCode, sentence: string]

const meanings: readonly (readonly [names: readonly string[], meaning: Meaning])[] = [
  [['DIVISION_BY_ZERO'], ['22012', 'division by zero']],
  [['NUMERIC_VALUE_OUT_OF_RANGE'], ['22003', 'numeric value out of range']],
  [
    ['INVALID_CAST_ARGUMENT', 'INVALID_LITERAL'],
    ['22P02', 'a value cannot be converted to the requested type'],
  ],
  [
    [
      'INVALID_FUNCTION_ARGUMENT',
      'GENERIC_USER_ERROR',
      'JSON_INPUT_CONVERSION_ERROR',
      'JSON_VALUE_RESULT_ERROR',
    ],
    ['22000', 'invalid argument for a function'],
  ],
  [['SUBQUERY_MULTIPLE_ROWS'], ['21000', 'more than one row returned by a subquery used as an expression']],
  [
    ['USER_CANCELED', 'ADMINISTRATIVELY_KILLED', 'ADMINISTRATIVELY_PREEMPTED', 'ABANDONED_QUERY'],
    ['57014', 'the query was cancelled on the engine'],
  ],
  [
    ['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT'],
    ['57014', 'the query exceeded a time limit of the engine'],
  ],
  [['QUERY_QUEUE_FULL'], ['53300', 'the query queue of the engine is full; try again later']],
  [
    [
      'SERVER_SHUTTING_DOWN',
      'SERVER_STARTING_UP',
      'REMOTE_HOST_GONE',
      'REMOTE_TASK_ERROR',
      'REMOTE_TASK_MISMATCH',
    ],
    ['08006', 'the engine lost a server while the query ran; try again'],
  ],
  [
    ['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND', 'COLUMN_NOT_FOUND', 'INVALID_ARGUMENTS'],
    ['58030', 'the engine cannot find a table or column of the statement; check `trino.catalog`'],
  ],
  [
    ['PERMISSION_DENIED'],
    ['58030', 'the access control of the engine denied reading a table of the statement'],
  ],
  [
    [
      'NOT_SUPPORTED',
      'QUERY_TEXT_TOO_LARGE',
      'QUERY_HAS_TOO_MANY_STAGES',
      'FUNCTION_NOT_FOUND',
      'TYPE_MISMATCH',
    ],
    ['0A000', 'the engine does not support the statement'],
  ],
]

const byName = new Map(meanings.flatMap(([names, meaning]) => names.map((name) => [name, meaning] as const)))

const byType: Readonly<Partial<Record<string, Meaning>>> = {
  INSUFFICIENT_RESOURCES: ['53000', 'the engine has too little memory or space for the query'],
  EXTERNAL: ['58030', 'the engine could not read a table of the statement'],
}

/** Trino's message for an invalid LIKE pattern. Its error name is that of every invalid function argument. */
const badEscape = "Escape character must be followed by '%', '_' or the escape character itself"
const badPattern: Meaning = ['22025', 'the escape character of a LIKE pattern must precede %, _ or itself']

const messageLengthMax = 1_000

/** The client's error for a query that failed. Its cause holds Trino's text, for the log only. */
export function engineErrorOf({ errorName, errorType, message }: TrinoFailure): EngineError {
  const meaning = message === badEscape ? badPattern : (byName.get(errorName) ?? byType[errorType])
  const [code, sentence] = meaning ?? ['XX000', 'the engine failed']
  const cause = new Error(`Trino: ${errorName} (${errorType}): ${message.slice(0, messageLengthMax)}`)
  return new EngineError(code, sentence, { cause })
}

/** A reply that breaks Trino's protocol, or does not match the request. */
export function protocolError(detail: string, cause?: unknown): EngineError {
  return new EngineError('08006', 'the engine sent an invalid reply', {
    cause: new Error(`Trino: ${detail}`, { cause }),
  })
}

/** The error of a run whose signal has fired. */
export function cancelled(signal: AbortSignal): EngineError {
  return new EngineError('57014', 'canceling statement due to user request', { cause: signal.reason })
}
