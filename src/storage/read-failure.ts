/** Why a scan, or one file of it, came to nothing. A reason is our own words: never content, never a path. */

export class ReadFailure extends Error {
  override readonly name = 'ReadFailure'

  /**
   * @param reason a clause for the run's record
   * @param passing whether another attempt may do better
   */
  constructor(
    readonly reason: string,
    readonly passing = false,
  ) {
    super(reason)
  }
}

/**
 * What may be kept of any thrown value. Libraries quote what they could not read, so nothing of their
 * messages is kept.
 * @param what the document that was being read
 */
export function toReadFailure(thrown: unknown, what: string): ReadFailure {
  if (thrown instanceof ReadFailure) return thrown
  return new ReadFailure(`${what} cannot be read: it is corrupt or truncated`)
}

/** The last segment of a location: the folders above may spell out partition values, which are data. */
export function fileName(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1).slice(0, 200)
}
