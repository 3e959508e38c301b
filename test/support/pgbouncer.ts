/** Starts the distribution's PgBouncer before a server: the wire server, or the database. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

export interface PgBouncer extends AsyncDisposable {
  readonly port: number
  /** What it has logged. */
  readonly log: () => Promise<string>
}

export interface PgBouncerOptions {
  readonly serverPort: number
  readonly database: string
  /** User and secret, or verifier, of its `auth_file`. */
  readonly users: Readonly<Record<string, string>>
  /** Who logs in to the server for every client. */
  readonly forcedUser?: string
  /** Default `transaction`. */
  readonly mode?: 'session' | 'transaction' | 'statement'
  /** Lines of its `[pgbouncer]` section beside those that every test has. */
  readonly settings?: readonly string[]
}

/** Two connections to the server for each user. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { serverPort, database, users, forcedUser, mode = 'transaction', settings = [] } = options
  const forced = forcedUser === undefined ? '' : ` user=${forcedUser}`
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'))
  const port = freePort()
  const isRoot = process.getuid?.() === 0
  const write = (name: string, lines: readonly string[]) => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
    return join(folder, name)
  }
  // It does not run as root, and its own user must read them.
  chmodSync(folder, 0o755)
  const authFile = write(
    'users.txt',
    Object.entries(users).map(([user, secret]) => `"${user}" "${secret}"`),
  )
  const config = write('pgbouncer.ini', [
    '[databases]',
    `${database} = host=127.0.0.1 port=${serverPort} dbname=${database}${forced}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    `auth_file = ${authFile}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 2',
    'max_client_conn = 200',
    'server_tls_sslmode = disable',
    'ignore_startup_parameters = extra_float_digits',
    // Otherwise a refused login holds back the next one for 15 s.
    'server_login_retry = 0.1',
    ...settings,
  ])
  const child = Bun.spawn(['pgbouncer', ...(isRoot ? ['-u', 'nobody'] : []), config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = new Response(child.stderr).text()
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${await log}`)
    await Bun.sleep(50)
  }
  return { port, log: () => log, [Symbol.asyncDispose]: stop }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
