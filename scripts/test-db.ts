/**
 * The command `bun run test:db`: runs the suites that need a PostgreSQL server. It uses the server of
 * SVC_TEST_DATABASE_URL, else PostgreSQL 18 + AGE 1.8 from Debian packages in a folder. Root makes and enters that
 * folder; the server runs unprivileged.
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
import { Glob } from 'bun'

const help = `Usage: bun run test:db [bun test options and name patterns]

  SVC_TEST_DATABASE_URL   a PostgreSQL 18 + AGE 1.8 server, as a superuser; each test store gets a database
  SVC_TEST_POSTGRES_ROOT  a folder with the Debian packages postgresql-18 and postgresql-18-age installed;
                          default .cache/postgres-18, made by debootstrap when it is not there (0.5 GB)`

const home = new URL('..', import.meta.url).pathname
const binaries = '/usr/lib/postgresql/18/bin'

/** Says to the user why there is no server. */
class NoServer extends Error {}

async function run(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
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

async function packagesRoot(): Promise<string> {
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
    // The script is named last, because an older debootstrap does not know the suite by name.
    await run(['debootstrap', '--variant=minbase', packages, 'forky', partial, mirror, 'sid'], env)
    // The server's user must be able to enter it, because it is the root of a file system.
    chmodSync(partial, 0o755)
    renameSync(partial, root)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
  return root
}

interface Server {
  readonly url: string
  stop(): Promise<void>
}

async function startServer(): Promise<Server> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new NoServer('a server from Debian packages needs Linux and root')
  const root = await packagesRoot()
  const user = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync(join(root, 'etc/passwd'), 'utf8'))
  if (user === null) throw new NoServer('the packages made no user postgres')
  const [uid, gid] = [Number(user[1]), Number(user[2])]
  const folder = mkdtempSync(join(root, 'tmp/covenant-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    chownSync(folder, uid, gid)
    const inside = folder.slice(root.length)
    const password = crypto.randomUUID()
    writeFileSync(join(folder, 'password'), password, { mode: 0o600 })
    chownSync(join(folder, 'password'), uid, gid)
    const enter = ['chroot', `--userspec=${uid}:${gid}`, root]
    const initdb = [
      '--auth=scram-sha-256',
      `--pwfile=${inside}/password`,
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ]
    await run([...enter, `${binaries}/initdb`, '-U', 'postgres', '-D', `${inside}/data`, ...initdb])
    const port = unusedPort()
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: '',
      fsync: 'off',
      max_connections: 200,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const postmaster = Bun.spawn([...enter, `${binaries}/postgres`, '-D', `${inside}/data`, ...flags], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    await ready(postmaster.stderr)
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      async stop() {
        // Fast shutdown: connections are closed at once.
        postmaster.kill('SIGINT')
        await postmaster.exited
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
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

/** Run on the embedded store as well, by `npm test` or `test:soak`. */
const more = [
  'test/store/contract.test.ts',
  'test/store/jobs/reconcile.test.ts',
  'test/store/query/usage-totals.test.ts',
  'test/store/history/months.test.ts',
  'test/store/policy/policy-scopes.test.ts',
  'test/store/policy/load-plan.test.ts',
  'test/contract/tags.test.ts',
  'test/graph/graph-query.test.ts',
  'test/graph/random-queries.test.ts',
  'test/server/mcp/access.test.ts',
  'test/server/mcp/tools.test.ts',
  'test/server/graphql/meaning-and-checks.test.ts',
  'test/server/mcp/callers.test.ts',
  'test/server/mcp/strangers.test.ts',
  'test/server/mcp/proposals.test.ts',
  'test/auth/authorization/authorization-server.test.ts',
  'test/gateway/policy-scopes.test.ts',
  'test/webhook/delivery.test.ts',
  'test/gateway/oversight/decisions.test.ts',
  'test/gateway/chaos.soak.test.ts',
  'test/store/territory/index-plans.test.ts',
  'test/store/territory/quarantine.test.ts',
  'test/store/territory/territory-rows.test.ts',
  'test/gateway/territory/ring-1.test.ts',
  'test/gateway/territory/operations.test.ts',
  'test/server/pgwire/territory.test.ts',
  'test/detection/territory.test.ts',
]
const files = [...new Glob('test/**/*.db.test.ts').scanSync(home), ...more].sort()

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(help)
    return 0
  }
  const given = process.env.SVC_TEST_DATABASE_URL
  let server: Server | undefined
  try {
    if (given === undefined) server = await startServer()
  } catch (error) {
    if (!(error instanceof NoServer)) throw error
    console.log(`SKIPPED: no PostgreSQL server to test on: ${error.message}.`)
    console.log('Set SVC_TEST_DATABASE_URL, or run as root on Debian with debootstrap.')
    console.log(`0 passed, 0 failed, ${files.length} test files skipped`)
    return 0
  }
  try {
    const tests = Bun.spawn(
      [process.execPath, 'test', '--timeout=60000', ...files.map((file) => `./${file}`), ...args],
      {
        cwd: home,
        env: { ...process.env, SVC_TEST_DATABASE_URL: given ?? server?.url },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
    return await tests.exited
  } finally {
    await server?.stop()
  }
}

process.exit(await main(process.argv.slice(2)))
