/**
 * The one error of the transform. Its message names column and rule, never a value: it may be logged. It holds no cause,
 * because the text of a foreign error may quote its input.
 */

export const refusalCodes = [
  /** There is no plan: no answer, a time-out, another status than 200, or no address to ask. */
  'no_plan',
  'bad_signature',
  'wrong_issuer',
  'wrong_tenant',
  'wrong_table',
  'wrong_schema',
  'expired',
  /** The clocks of writer and service differ by more than clockSecondsMax. */
  'clock',
  /** The plan is not of this format, or names an action, method, type or alphabet that is not known. */
  'malformed_plan',
  'no_key',
  'unknown_column',
  'missing_column',
  /** The data are not of the type that the plan names, or of a layout that is not supported. */
  'wrong_type',
  'null_in_required',
  'outside_domain',
  'already_protected',
  /** A sealed value was changed, or is of another key, scope or tenant. */
  'not_authentic',
  /** A value to be encrypted under a subject's key stands in a row without a subject. */
  'no_subject',
  /** The keys of the batch's subjects could not be had. */
  'subject_keys',
  /** The subject was erased: nothing more is written of it. */
  'subject_shredded',
  /** Anything that was thrown and is not one of these. */
  'failed',
] as const
export type RefusalCode = (typeof refusalCodes)[number]

export class TransformRefused extends Error {
  override readonly name = 'TransformRefused'

  constructor(
    readonly code: RefusalCode,
    message: string,
    /** The column's name, where one column is at fault. */
    readonly column?: string,
  ) {
    super(column === undefined ? message : `column ${column}: ${message}`)
  }
}
