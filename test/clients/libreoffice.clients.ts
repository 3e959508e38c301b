/** LibreOffice Base's driver lists and reads governed tables as it lists and reads those of a PostgreSQL 18. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { compareServers, type Driver, type Servers, startServers } from './pgwire/drivers.ts'
import { hasProgram } from './programs.ts'

setDefaultTimeout(300_000)

let servers: Servers
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  servers = await startServers(stack)
})
afterAll(() => stack.disposeAsync())

const driver: Driver = {
  // Its module is that of the distribution's Python.
  command: ['/usr/bin/python3', 'sdbc_client.py'],
  documented: { 'base users': 'refused as in PostgreSQL, by another message: pg_shadow is not there at all' },
}
const isMissing = !hasProgram('libreoffice')

test.skipIf(isMissing)(
  'LibreOffice lists tables, columns and keys and reads rows as from PostgreSQL',
  async () => {
    const { lake, oracle } = servers
    const { steps, found } = await compareServers('LibreOffice', driver, {
      ours: lake.env,
      theirs: oracle.env,
    })
    expect(steps.length).toBeGreaterThan(15)
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).not.toContain('payroll')
  },
)

test.skipIf(isMissing)(
  'LibreOffice gets no row that is filtered and no value that is masked for its principal',
  async () => {
    const { lake, oracle } = servers
    const roles = { ours: lake.restricted, theirs: oracle.restricted }
    const { steps, found } = await compareServers('LibreOffice', driver, roles)
    expect(found).toEqual([])
    expect(JSON.stringify(steps)).toContain('xxxxn@xxxxxxx.xxx')
    expect(JSON.stringify(steps)).not.toMatch(/user\d+@|payroll/)
  },
)
