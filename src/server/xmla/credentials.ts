/** Reads the credential of an XMLA request: Basic as MSOLAP sends it, or a bearer. */

import type { CredentialReader, ReadCredential } from '../../auth/read-credential.ts'
import { tokenCharsMax } from '../../auth/token-keys.ts'
import { serviceSubject } from '../../core/principal.ts'

interface Given {
  /** Of Basic; undefined for a bearer. */
  readonly user: string | undefined
  readonly secret: string
}

/** @param header `Authorization` */
function readAuthorization(header: string | undefined): Given | undefined {
  const [, scheme = '', value = ''] = /^([A-Za-z]+) +(\S+)$/.exec(header ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return { user: undefined, secret: value }
  if (scheme.toLowerCase() !== 'basic' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  // A service's subject holds a colon, and no secret does.
  const colon = text.lastIndexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), secret: text.slice(colon + 1) }
}

/** Whether the secret is longer than any that is taken. */
export function isTooLong(header: string): boolean {
  return (readAuthorization(header)?.secret.length ?? 0) > tokenCharsMax
}

/** Under which name failures are counted; '' where none is given. */
export function userOf(header: string | undefined): string {
  return readAuthorization(header)?.user ?? ''
}

/**
 * The credential of a request. A Basic user is the subject, a service's name with or without `service:`, or the id of its
 * session.
 * @returns undefined for anything that is missing or invalid, whatever the reason
 * @throws Fault where validity cannot be checked
 */
export async function readCredential(
  credentials: CredentialReader,
  header: string | undefined,
): Promise<ReadCredential | undefined> {
  const given = readAuthorization(header)
  if (given === undefined || given.secret === '') return undefined
  const found = await credentials.bySecret(given.secret)
  if (found === undefined || given.user === undefined) return found
  const { sub } = found.principal
  const names = [sub, found.sessionToCheck?.()]
  return names.includes(given.user) || sub === serviceSubject(given.user) ? found : undefined
}
