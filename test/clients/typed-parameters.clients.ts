/**
 * Drivers bind parameters as the types that they give them: counts of LIMIT, comparisons with every kind of number, text
 * and time, IN, ANY, intervals, casts and NULL. Each gets what it gets from a PostgreSQL 18, for two principals.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from './packages.ts'
import { compareServers, type Driver, inPython, type Servers, startServers } from './pgwire/drivers.ts'
import { typedCases } from './pgwire/typed/cases.ts'
import { hasProgram } from './programs.ts'

setDefaultTimeout(300_000)

let servers: Servers
const stack = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'typed-'))
stack.defer(() => rmSync(folder, { recursive: true, force: true }))
const cases = join(folder, 'cases.json')
writeFileSync(cases, JSON.stringify(typedCases))
const lines = join(folder, 'cases.txt')
const written = (value: string | readonly string[] | null) =>
  value === null ? '\\N' : typeof value === 'string' ? value : value.join(',')
const lineOf = ({ step, sql, values }: (typeof typedCases)[number]) =>
  [step, sql, ...values.flatMap(({ type, value }) => [type, written(value)])].join('\t')
writeFileSync(lines, typedCases.map(lineOf).join('\n'))

beforeAll(async () => {
  servers = await startServers(stack)
})
afterAll(() => stack.disposeAsync())

const here = join(import.meta.dir, 'pgwire/typed')
const jars = join(packageFolder('maven:pgwire'), 'lib/*')
const drivers: Readonly<Record<string, Driver>> = {
  pgjdbc: {
    command: ['java', '-Duser.timezone=UTC', '-cp', jars, join(here, 'TypedParameters.java'), lines],
  },
  'psycopg 3, psycopg2 and asyncpg': {
    command: inPython('python:pgwire', join(here, 'typed_python.py'), cases),
  },
  'node pg and postgres.js': {
    command: ['node', join(here, 'typed_node.mjs'), cases, packageFolder('npm:pgwire')],
  },
  'PHP PDO': { program: 'php', command: ['php', join(here, 'typed_pdo.php'), cases] },
  'Perl DBD::Pg': { program: 'perl', command: ['perl', join(here, 'typed_dbd.pl'), cases] },
  'Ruby pg': { program: 'ruby', command: ['ruby', join(here, 'typed_pg.rb'), cases] },
}

describe.each(Object.entries(drivers))('%s', (name, driver) => {
  const isMissing = driver.program !== undefined && !hasProgram(driver.program)

  test.skipIf(isMissing).each([['all rows', 'env'] as const, ['what is left to it', 'restricted'] as const])(
    'gets of parameters with types what it gets from PostgreSQL, of %s',
    async (_, role) => {
      const { lake, oracle } = servers
      const roles = { ours: lake[role], theirs: oracle[role] }
      const { steps, found } = await compareServers(`typed ${name}`, driver, roles)
      expect(steps.length).toBeGreaterThanOrEqual(typedCases.length)
      expect(found).toEqual([])
    },
  )
})
