/** A value that cannot be written or read in the form asked for, as one SQLSTATE and one sentence. */

export type ValueErrorState = '22003' | '22008' | '22P02' | '22P03' | '22021' | '0A000' | '54000'

export class ValueError extends Error {
  override readonly name = 'ValueError'

  /** @param message one sentence for the client, without the value */
  constructor(
    readonly sqlState: ValueErrorState,
    message: string,
  ) {
    super(message)
  }
}
