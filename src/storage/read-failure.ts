/** The error of a scan, or of one file in it. Its reason holds our own words only: never content, never a path. */

export class ReadFailure extends Error {
  override readonly name: string = 'ReadFailure'
  /** The location of the file that cannot be read, where it is known; for stewards only. */
  location: string | undefined

  /**
   * @param reason a clause for the run's record
   * @param passing whether a retry may succeed
   */
  constructor(
    readonly reason: string,
    readonly passing = false,
  ) {
    super(reason)
  }
}

/** More would have to be read than a bound allows. A retry does not help. */
export class BoundFailure extends ReadFailure {
  override readonly name = 'BoundFailure'
}

/**
 * Any thrown value as a ReadFailure. Libraries quote the content that they could not read, so their messages are
 * dropped.
 * @param what names the document that was read
 */
export function toReadFailure(thrown: unknown, what: string): ReadFailure {
  if (thrown instanceof ReadFailure) return thrown
  return new ReadFailure(`${what} cannot be read: it is corrupt or truncated`)
}

/** Reads a file; a failure then says which it was, unless it names a file already. */
export async function readingFile<T>(location: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    throw withLocation(thrown, location)
  }
}

/** What was thrown; a failure then says which file it was, unless it names one already. */
export function withLocation(thrown: unknown, location: string): unknown {
  if (thrown instanceof ReadFailure) thrown.location ??= location
  return thrown
}

/** The last segment of a location. The folders above may contain partition values, which are data. */
export function fileName(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1).slice(0, 200)
}
