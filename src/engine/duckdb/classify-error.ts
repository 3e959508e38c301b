/** Maps DuckDB's errors to SQLSTATEs and fixed messages, because DuckDB's texts quote values, paths and SQL. */

import { EngineError, type EngineErrorCode } from '../engine-error.ts'

interface Rule {
  readonly pattern: RegExp
  readonly code: EngineErrorCode
  readonly message: string
}

/** The first match applies; each begins with DuckDB's class of error. Some texts behind the colon come from `error(…)` in the compiler's SQL. */
const rules: readonly Rule[] = [
  {
    pattern: /^FATAL Error/is,
    code: '58000',
    message: 'The engine was restarted after an error of another statement. Retry.',
  },
  { pattern: /^INTERRUPT Error/is, code: '57014', message: 'The query was cancelled.' },
  {
    pattern: /^(Out of Memory Error|[\w ]+ Error: std::bad_alloc)/is,
    code: '53000',
    message: 'The query needs more memory or temporary space than it may use.',
  },
  {
    pattern: /^IO Error: .*(No space left|max_temp_directory_size)/is,
    code: '53000',
    message: 'The query needs more memory or temporary space than it may use.',
  },
  {
    pattern: /^Invalid Input Error: File .* is encrypted/is,
    code: '0A000',
    message: 'An encrypted table cannot be read by this engine.',
  },
  {
    // By DuckDB's class, not by its words: `Invalid` and `Serialization` are what the libraries throw that read a file.
    pattern:
      /^(IO|Invalid|Serialization) Error: |^Invalid Input Error: (Failed to read file|No magic bytes|File '.*' too small|.*footer)/is,
    code: '58030',
    message: 'A data file cannot be read: it is corrupt or truncated.',
  },
  { pattern: /^Invalid Input Error: division by zero$/is, code: '22012', message: 'division by zero' },
  {
    pattern: /^Invalid Input Error: input is out of range$/is,
    code: '22003',
    message: 'input is out of range',
  },
  ...(
    [
      ['2201E', 'cannot take logarithm of zero or of a negative number'],
      ['2201F', 'cannot take square root of a negative number'],
      ['2201F', 'invalid argument for power function'],
      ['2201G', 'invalid bounds or count of width_bucket'],
      ['22011', 'negative substring length not allowed'],
      ['22004', 'null value not allowed for object key'],
      ['22023', 'field name must not be null'],
      ['22007', 'the text does not match the pattern'],
      ['22P02', 'the text does not match the pattern of a number'],
      ['22008', 'date field value out of range'],
      ['22016', 'argument of nth_value must be greater than zero'],
      ['2202E', 'index out of valid range'],
      ['22023', 'cannot set path in scalar'],
      ['22023', 'field position must not be zero'],
      ['22023', 'character number must be positive'],
      ['22023', 'invalid digits of bytes'],
      ['54000', 'requested character not valid'],
      ['0A000', 'timestamps cannot be binned into intervals containing months or years'],
    ] as const
  ).map(
    ([code, message]): Rule => ({
      pattern: new RegExp(`^Invalid Input Error: ${message}$`, 'is'),
      code,
      message,
    }),
  ),
  {
    pattern: /^Invalid Input Error: (lpad|rpad|repeat): at most \d+$/is,
    code: '54000',
    message: 'requested length too large',
  },
  {
    pattern: /^Invalid Input Error: Argument for ntile must be greater than zero/is,
    code: '22014',
    message: 'argument of ntile must be greater than zero',
  },
  { pattern: /^Binder Error: interval cannot be 0/is, code: '22023', message: 'step size cannot equal zero' },
  {
    pattern: /^Conversion Error: (Date|Time|Date and time) (out of range|not in timestamp range)/is,
    code: '22008',
    message: 'date/time field value out of range',
  },
  {
    pattern: /^Invalid Input Error: invalid input syntax for a date or time$/is,
    code: '22007',
    message: 'invalid input syntax for a date or time',
  },
  {
    pattern: /^Invalid Input Error: invalid input syntax$/is,
    code: '22P02',
    message: 'invalid input syntax',
  },
  {
    pattern: /^Invalid Input Error: recursion out of bounds$/is,
    code: '54001',
    message: 'The recursion has more levels or rows, or longer values, than are served.',
  },
  {
    pattern: /^Invalid Input Error: not an (array|object)$/is,
    code: '22023',
    message: 'A JSON value has no such elements.',
  },
  {
    pattern: /^Syntax Error: Like pattern must not end with escape character/is,
    code: '22025',
    message: 'LIKE pattern must not end with escape character',
  },
  {
    pattern: /^Not implemented Error: Period must be greater than 0/is,
    code: '22008',
    message: 'stride must be greater than zero',
  },
  {
    // Correlated subqueries and array comparisons that DuckDB cannot plan.
    pattern:
      /^(Not implemented Error: .*correlated subquery|Binder Error: (LATERAL join|window expression is|Referenced table)|Invalid type Error: .*BETWEEN)/is,
    code: '0A000',
    message: 'The statement is correct, but the engine cannot run it.',
  },
  {
    // The compiler refuses every other ungrouped column.
    pattern: /^Binder Error: column \S+ must appear in the GROUP BY clause/is,
    code: '42803',
    message: 'subquery uses ungrouped column from outer query',
  },
  {
    pattern: /^Invalid Input Error: More than one row returned by a subquery/is,
    code: '21000',
    message: 'more than one row returned by a subquery used as an expression',
  },
  {
    pattern: /^Conversion Error: (.*(date|timestamp|time) field value|Epoch seconds) out of range/is,
    code: '22008',
    message: 'date/time field value out of range',
  },
  {
    pattern:
      /^Conversion Error: .*(invalid (date|timestamp|time|interval) field format|Could not parse (date|timestamp|time))/is,
    code: '22007',
    message: 'invalid input syntax for a date or time',
  },
  {
    pattern:
      /^Conversion Error: .*(out of range|Could not cast value|Failed to cast decimal value|overflow|can't be cast because the value)/is,
    code: '22003',
    message: 'value out of range',
  },
  { pattern: /^Conversion Error: /is, code: '22P02', message: 'invalid input syntax' },
  {
    pattern: /^Out of Range Error: .*(date|timestamp|interval)/is,
    code: '22008',
    message: 'date/time field value out of range',
  },
  { pattern: /^Out of Range Error: /is, code: '22003', message: 'value out of range' },
  { pattern: /^Invalid Input Error: /is, code: '22000', message: 'A value is invalid for the expression.' },
]

/** @param thrown what DuckDB threw; it becomes the cause, for the server's log only */
export function classifyError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const rule = rules.find(({ pattern }) => pattern.test(text))
  return new EngineError(rule?.code ?? 'XX000', rule?.message ?? 'The engine could not run the statement.', {
    cause: thrown,
  })
}
