/** Runs the commands of docs/reconciliation.md, as a reader pastes them, and imports the contract that it shows. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contractOf, startQualityWorld } from '../contract/quality/world.ts'
import { startOracle } from '../query/support/postgres.ts'
import { freePort } from '../support/free-port.ts'
import { session } from '../support/identity.ts'
import { orderColumns, orderCount, payload, selectList } from '../support/lake-tables.ts'

setDefaultTimeout(300_000)

test('the commands do what the page says', async () => {
  const port = freePort()
  const oracle = await startOracle({ port })
  if (oracle === undefined) throw new Error('this platform has no packaged PostgreSQL')
  await using world = await startQualityWorld()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => oracle.stop())
  const columns = selectList([...orderColumns, ['payload', 'bytea', payload.postgres]])
  await oracle.admin.unsafe(
    `CREATE ROLE reader LOGIN; CREATE SCHEMA sales; GRANT USAGE ON SCHEMA sales TO reader;
     CREATE TABLE sales.orders AS SELECT ${columns} FROM generate_series(1, ${orderCount}) AS t(i);
     UPDATE sales.orders SET amount = amount + 1 WHERE id = 500; GRANT SELECT ON sales.orders TO reader`,
  )
  await world.deploy(contractOf('2.0.0', {}))
  await world.lake.app.checks.runner.runDue()
  const administrator = await session(
    world.lake as never,
    world.lake.tenant,
    ['read', 'admin'],
    ['administrator'],
  )
  const page = await Bun.file(new URL('../../docs/reconciliation.md', import.meta.url)).text()
  await using runner = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch() {
      await world.lake.app.checks.runner.runDue()
      return new Response()
    },
  })
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example', world.lake.app.url.origin)
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
    // The run is over before it is shown.
    .replace('call $api/checks/runs/$run\n', `curl -sS ${runner.url.href}; call $api/checks/runs/$run\n`)
  const cwd = mkdtempSync(join(tmpdir(), 'covenant-docs-'))
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd,
    env: {
      ...process.env,
      ...{ SECRET: world.stella, ADMINISTRATOR_SECRET: administrator, SOURCE_HOST: '127.0.0.1' },
      ...{ SOURCE_PORT: String(port), SOURCE_PASSWORD: 'none' },
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toContain('"key":"totals amount sum","metric":"sum"')
  expect(out).toContain('"keys":[{"key":{"id":"500"},"left":1,"right":1}],"complete":true')
  rmSync(cwd, { recursive: true })

  const [, ours = ''] = /reconciliation:\n( {8}- .*?)```/s.exec(page) ?? []
  const flow = ours.replaceAll(/ *- (\{.*\})\n/g, '$1, ')
  expect(flow).toContain('{engine: trino, required: true}')
  const document = contractOf('2.0.1', {}, '', `, reconciliation: [${flow}]`)
  const path = '/api/v1/contracts/documents/orders/versions'
  expect((await world.ask('POST', path, world.stella, document))[0]).toBeLessThan(300)
  expect((await world.ask('POST', path, world.stella, document.replace('trino', 'spark')))[0]).toBe(422)
})
