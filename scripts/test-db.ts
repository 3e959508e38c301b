/**
 * The command `bun run test:db`: runs the suites that need a PostgreSQL server, in as many processes as `npm test`. It
 * uses the server of SVC_TEST_DATABASE_URL, else PostgreSQL 18 + AGE 1.8 from Debian packages in a folder. Root makes
 * and enters that folder; the server runs unprivileged.
 */

import { Glob } from 'bun'
import { NoServer, openPackages, run, startPostmaster } from './postgres-packages.ts'
import { runTests } from './run-tests.ts'

/** How long each file takes on a server, by which the slowest are begun first; `--update-timings` writes it. */
const timings = '--timings=test/timings-server.json'
const help = `Usage: bun run test:db [bun test options and name patterns]

  SVC_TEST_DATABASE_URL   a PostgreSQL 18 + AGE 1.8 server, as a superuser; each test store gets a database
  SVC_TEST_POSTGRES_ROOT  a folder with the Debian packages postgresql-18 and postgresql-18-age installed;
                          default .cache/postgres-18, made by debootstrap when it is not there (0.5 GB)`

const home = new URL('..', import.meta.url).pathname

interface Server {
  readonly url: string
  stop(): Promise<void>
}

async function startServer(): Promise<Server> {
  const packages = await openPackages()
  const { command, inside, remove } = packages
  try {
    const password = crypto.randomUUID()
    packages.write('password', password)
    const initdb = [
      '--auth=scram-sha-256',
      `--pwfile=${inside}/password`,
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ]
    await run([...command('initdb'), '-U', 'postgres', '-D', `${inside}/data`, ...initdb])
    const { process: postmaster, port } = await startPostmaster(packages, 'data', {
      fsync: 'off',
      max_connections: 200,
    })
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

/** Run on the embedded store as well, by `npm test` or `test:soak`. */
const more = [
  'test/store/contract.test.ts',
  'test/store/jobs/reconcile.test.ts',
  'test/store/keys/turn.test.ts',
  'test/store/query/usage-totals.test.ts',
  'test/store/history/detach-month.test.ts',
  'test/store/history/month-plans.test.ts',
  'test/store/history/months.test.ts',
  'test/store/history/remove-expired.test.ts',
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
    const url = given ?? server?.url
    await runTests(
      [timings, ...files.map((file) => `./${file}`), ...args],
      url === undefined ? {} : { SVC_TEST_DATABASE_URL: url },
    )
    return Number(process.exitCode)
  } finally {
    await server?.stop()
  }
}

process.exit(await main(process.argv.slice(2)))
