/** Finds the profile that a command uses, and renews the login in it where that has expired. */

import { Fault } from '../../base/fault.ts'
import { UsageError } from '../exit-status.ts'
import type { Terminal } from '../terminal.ts'
import { isProfileName, type Profile, readProfiles, writeProfiles } from './profile-file.ts'

/** A token that ends so soon, in milliseconds, is renewed before it is sent. */
const renewMs = 30_000

/**
 * The profile of COVENANT_PROFILE (which --profile sets), else the one in use.
 * @param onlyNamed whether the one in use does not count, as for commands that also work on a store
 * @returns undefined where there is none
 * @throws UsageError where the one that is named is not there
 */
export async function profileFor(
  env: Terminal['env'],
  onlyNamed: boolean,
): Promise<{ readonly name: string; readonly profile: Profile } | undefined> {
  const named = env.COVENANT_PROFILE || undefined
  if (named === undefined && onlyNamed) return undefined
  if (named !== undefined && !isProfileName(named)) throw new UsageError(noSuch)
  const { current, profiles } = await readProfiles(env)
  const name = named ?? current
  if (name === undefined) return undefined
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined && named !== undefined) throw new UsageError(noSuch)
  return profile && { name, profile }
}

// The name is not repeated, because it may be a secret in the wrong place.
const noSuch = 'There is no profile of that name; covenant profiles list shows those that are'

/** The token of the person, renewed where it is about to end; undefined where the profile has a session alone. */
export async function tokenOf(env: Terminal['env'], name: string): Promise<string | undefined> {
  const login = (await readProfiles(env)).profiles[name]?.login
  if (login === undefined || login.expires_at > Date.now() + renewMs) return login?.token
  const { refreshLogin } = await import('./device-login.ts')
  try {
    const renewed = await refreshLogin(login)
    const file = await readProfiles(env)
    const profile = file.profiles[name]
    if (profile !== undefined)
      await writeProfiles(env, {
        ...file,
        profiles: { ...file.profiles, [name]: { ...profile, login: renewed } },
      })
    return renewed.token
  } catch (thrown) {
    // Another command may have renewed it meanwhile, and used the refresh token up.
    const other = (await readProfiles(env)).profiles[name]?.login
    if (other !== undefined && other.token !== login.token && other.expires_at > Date.now())
      return other.token
    if (thrown instanceof Fault && thrown.kind === 'unauthenticated')
      throw new Fault('unauthenticated', 'The login of the profile has expired. Run covenant login again.')
    throw thrown
  }
}
