/**
 * Finds the service that has the embedded store of the settings open, by the file in which it says where it listens. A
 * command that would open the store goes to that service instead, with a session: so a file that a service left, or that
 * another user put there, names none. It sends nothing, and gives no session.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isLoopback, parseListenAddress } from '../config-values.ts'
import { variables } from '../config-variables.ts'
import type { Terminal } from './terminal.ts'

type Env = Terminal['env']

const addressFile = 'service-url'

/** Says in the data directory where this process listens, which has its store open. */
export async function writeServiceUrl(dataDir: string, listening: URL, pid = process.pid): Promise<void> {
  const url = new URL(listening.origin)
  // What listens at every address is reached at the loopback one.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  // A file that is there is replaced, with its owner and mode, and a link is not followed.
  await removeServiceUrl(dataDir)
  await writeFile(join(dataDir, addressFile), `${url.origin}\n${pid}\n`, { mode: 0o600, flag: 'wx' })
}

/** Says no more where a service listens: for a start, which does not listen yet, and for a stop. */
export async function removeServiceUrl(dataDir: string): Promise<void> {
  await rm(join(dataDir, addressFile), { force: true })
}

/**
 * Its address; undefined where the settings name a database, no service has the embedded store open, or the file is not
 * one of this user, of a process that lives, with an address of this machine or of the settings.
 */
export async function nearServiceUrl(env: Env): Promise<string | undefined> {
  if (env.SVC_DATABASE_URL?.trim()) return undefined
  const dataDir = env.SVC_DATA_DIR?.trim() || variables.SVC_DATA_DIR.default
  const [address = '', pid = ''] = ownText(join(dataDir, addressFile))?.split('\n') ?? []
  const url = URL.parse(address)
  if (url === null || url.origin !== address || !isOwnAddress(url, env) || !isAlive(pid)) return undefined
  const { isHeld } = await import('../store/database/embedded.ts')
  return isHeld(join(dataDir, 'store')) ? address : undefined
}

/** The text of a file that this user alone can have written; undefined for any other. */
function ownText(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = fstatSync(file)
    const isOwn = found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
    return isOwn ? readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Whether a session of this environment may go there: to this machine, or to what its settings name as the service. */
function isOwnAddress(url: URL, env: Env): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isLoopback(host)) return true
  if (URL.parse(env.SVC_PUBLIC_URL?.trim() ?? '')?.origin === url.origin) return true
  const listen = parseListenAddress(env.SVC_LISTEN_ADDR?.trim() ?? '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return listen?.host !== undefined && listen.host.toLowerCase() === host && listen.port === port
}

/** Whether a process of this user has the id. */
function isAlive(pid: string): boolean {
  if (!/^[1-9][0-9]{0,9}$/.test(pid)) return false
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}
