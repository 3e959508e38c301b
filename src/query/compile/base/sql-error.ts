/** Defines the read path's error: a Fault with PostgreSQL's SQLSTATE and a position in the statement. */

import { Fault, type FaultKind } from '../../../base/fault.ts'
import type { TableRef } from '../../../core/table-ref.ts'

/** The SQLSTATEs of PostgreSQL's Appendix A that the read path uses. */
const kindOf = {
  '08006': 'unavailable', // connection_failure
  '0A000': 'bad_request', // feature_not_supported
  '21000': 'bad_request', // cardinality_violation
  '22000': 'bad_request', // data_exception
  '22012': 'bad_request', // division_by_zero
  '22P02': 'bad_request', // invalid_text_representation
  '22003': 'bad_request', // numeric_value_out_of_range
  '22004': 'bad_request', // null_value_not_allowed
  '22007': 'bad_request', // invalid_datetime_format
  '22008': 'bad_request', // datetime_field_overflow
  '2201B': 'bad_request', // invalid_regular_expression
  '2201E': 'bad_request', // invalid_argument_for_logarithm
  '2201F': 'bad_request', // invalid_argument_for_power_function
  '2201G': 'bad_request', // invalid_argument_for_width_bucket_function
  '22011': 'bad_request', // substring_error
  '22014': 'bad_request', // invalid_argument_for_ntile_function
  '22016': 'bad_request', // invalid_argument_for_nth_value_function
  '2202E': 'bad_request', // array_subscript_error
  '2201W': 'bad_request', // invalid_row_count_in_limit_clause
  '2201X': 'bad_request', // invalid_row_count_in_result_offset_clause
  '22023': 'bad_request', // invalid_parameter_value
  '22025': 'bad_request', // invalid_escape_sequence
  '25006': 'bad_request', // read_only_sql_transaction
  '28000': 'unauthenticated', // invalid_authorization_specification
  '3D000': 'not_found', // invalid_catalog_name
  '42501': 'forbidden', // insufficient_privilege
  '42601': 'bad_request', // syntax_error
  '42702': 'bad_request', // ambiguous_column
  '42703': 'bad_request', // undefined_column
  '42704': 'bad_request', // undefined_object
  '42712': 'bad_request', // duplicate_alias
  '42725': 'bad_request', // ambiguous_function
  '42803': 'bad_request', // grouping_error
  '42804': 'bad_request', // datatype_mismatch
  '42809': 'bad_request', // wrong_object_type
  '42846': 'bad_request', // cannot_coerce
  '42883': 'bad_request', // undefined_function
  '42P01': 'bad_request', // undefined_table
  '42P02': 'bad_request', // undefined_parameter
  '42P10': 'bad_request', // invalid_column_reference
  '42P18': 'bad_request', // indeterminate_datatype
  '42P19': 'bad_request', // invalid_recursion
  '42P20': 'bad_request', // windowing_error
  '53000': 'unavailable', // insufficient_resources
  '53200': 'overloaded', // out_of_memory
  '53300': 'unavailable', // too_many_connections
  '53400': 'overloaded', // configuration_limit_exceeded
  '54000': 'bad_request', // program_limit_exceeded
  '54001': 'bad_request', // statement_too_complex
  '54011': 'bad_request', // too_many_columns
  '55000': 'conflict', // object_not_in_prerequisite_state
  '57014': 'unavailable', // query_canceled
  '58000': 'unavailable', // system_error
  '58030': 'unavailable', // io_error
  XX000: 'internal', // internal_error
} as const satisfies Record<string, FaultKind>
export type SqlState = keyof typeof kindOf

interface SqlErrorOptions {
  readonly detail?: string
  readonly cause?: unknown
  readonly hint?: string
  /** Where the statement is right but what it asks for is not; else it follows from the SQLSTATE. */
  readonly kind?: FaultKind | undefined
  /** Names the case for programs, where the SQLSTATE stands for many. */
  readonly reason?: string
}

export class SqlError extends Fault {
  /** What the writer of the statement can do, where that is not in the message. */
  readonly hint: string | undefined
  /** As in the options. */
  readonly reason: string | undefined

  /** @param position UTF-8 bytes of the statement before the error */
  constructor(
    readonly sqlState: SqlState,
    message: string,
    readonly position?: number,
    private readonly options: SqlErrorOptions = {},
  ) {
    const { hint, reason } = options
    super(options.kind ?? kindOf[sqlState], message, {
      ...options,
      members: { sqlstate: sqlState, position, hint, ...(reason !== undefined && { reason }) },
    })
    this.hint = hint
    this.reason = reason
  }

  /** The same error with a place in the statement, or without one. */
  at(position: number | undefined): SqlError {
    return new SqlError(this.sqlState, this.publicMessage, position, this.options)
  }

  /** The same error with a hint. */
  hinted(hint: string): SqlError {
    return new SqlError(this.sqlState, this.publicMessage, this.position, { ...this.options, hint })
  }
}

/** A table that may not be read. Where it must look like one that there is not, a surface gives `absent` instead. */
export class UnreadableTable extends SqlError {
  constructor(
    readonly table: TableRef,
    message: string,
    readonly absent: SqlError,
    hint?: string,
  ) {
    super('42501', message, undefined, { ...(hint !== undefined && { hint }) })
  }

  override hinted(hint: string): UnreadableTable {
    return new UnreadableTable(this.table, this.publicMessage, this.absent, hint)
  }

  /** As in PostgreSQL, it has no place. */
  override at(): UnreadableTable {
    return this
  }
}

/** The error for a table that there is not. */
export function absentRelation(schema: string | undefined, name: string, position?: number): SqlError {
  const named = schema === undefined ? name : `${schema}.${name}`
  return new SqlError('42P01', `relation "${named}" does not exist`, position)
}

/** The error for a statement that a row filter applies to, where the client set `row_security` to off. */
export function affectedByFilter(table: string): SqlError {
  return new SqlError('42501', `query would be affected by row-level security policy for table "${table}"`)
}

/** The error for valid SQL that is not supported. */
export function notSupported(what: string, position?: number): SqlError {
  return new SqlError('0A000', `${what} is not supported.`, position)
}

/** Any exception of the compiler as a SqlError. The text of other errors is dropped. */
export function toSqlError(thrown: unknown): SqlError {
  if (thrown instanceof SqlError) return thrown
  if (thrown instanceof RangeError)
    return new SqlError('54001', 'The statement is too complex.', undefined, { cause: thrown })
  return new SqlError('XX000', 'The statement could not be compiled.', undefined, { cause: thrown })
}
