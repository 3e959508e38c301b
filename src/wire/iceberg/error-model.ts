/** Writes the Iceberg REST ErrorModel, and reads an upstream's leniently. Does not choose statuses or types. */

/**
 * @param code the HTTP status
 * @param type the Iceberg exception name that clients expect, such as NoSuchTableException
 * @param members further members of the error, for clients that know them
 * @returns the body of an IcebergErrorResponse
 */
export function errorModel(code: number, type: string, message: string, members: object = {}): string {
  return JSON.stringify({ error: { message, type, code, ...members } })
}

/** A larger error reply is not parsed. */
const bodyBytesMax = 64 * 1024

export interface ErrorModel {
  readonly type?: string
  readonly message?: string
}

/**
 * Reads an upstream's error reply: an ErrorModel, or the OAuth error of a token endpoint (RFC 6749 section 5.2).
 * @returns an empty object for a body that is neither; never throws
 */
export function parseErrorModel(body: Uint8Array): ErrorModel {
  if (body.byteLength > bodyBytesMax) return {}
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return {}
  }
  const error = field(value, 'error')
  const [type, message] =
    typeof error === 'string'
      ? [error, field(value, 'error_description')]
      : [field(error, 'type'), field(error, 'message')]
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof message === 'string' && { message }),
  }
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
