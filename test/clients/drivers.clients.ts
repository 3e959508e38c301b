/**
 * Drivers of the distribution get the same from the wire server as from a PostgreSQL 18: with all rows and values, and
 * with those alone that filter and mask leave to a principal.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { packageFolder } from './packages.ts'
import { compareServers, type Driver, inPython, type Servers, startServers } from './pgwire/drivers.ts'
import { hasProgram } from './programs.ts'

setDefaultTimeout(300_000)

let servers: Servers
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  servers = await startServers(stack)
})
afterAll(() => stack.disposeAsync())

const drivers: Readonly<Record<string, Driver>> = {
  PHP: { program: 'php', command: ['php', 'pdo_client.php'] },
  Perl: { program: 'perl', command: ['perl', 'dbd_client.pl'] },
  Ruby: { program: 'ruby', command: ['ruby', 'active_record_client.rb'] },
  'knex, Drizzle, Sequelize and TypeORM': {
    command: ['node', 'query_builders_client.mjs', packageFolder('npm:query-builders')],
  },
  'ConnectorX and pgcli': { command: inPython('python:data-tools', 'data_tools_client.py') },
  'GDAL, as QGIS opens tables': { program: 'gdal', command: ['python3', 'gdal_client.py'] },
  R: { program: 'R', command: ['Rscript', '--vanilla', 'rpostgresql_client.R'] },
}

describe.each(Object.entries(drivers))('%s', (name, driver) => {
  const isMissing = driver.program !== undefined && !hasProgram(driver.program)

  test.skipIf(isMissing)('gets from every step what it gets from PostgreSQL', async () => {
    const { lake, oracle } = servers
    const { steps, found } = await compareServers(name, driver, { ours: lake.env, theirs: oracle.env })
    expect(steps.length).toBeGreaterThan(5)
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).not.toContain('payroll')
  })

  test.skipIf(isMissing)(
    'gets no row that is filtered and no value that is masked for its principal',
    async () => {
      const { lake, oracle } = servers
      const roles = { ours: lake.restricted, theirs: oracle.restricted }
      const { steps, found } = await compareServers(name, driver, roles)
      expect(found).toEqual([])
      expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
      expect(JSON.stringify(steps)).not.toMatch(/user\d+@|payroll/)
    },
  )
})
