/**
 * The first day with object-relational mappers, against a PostgreSQL 18: jOOQ with its generator, Hibernate, SQLAlchemy
 * 2.0 and 2.1 over three drivers, and Prisma's client. Prisma's schema engine (`db pull`) comes from no package.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { packageFolder } from './packages.ts'
import { compareServers, type Driver, inPython, type Servers, startServers } from './pgwire/drivers.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

let servers: Servers
const stack = new AsyncDisposableStack()
const here = new URL('./pgwire/orms/', import.meta.url).pathname
const classes = mkdtempSync(join(tmpdir(), 'orms-'))
const jars = [
  ...new Glob('*.jar').scanSync({ cwd: join(packageFolder('maven:orms'), 'lib'), absolute: true }),
]

async function finish(name: string, command: readonly string[], options: { readonly cwd?: string } = {}) {
  const env = {
    // Prisma generates its client without an engine, and fetches one all the same where none is named.
    ...{ PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' },
    DATABASE_URL: 'postgresql://localhost',
  }
  const { exitCode, output } = await runClient(name, command, { env, seconds: 120, ...options })
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
}

beforeAll(async () => {
  servers = await startServers(stack)
  stack.defer(() => rmSync(classes, { recursive: true, force: true }))
  const compiler = ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '-cp', jars.join(':'), '-d', classes]
  await finish('orms-javac', ['java', ...compiler, join(here, 'Orms.java')])
  const prisma = packageFolder('npm:prisma')
  for (const file of ['schema.prisma', 'prisma.config.cjs'])
    copyFileSync(join(here, file), join(prisma, file))
  await finish('prisma-generate', ['node', 'node_modules/prisma/build/index.js', 'generate'], { cwd: prisma })
})
afterAll(() => stack.disposeAsync())

/** What is not granted is refused by PostgreSQL with 42501; here nothing can be written at all. */
const readOnly = 'writing is refused with 25006'

const drivers: Readonly<Record<string, Driver>> = {
  'jOOQ and Hibernate': {
    command: ['java', '-Duser.timezone=UTC', '-cp', [classes, ...jars].join(':'), 'Orms'],
    documented: {
      'jooq STATIC_STATEMENT: refused': readOnly,
      'jooq PREPARED_STATEMENT: refused': readOnly,
      'hibernate refused': readOnly,
    },
  },
  ...Object.fromEntries(
    (['python:sqlalchemy-2.0', 'python:sqlalchemy-2.1'] as const).map((name) => [
      name.replace('python:s', 'S').replace('-', ' '),
      {
        command: inPython(name, '-W', 'ignore', '../orms/sqlalchemy_matrix.py'),
        documented: {
          'psycopg2: refused': readOnly,
          'psycopg: refused': readOnly,
          'asyncpg: refused': readOnly,
        },
      },
    ]),
  ),
  Prisma: {
    command: ['node', '../orms/prisma_client.mjs', packageFolder('npm:prisma')],
    documented: { refused: readOnly },
  },
}

describe.each(Object.entries(drivers))('%s', (name, driver) => {
  test('gets from every step what it gets from PostgreSQL', async () => {
    const { lake, oracle } = servers
    const { steps, found } = await compareServers(name, driver, { ours: lake.env, theirs: oracle.env })
    expect(found).toEqual([])
    expect(steps.length).toBeGreaterThan(25)
    expect(JSON.stringify(steps)).not.toContain('payroll')
  })

  test('gets no row that is filtered and no value that is masked for its principal', async () => {
    const { lake, oracle } = servers
    const { steps, found } = await compareServers(name, driver, {
      ours: lake.restricted,
      theirs: oracle.restricted,
    })
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
    expect(JSON.stringify(steps)).not.toMatch(/user\d+@|payroll/)
  })
})
