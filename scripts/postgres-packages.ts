/**
 * PostgreSQL 18 and AGE 1.8 from Debian packages in a folder, which debootstrap makes once. Root enters the folder; the
 * programs run in it as the user of the packages.
 */

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const home = new URL('..', import.meta.url).pathname
/** Inside of the folder. */
export const binaries = '/usr/lib/postgresql/18/bin'

/** Says to the user why there is no server. */
export class NoServer extends Error {}

/** Runs a program to its end. @returns its output @throws NoServer where it fails */
export async function run(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const process_ = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([process_.stdout.text(), process_.stderr.text()])
  if ((await process_.exited) !== 0)
    throw new NoServer(`${command[0]} failed: ${(err || out).trim().split('\n').slice(-3).join(' ')}`)
  return out
}

/** The mirror from which this machine installs its own packages. */
async function aptMirror(): Promise<{ readonly mirror: string; readonly env: Record<string, string> }> {
  const targets = await run(['apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])
  const mirror = targets.split('\n').find((uri) => uri.startsWith('http') && !uri.includes('security'))
  if (mirror === undefined) throw new NoServer('apt names no package mirror')
  const proxy = /^P='(.+)'$/m.exec(await run(['apt-config', 'shell', 'P', 'Acquire::http::Proxy']))?.[1]
  return { mirror, env: proxy === undefined ? {} : { http_proxy: proxy, https_proxy: proxy } }
}

/** Why this machine cannot have the packages, in a sentence; undefined where it can. */
export function whyNoPackages(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a server from Debian packages needs Linux and root'
  const root = process.env.SVC_TEST_POSTGRES_ROOT ?? join(home, '.cache/postgres-18')
  if (existsSync(join(root, binaries, 'postgres')) || Bun.which('debootstrap') !== null) return undefined
  return 'debootstrap is not installed'
}

/** The folder with the packages. @throws NoServer where it cannot be had */
export async function packagesRoot(): Promise<string> {
  const given = process.env.SVC_TEST_POSTGRES_ROOT
  const root = given ?? join(home, '.cache/postgres-18')
  if (existsSync(join(root, binaries, 'postgres'))) return root
  if (given !== undefined) throw new NoServer(`SVC_TEST_POSTGRES_ROOT has no ${binaries}/postgres`)
  if (Bun.which('debootstrap') === null) throw new NoServer('debootstrap is not installed')
  const { mirror, env } = await aptMirror()
  console.error('Installing PostgreSQL 18 and AGE 1.8 into .cache/postgres-18 …')
  mkdirSync(join(home, '.cache'), { recursive: true })
  const partial = mkdtempSync(`${root}.`)
  try {
    const packages = '--include=postgresql-18,postgresql-18-age'
    // Without the keys of the distribution, debootstrap would only warn. The script is named last, because an older one
    // does not know the suite by name.
    await run(
      ['debootstrap', '--force-check-gpg', '--variant=minbase', packages, 'forky', partial, mirror, 'sid'],
      env,
    )
    // The server's user must be able to enter it, because it is the root of a file system.
    chmodSync(partial, 0o755)
    renameSync(partial, root)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
  return root
}

export interface Packages {
  readonly root: string
  /** A new folder of the server's user: where it is, and where its programs see it. */
  readonly folder: string
  readonly inside: string
  /** The words before a program, such as `initdb`, so that it runs in the folder as its user. */
  command(program: string): readonly string[]
  /** Writes a file in the folder that only the server's user reads. */
  write(name: string, text: string): void
  remove(): void
}

/** Opens a new folder in the packages. @throws NoServer where this machine cannot run them */
export async function openPackages(): Promise<Packages> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new NoServer('a server from Debian packages needs Linux and root')
  const root = await packagesRoot()
  const user = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync(join(root, 'etc/passwd'), 'utf8'))
  if (user === null) throw new NoServer('the packages made no user postgres')
  const [uid, gid] = [Number(user[1]), Number(user[2])]
  const folder = mkdtempSync(join(root, 'tmp/covenant-'))
  chownSync(folder, uid, gid)
  return {
    root,
    folder,
    inside: folder.slice(root.length),
    command: (program) => [
      ...['chroot', `--userspec=${uid}:${gid}`, root],
      program.includes('/') ? program : `${binaries}/${program}`,
    ],
    write(name, text) {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      chownSync(join(folder, name), uid, gid)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export interface Postmaster {
  readonly process: Bun.Subprocess
  readonly port: number
}

/** Starts a server on a free port of loopback. @throws NoServer where it ends before it accepts connections */
export async function startPostmaster(
  { command, inside }: Packages,
  data: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<Postmaster> {
  const port = unusedPort()
  const all = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postmaster = Bun.spawn([...command('postgres'), '-D', `${inside}/${data}`, ...flags], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  await ready(postmaster.stderr)
  return { process: postmaster, port }
}

function unusedPort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Resolves when the server accepts connections. It keeps reading the log, so that the server never blocks on it. */
async function ready(log: ReadableStream<Uint8Array>): Promise<void> {
  const accepting = Promise.withResolvers<void>()
  const read = async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of log) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-20_000)
      if (text.includes('ready to accept connections')) accepting.resolve()
    }
    accepting.reject(new NoServer(`the server ended: ${text.trim().split('\n').slice(-3).join(' ')}`))
  }
  read().catch(accepting.reject)
  await accepting.promise
}
