/** Finds the service that a call of the command line goes to, and the session for it. It sends nothing. */

import { parseHostUrl } from '../config-values.ts'
import { UsageError } from './exit-status.ts'
import { profileFor, tokenOf } from './profiles/use-profile.ts'
import type { Terminal } from './terminal.ts'

export interface ServiceAddress {
  /** Base address of the service. */
  readonly url: string
  /** The secret of a session. */
  readonly session: string
  /** The token of the person who acts, where a profile has the login of one. */
  readonly token?: string
}

/**
 * Where a call goes: `--url` or COVENANT_URL, and the session of COVENANT_SESSION, of the file of `--session-file`, or
 * of that of COVENANT_SESSION_FILE. What they leave open is that of a profile. The session of a profile goes to the
 * service of the profile alone.
 * @param onlyNamed whether a profile counts only where COVENANT_PROFILE or --profile names it
 * @returns undefined where no address is given, and the call works on the store
 * @throws UsageError where the address is none, or the session is missing or malformed
 */
export async function serviceAddress(
  flags: { readonly url?: string | undefined; readonly sessionFile?: string | undefined },
  env: Terminal['env'],
  onlyNamed = false,
): Promise<ServiceAddress | undefined> {
  const named = flags.url ?? (env.COVENANT_URL || undefined)
  const file = flags.sessionFile ?? (env.COVENANT_SESSION ? undefined : env.COVENANT_SESSION_FILE)
  const own = named !== undefined && Boolean(file ?? env.COVENANT_SESSION)
  // What is given wins, and then no file of profiles is even read.
  const stored = own ? undefined : await profileFor(env, onlyNamed && named === undefined)
  const given = named ?? stored?.profile.url
  if (given === undefined && flags.sessionFile !== undefined)
    throw new UsageError('--session-file goes with --url')
  if (given === undefined) return undefined
  const url = parseHostUrl(given)
  if (url === undefined)
    throw new UsageError('--url must be an https:// URL (http:// on loopback only) without a path')
  const session = (file === undefined ? env.COVENANT_SESSION : await contentOf(file))?.trim()
  if (!session && stored !== undefined && file === undefined) {
    if (new URL(url).origin !== new URL(stored.profile.url).origin)
      throw new UsageError(
        'The profile is for another service than --url or COVENANT_URL; give a session for that one',
      )
    const token = await tokenOf(env, stored.name)
    return { url, session: stored.profile.session, ...(token !== undefined && { token }) }
  }
  if (!session)
    throw new UsageError(
      'A session is needed: run covenant login, set COVENANT_SESSION to its secret, or name a file that holds it with --session-file',
    )
  if (!/^[\x21-\x7e]+$/.test(session)) throw new UsageError('The session is no secret of a session')
  return { url, session }
}

/** The path is not quoted, because a user may have put the secret itself there. */
async function contentOf(path: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch {
    throw new UsageError('--session-file takes the name of a file that can be read')
  }
}
