/**
 * Reads and writes the file in which the command line remembers services and how to reach them: address, session, and
 * the login of a person. Only its owner may read it. It sends nothing.
 */

import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { UsageError } from '../exit-status.ts'
import type { Terminal } from '../terminal.ts'

const loginSchema = Type.Object({
  issuer: Type.String(),
  client_id: Type.String(),
  scope: Type.String(),
  /** Which of the two tokens goes to the service. */
  sends: Type.Union([Type.Literal('id'), Type.Literal('access')]),
  token: Type.String(),
  /** Milliseconds of the epoch. */
  expires_at: Type.Number(),
  refresh_token: Type.Optional(Type.String()),
})

const profileSchema = Type.Object({
  url: Type.String(),
  session: Type.String(),
  login: Type.Optional(loginSchema),
})

const fileSchema = Type.Object({
  current: Type.Optional(Type.String()),
  profiles: Type.Record(Type.String(), profileSchema),
})

/** The login of a person at an issuer. */
export type ProfileLogin = Static<typeof loginSchema>
/** A service, a session, and perhaps the login of a person. */
export type Profile = Static<typeof profileSchema>
type ProfileFile = Static<typeof fileSchema>

/** Whether this may be the name of a profile. */
export const isProfileName = (name: string): boolean => /^[A-Za-z0-9][\w-]{0,62}$/.test(name)

/** @throws UsageError where the environment names no folder for it */
function pathOf(env: Terminal['env']): string | undefined {
  const base = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, '.config') : undefined)
  return base === undefined ? undefined : join(base, 'covenant', 'profiles.json')
}

/**
 * All profiles; none where there is no file.
 * @throws UsageError where others may read or write the file, or it holds something else. Its content is not repeated
 */
export async function readProfiles(env: Terminal['env']): Promise<ProfileFile> {
  const path = pathOf(env)
  const found = path === undefined ? undefined : await lstat(path).catch(() => undefined)
  if (path === undefined || found === undefined) return { profiles: {} }
  if (!found.isFile() || (found.mode & 0o077) !== 0)
    throw new UsageError('The file of profiles must be a file that only its owner may read: chmod 600 it')
  const value = await Bun.file(path)
    .json()
    .catch(() => undefined)
  if (!Value.Check(fileSchema, value) || !Object.keys(value.profiles).every(isProfileName))
    throw new UsageError(
      'The file of profiles is not as covenant login writes it; log in again after moving it away',
    )
  return value
}

/** Writes all profiles, whole or not at all. @throws UsageError where the environment names no folder for them */
export async function writeProfiles(env: Terminal['env'], file: ProfileFile): Promise<void> {
  const path = pathOf(env)
  if (path === undefined) throw new UsageError('There is no folder for profiles: set HOME or XDG_CONFIG_HOME')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
