/** Turns words of a command line into members of an operation, by the types that the service describes. It sends nothing. */

import { UsageError } from './exit-status.ts'
import { membersOf, type ServedMember, type ServedOperation } from './served-operations.ts'

/** A body that a file holds. */
export interface FileBody {
  readonly bytes: Uint8Array
  readonly type: string
}

/** A member's name as a flag is compared with it: `If-Match` and `page_token` are --if-match and --page-token. */
export const flagOf = (name: string) => name.toLowerCase().replaceAll('-', '_')

/** A member from one word. Levels of a namespace are joined by dots. @throws UsageError where it is not of its type */
export function memberValue({ name, place, type }: ServedMember, value: string): unknown {
  const isNamespace = name === 'namespace' || name.endsWith('_namespace')
  if (isNamespace && place !== 'body') return value.replaceAll('.', '\u001f')
  if (type === 'array' && !value.trimStart().startsWith('['))
    return value.split(isNamespace ? '.' : ',').filter((item) => item !== '')
  if (place !== 'body' || type === 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    throw new UsageError(`--${name} takes JSON (${type ?? 'any value'})`)
  }
}

/** @throws UsageError for a required member that is missing */
export function assertRequired(
  operation: ServedOperation,
  input: ReadonlyMap<string, unknown>,
  hasFile: boolean,
): void {
  for (const { name, place, required } of membersOf(operation))
    if (required && !input.has(name) && !(hasFile && place === 'body'))
      throw new UsageError(`--${name} is required`)
}

/** The bytes of a file, or of standard input for `-`. @throws UsageError where it cannot be read */
export async function fileBytes(
  file: string,
  stdin: () => Promise<string>,
  flag: string,
): Promise<Uint8Array> {
  if (file === '-') return Buffer.from(await stdin())
  // The path is not quoted, because a user may have put a secret there.
  return await Bun.file(file)
    .bytes()
    .catch(() => {
      throw new UsageError(`${flag} takes the name of a file that can be read`)
    })
}
