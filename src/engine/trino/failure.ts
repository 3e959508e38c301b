/**
 * What Trino's errors mean. Its texts quote values and paths, so only its error's name and type are judged, and one
 * sentence that quotes nothing.
 */

import { EngineError, type EngineErrorCode } from '../engine-error.ts'

/** As the `error` member of an answer has it (Trino's StandardErrorCode). */
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
    ['22P02', 'a value cannot be converted to the type asked for'],
  ],
  [
    [
      'INVALID_FUNCTION_ARGUMENT',
      'GENERIC_USER_ERROR',
      'JSON_INPUT_CONVERSION_ERROR',
      'JSON_VALUE_RESULT_ERROR',
    ],
    ['22000', 'a function was given a value that it does not take'],
  ],
  [['SUBQUERY_MULTIPLE_ROWS'], ['21000', 'more than one row returned by a subquery used as an expression']],
  [
    ['USER_CANCELED', 'ADMINISTRATIVELY_KILLED', 'ADMINISTRATIVELY_PREEMPTED', 'ABANDONED_QUERY'],
    ['57014', 'the engine was told to end the query'],
  ],
  [
    ['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT'],
    ['57014', 'the query ran longer than the engine allows'],
  ],
  [['QUERY_QUEUE_FULL'], ['53300', 'the engine takes no more queries now']],
  [
    [
      'SERVER_SHUTTING_DOWN',
      'SERVER_STARTING_UP',
      'REMOTE_HOST_GONE',
      'REMOTE_TASK_ERROR',
      'REMOTE_TASK_MISMATCH',
    ],
    ['08006', 'the engine lost a part of itself while the query ran'],
  ],
  [
    ['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND', 'COLUMN_NOT_FOUND', 'INVALID_ARGUMENTS'],
    ['58030', 'the engine does not find a table of the statement as it is governed'],
  ],
  [['PERMISSION_DENIED'], ['58030', 'the engine may not read a table of the statement']],
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

/** Of a LIKE pattern that is no literal; the name alone is that of every function's bad argument. */
const badEscape = "Escape character must be followed by '%', '_' or the escape character itself"
const badPattern: Meaning = ['22025', 'a LIKE pattern has its escape before neither %, _ nor the escape']

const messageLengthMax = 1_000

/** Trino's failure of a query. The cause, for the log, holds what Trino said. */
export function engineErrorOf({ errorName, errorType, message }: TrinoFailure): EngineError {
  const meaning = message === badEscape ? badPattern : (byName.get(errorName) ?? byType[errorType])
  const [code, sentence] = meaning ?? ['XX000', 'the engine failed']
  const cause = new Error(`Trino: ${errorName} (${errorType}): ${message.slice(0, messageLengthMax)}`)
  return new EngineError(code, sentence, { cause })
}

/** An answer that is none of Trino's protocol, or not what was asked for. */
export function protocolError(detail: string, cause?: unknown): EngineError {
  return new EngineError('08006', 'the engine gave an answer that cannot be used', {
    cause: new Error(`Trino: ${detail}`, { cause }),
  })
}

/** The run's signal has fired. */
export function cancelled(signal: AbortSignal): EngineError {
  return new EngineError('57014', 'canceling statement due to user request', { cause: signal.reason })
}
