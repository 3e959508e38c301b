/**
 * `covenant login`, `logout` and `profiles`: remember a service and how to reach it. A secret is read from a terminal
 * without echo, or from standard input, and is never printed.
 */

import { Fault } from '../../base/fault.ts'
import { parseHostUrl } from '../../config-values.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from '../exit-status.ts'
import { openHttpClient } from '../http-client.ts'
import { parseWords } from '../parse-words.ts'
import type { ServiceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { listText, shownText } from '../text-table.ts'
import {
  isProfileName,
  type Profile,
  type ProfileLogin,
  readProfiles,
  writeProfiles,
} from './profile-file.ts'

const helps = {
  login: `Usage: covenant login [--session] [--profile NAME] [--url URL] [--session-file FILE]
       covenant login --issuer URL --client-id ID [--scope SCOPES] [--token id|access] [--profile NAME] …

Remembers a service under a name (default: default), checks it, and uses it from then on. The secret of a session is
asked for without showing it; without a terminal it is read from standard input. It names the tenant. With --issuer, a
person logs in too, by a code that is entered in a browser (RFC 8628): then the person acts, with their own roles. The
tenant must trust the issuer, and the client id as its audience: see covenant issuers --help.

  --url URL          the service; else COVENANT_URL
  --session          a session alone, without the login of a person; the default
  --session-file     a file that holds the secret; else COVENANT_SESSION, COVENANT_SESSION_FILE, or what is typed
  --issuer URL       the issuer of an OpenID Connect login
  --client-id ID     a public client of it that may use the device grant
  --scope SCOPES     default: openid offline_access
  --token id|access  which token the service gets; default: id

The file is $XDG_CONFIG_HOME/covenant/profiles.json, else ~/.config/covenant/profiles.json, for its owner alone.
${exitStatusHelp}`,
  logout: `Usage: covenant logout [--profile NAME]

Forgets the session and the login of the profile in use, or of the named one. The session itself goes on: an
administrator ends it.
${exitStatusHelp}`,
  profiles: `Usage: covenant profiles list [--json]
       covenant profiles use NAME
       covenant profiles remove NAME

list shows what covenant login remembers, without secrets. use chooses the one that commands go to where neither
--profile, COVENANT_PROFILE nor COVENANT_URL says another. remove forgets one.
${exitStatusHelp}`,
} as const

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** Runs one of the verbs. It never throws. @returns the exit status */
export async function runProfileVerb(
  verb: keyof typeof helps,
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(helps[verb])
    return exitStatus.done
  }
  try {
    await { login, logout, profiles }[verb](words, terminal)
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, `covenant ${verb}`, terminal)
  }
}

async function login(words: readonly string[], terminal: Terminal): Promise<void> {
  const { env } = terminal
  const one = { url: text, 'session-file': text, issuer: text, 'client-id': text, scope: text, token: text }
  const { values, positionals } = parseWords(words, { ...one, session: flag })
  if (positionals.length > 0)
    throw new UsageError('`login` is followed by flags only; a secret is never an argument')
  const flags = values as Partial<Record<keyof typeof one, string>> & { readonly session?: boolean }
  const name = nameFrom(env) ?? 'default'
  const url = parseHostUrl(flags.url ?? env.COVENANT_URL ?? '')
  if (url === undefined)
    throw new UsageError('--url must be an https:// URL (http:// on loopback only) without a path')
  const wanted = deviceFlags(flags)
  // An unsafe file is refused before anybody types a secret.
  await readProfiles(env)
  const session = await secretFor(flags['session-file'], terminal)
  await ownSession({ url, session }, terminal)
  let person: ProfileLogin | undefined
  if (wanted !== undefined) {
    const { logInByDevice } = await import('./device-login.ts')
    const tell = ({ address, code }: { readonly address: string; readonly code: string }) =>
      terminal.complain(`Open ${shownText(address)} in a browser. The code is ${shownText(code)}.`)
    person = await logInByDevice(wanted, tell, terminal.interrupted?.())
  }
  const seen = await ownSession({ url, session, ...(person && { token: person.token }) }, terminal)
  const { sub } = seen.principal
  if (person !== undefined && !sub.endsWith(subjectOf(person.token)))
    throw new Fault(
      'unauthenticated',
      'The service does not act for this login: the tenant must trust the issuer (covenant issuers put).',
    )
  const file = await readProfiles(env)
  const profile: Profile = { url, session, ...(person && { login: person }) }
  await writeProfiles(env, { current: name, profiles: { ...file.profiles, [name]: profile } })
  const roles = seen.principal.roles.length === 0 ? 'no roles' : `roles ${seen.principal.roles.join(', ')}`
  terminal.print(
    shownText(`Logged in as ${sub} (${roles}) of tenant ${seen.tenant}; profile ${name} is in use.`),
  )
}

