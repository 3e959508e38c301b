/**
 * ADOMD.NET, the client of Microsoft that Power BI connects with, reads the tabular face of a lake: cubes, schema datasets,
 * and queries in DAX with several results. As an officer and as a reader of some rows, masked, beside another tenant.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { declaringAs } from '../support/semantic-layer.ts'
import type { XmlaClientOptions } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

setDefaultTimeout(300_000)

const stack = new AsyncDisposableStack()
let one: XmlaLake
let folder: string
beforeAll(async () => {
  one = await startXmlaLake()
  stack.defer(() => one.lake[Symbol.asyncDispose]())
  await declaringAs(one.lake, one.steward)('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    dimensions: [{ name: 'region' }, { name: 'email' }, { name: 'day', kind: 'time' }, { name: 'note' }],
    kpis: [{ name: 'sales', value: 'revenue', goal: 'buyers', status: 'buyers' }],
  })
  folder = await mkdtemp(join(tmpdir(), 'covenant-adomd-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await linkOpenssl()
  const { exitCode, output } = await python('facade', 'facade.py', [])
  if (exitCode !== 0) throw new Error(output)
})
afterAll(() => stack.disposeAsync())

const packages = () => {
  const [found] = new Glob('lib/python*/site-packages').scanSync({
    cwd: packageFolder('python:adomd'),
    onlyFiles: false,
  })
  return join(packageFolder('python:adomd'), found ?? '')
}

/** The runtime looks for OpenSSL 1.1 by its own name; a wheel of psycopg2 has it under another. */
async function linkOpenssl(): Promise<void> {
  for (const name of ['libssl', 'libcrypto']) {
    const [found = ''] = new Glob(`psycopg2_binary.libs/${name}-*.so.1.1`).scanSync(packages())
    await Bun.write(join(folder, `${name}.so.1.1`), Bun.file(join(packages(), found)))
    if (name === 'libssl') {
      // It names its own copy of the other.
      const [other = ''] = new Glob('psycopg2_binary.libs/libcrypto-*.so.1.1').scanSync(packages())
      await Bun.write(join(folder, other.split('/').at(-1) ?? ''), Bun.file(join(packages(), other)))
    }
  }
}

async function python(name: string, script: string, given: readonly string[]) {
  const command = [join(packageFolder('python:adomd'), 'bin/python')]
  const path = join(import.meta.dir, 'scripts/adomd', script)
  return await runClient(`adomd-${name}`, [...command, path, packages(), folder, ...given], {
    seconds: 200,
    env: { DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1', LD_LIBRARY_PATH: folder },
  })
}

interface ReadTable {
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}
interface ReadModel {
  readonly fault?: string
  readonly session?: boolean
  readonly cubes?: readonly { readonly name: string; readonly measures: readonly string[] }[]
  readonly datasets?: Readonly<Record<string, readonly (readonly string[])[]>>
  readonly results?: readonly { readonly fault?: string; readonly tables?: readonly ReadTable[] }[]
}

async function read(client: XmlaClientOptions, statements: readonly string[]): Promise<ReadModel> {
  const file = join(folder, `statements-${client.user}.json`)
  await Bun.write(file, JSON.stringify(statements))
  const { port, catalog, user, secret } = client
  const address = `http://127.0.0.1:${port}/xmla/${catalog}`
  const { output } = await python(user, 'read.py', [address, catalog, user, secret, file])
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(output.slice(-2_000))
  return JSON.parse(last) as ReadModel
}

const visual = `DEFINE VAR __DS0FilterTable = TREATAS({"east", "north"}, 'orders'[region])
  VAR __DS0Core = SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal"), __DS0FilterTable, "r", [revenue], "b", [buyers], "d", CALCULATE(MIN('orders'[day])))
  EVALUATE TOPN(502, __DS0Core, [IsGrandTotalRowTotal], 0, 'orders'[region], 1) ORDER BY [IsGrandTotalRowTotal] DESC, 'orders'[region]`
const several = 'EVALUATE ROW("a", 1) EVALUATE VALUES(orders[region]) ORDER BY orders[region]'

describe.each(['ann', 'bob'] as const)('%s', (who) => {
  test('xmla-adomd: walks the model and reads DAX with its types and several results', async () => {
    const found = await read(one[who], [visual, several, 'EVALUATE FOO(1)'])
    expect(found.fault).toBeUndefined()
    expect(found.session).toBe(true)
    expect(found.cubes).toEqual([{ name: 'sales.orders', measures: ['buyers', 'revenue'] }])
    expect(Object.values(found.datasets ?? {}).map((rows) => rows.length > 0)).toEqual(
      Object.keys(found.datasets ?? {}).map((name) => name !== 'TMSCHEMA_RELATIONSHIPS'),
    )
    expect(JSON.stringify(found.datasets?.DISCOVER_CSDL_METADATA)).toContain('<bi:KpiGoal>')
    // A mask empties this column for one of them.
    expect(JSON.stringify(found.datasets).includes('note')).toBe(who === 'ann')
    const [first, second, third] = found.results ?? []
    const [table] = first?.tables ?? []
    expect(table?.names).toEqual(['orders[region]', '[IsGrandTotalRowTotal]', '[r]', '[b]', '[d]'])
    expect(table?.types).toEqual(['String', 'Boolean', 'Double', 'Int64', 'DateTime'])
    expect(table?.rows.map(([region, total, revenue, buyers]) => [region, total, revenue, buyers])).toEqual(
      who === 'ann'
        ? [
            [null, 'True', '23685.0', '500'],
            ['east', 'False', '11850.0', '250'],
            ['north', 'False', '11835.0', '250'],
          ]
        : [
            [null, 'True', '11850.0', '3'],
            ['east', 'False', '11850.0', '3'],
          ],
    )
    expect(second?.tables?.map(({ rows }) => rows.length)).toEqual([1, who === 'ann' ? 4 : 2])
    expect(third?.fault).toContain('the function FOO is not supported')
  })
})

test('xmla-adomd: a principal of another tenant, and a wrong secret, open nothing', async () => {
  expect((await read(one.stranger, [])).fault).toContain('There is no such catalog')
  expect((await read({ ...one.ann, secret: 'wrong' }, [])).fault).toBeString()
})
