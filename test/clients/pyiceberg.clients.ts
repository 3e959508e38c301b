/** PyIceberg through the client surface: what it can do, and what its user sees when a policy denies. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { dataFilesThere } from './data-files.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { packageFolder } from './packages.ts'
import { runSession, type Step } from './sessions.ts'
import { startTestedCatalog, type TestedCatalog } from './tested-catalog.ts'

let catalog: TestedCatalog
let gateway: Gateway
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  catalog = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(catalog.upstream))
})
afterAll(() => stack.disposeAsync())

const table = (name: string): TableRef => ({ namespace: ['py'], name })

async function session(name: string, ...steps: readonly string[]): Promise<readonly Step[]> {
  return await runSession({
    python: join(packageFolder('python:pyiceberg'), 'bin/python'),
    script: 'pyiceberg_session.py',
    log: `pyiceberg-${name}`,
    args: [`py.${name}`, ...steps],
    env: { SETTINGS: documentedSettings('PyIceberg', gateway) },
    seconds: 60,
  })
}

test('pyiceberg: creates, appends, changes the schema and reads back', async () => {
  const steps = await session('orders', 'create', 'append', 'evolve', 'overwrite', 'read')
  expect(steps.map(({ message }) => message)).toEqual(steps.map(() => undefined))
  expect(steps.at(-1)?.value).toEqual([{ id: 1, customer: 'a', note: null }])
  const audited = await gateway.audit(table('orders'))
  expect(audited.every(({ decision }) => decision === 'APPROVED')).toBe(true)
  expect(audited.length).toBeGreaterThanOrEqual(4)
})

test('pyiceberg: shows its user why a schema change was denied, and what policies allow still goes', async () => {
  await session('contracted', 'create', 'append')
  await gateway.govern(table('contracted'), {
    id: 'keep-customer',
    definitionCel: 'manifest.has_column(commit.result, "customer")',
    message: 'the contract promises the column customer',
  })
  const [dropped, appended] = await session('contracted', 'drop_column', 'append')
  expect(dropped?.error).toBe('ForbiddenError')
  expect(dropped?.message).toContain('policy denied: ')
  expect(dropped?.message).toContain('the contract promises the column customer')
  expect(appended?.error).toBeUndefined()
})

test('pyiceberg: shows its user why an append was denied', async () => {
  await session('frozen', 'create')
  await gateway.govern(table('frozen'), {
    id: 'frozen',
    definitionCel: 'false',
    message: 'the table is frozen',
  })
  const [appended, read] = await session('frozen', 'append', 'read')
  expect(appended?.message).toContain('policy denied: ')
  expect(appended?.message).toContain('the table is frozen')
  expect(read?.value).toEqual([])
})

test('pyiceberg: create, rename and drop are denied where the name is governed', async () => {
  await session('named', 'create')
  await gateway.govern(table('named'), {
    id: 'named',
    kind: 'write_acl',
    definitionCel: 'false',
    message: 'hands off',
  })
  for (const step of await session('named', 'rename', 'drop')) {
    expect(step.message).toContain('policy denied: ')
    expect(step.message).toContain('hands off')
  }
  await gateway.govern(table('reserved'), { id: 'reserved', kind: 'write_acl', definitionCel: 'false' })
  const [created] = await session('reserved', 'create')
  expect(created?.message).toContain('policy denied: ')
})

test('pyiceberg: after a lost answer no data file that the commit refers to is gone', async () => {
  expect(await session('lost', 'create')).toEqual([{ step: 'create', value: null }])
  catalog.gate.interfere = (request, path) =>
    request.method === 'POST' && path.endsWith('/tables/lost') ? 'lose' : undefined
  const [appended] = await session('lost', 'append')
  catalog.gate.interfere = () => undefined
  expect(appended).not.toHaveProperty('error')
  const [read] = await session('lost', 'read')
  expect(read?.value).toHaveLength(2)
  expect(dataFilesThere(catalog.folder, table('lost')) ?? 1).toBe(1)
})
