/** The error for a value that cannot be encoded or parsed in the requested format: a SQLSTATE and a message. */

type ValueErrorState = '22003' | '22008' | '22P02' | '22P03' | '22021' | '0A000' | '54000'

export class ValueError extends Error {
  override readonly name = 'ValueError'

  /** @param message for the client; it does not quote the value */
  constructor(
    readonly sqlState: ValueErrorState,
    message: string,
  ) {
    super(message)
  }
}