function deviceFlags(flags: Readonly<Record<string, string | boolean | undefined>>) {
  const { issuer, 'client-id': clientId, scope = 'openid offline_access', token = 'id', session } = flags
  if (issuer === undefined && clientId === undefined) return undefined
  if (session === true) throw new UsageError('--session and --issuer do not go together')
  if (typeof issuer !== 'string' || typeof clientId !== 'string' || typeof scope !== 'string')
    throw new UsageError('--issuer and --client-id go together')
  if (token !== 'id' && token !== 'access') throw new UsageError('--token must be id or access')
  return { issuer, clientId, scope, sends: token } as const
}

/** The secret, from a file, the environment, the terminal or standard input. @throws UsageError */
async function secretFor(file: string | undefined, { env, ask, stdin }: Terminal): Promise<string> {
  const path = file ?? (env.COVENANT_SESSION ? undefined : env.COVENANT_SESSION_FILE)
  const given =
    path !== undefined
      ? await Bun.file(path)
          .text()
          .catch(() => undefined)
      : env.COVENANT_SESSION || (await (ask ? ask('Secret of the session: ', { isHidden: true }) : stdin()))
  const secret = given?.trim() ?? ''
  if (!/^[\x21-\x7e]+$/.test(secret)) throw new UsageError('There is no secret of a session')
  return secret
}

interface OwnSession {
  readonly tenant: string
  readonly principal: { readonly sub: string; readonly roles: readonly string[] }
}

/** What the service says of the session. @throws Fault where it takes it not */
async function ownSession(address: ServiceAddress, terminal: Terminal): Promise<OwnSession> {
  const named = () => ({ method: 'GET', path: '/api/v1/session' }) as const
  const signal = terminal.interrupted?.()
  const client = openHttpClient(address, { named, ...(signal && { signal }) })
  const seen = (await client.run('get_own_session', {})) as Partial<OwnSession> | undefined
  if (typeof seen?.tenant !== 'string' || typeof seen.principal?.sub !== 'string')
    throw new Fault('unavailable', 'What answers at this address is no Covenant.')
  return { tenant: seen.tenant, principal: seen.principal }
}

/** The subject of a token, which the service has verified; nothing that could match where it has none. */
function subjectOf(token: string): string {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      sub?: unknown
    }
    if (typeof claims.sub === 'string' && claims.sub !== '') return claims.sub
  } catch {
    // A token that is not readable names nobody.
  }
  return '\u0000'
}

async function logout(words: readonly string[], { env, print }: Terminal): Promise<void> {
  if (words.length > 0) throw new UsageError('`logout` takes --profile only')
  const file = await readProfiles(env)
  const name = nameFrom(env) ?? file.current
  if (name === undefined) throw new UsageError('There is no profile in use')
  await remove(name, env)
  print(`Logged out; profile ${name} is forgotten.`)
}

async function profiles(words: readonly string[], { env, print }: Terminal): Promise<void> {
  const { values, positionals } = parseWords(words, { json: flag })
  const [word, name, ...more] = positionals
  const file = await readProfiles(env)
  if (word === 'list' && name === undefined) {
    const shown = Object.entries(file.profiles).map(([one, { url, login: person }]) => ({
      name: one,
      in_use: one === file.current,
      url,
      ...(person && { issuer: person.issuer, expires_at: new Date(person.expires_at).toISOString() }),
    }))
    const columns = ['name', 'in_use', 'url', 'issuer', 'expires_at']
    print(values.json === true ? JSON.stringify({ items: shown }, undefined, 2) : listText(shown, columns))
    return
  }
  if ((word !== 'use' && word !== 'remove') || name === undefined || more.length > 0)
    throw new UsageError('`profiles` is followed by list, use NAME or remove NAME')
  if (word === 'remove') await remove(name, env)
  else {
    if (!Object.hasOwn(file.profiles, name)) throw new UsageError('There is no profile of that name')
    await writeProfiles(env, { ...file, current: name })
  }
  print('Done.')
}

async function remove(name: string, env: Terminal['env']): Promise<void> {
  const { current, profiles: all } = await readProfiles(env)
  if (!Object.hasOwn(all, name)) throw new UsageError('There is no profile of that name')
  const rest = Object.fromEntries(Object.entries(all).filter(([one]) => one !== name))
  await writeProfiles(env, { ...(current !== undefined && current !== name && { current }), profiles: rest })
}

function nameFrom(env: Terminal['env']): string | undefined {
  const name = env.COVENANT_PROFILE || undefined
  if (name !== undefined && !isProfileName(name))
    throw new UsageError('A name of a profile has letters, digits, _ and -, 63 at most')
  return name
}
