/**
 * The OpenLineage project's own Python client against the receiver, and the example events that the project publishes
 * with it. Both come from its packages (Apache-2.0), fetched once into .cache/clients.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Glob } from 'bun'
import { datasetNode, getJson, graph, lake, sendLineage } from '../support/lineage.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** The client, and the last version whose source package holds the example events. */
const clientPin = 'openlineage-python==1.54.0'
const examplesPin = 'openlineage-python==1.39.0'
const cache = new URL('../../.cache/clients/', import.meta.url).pathname

async function run(command: readonly string[], cwd = cache): Promise<string> {
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${err.trim().split('\n').at(-1)}`)
  return out
}

/** A folder that is there whole or not at all. */
async function fetched(name: string, fetch: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(cache, name.replaceAll('=', '-'))
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const partial = mkdtempSync(`${folder}.`)
  await fetch(partial)
  renameSync(partial, folder)
  return folder
}

let service: TestService
let client: string
let examples: string

beforeAll(async () => {
  client = await fetched(clientPin, (to) =>
    run(['python3', '-m', 'pip', 'install', '--quiet', '--target', to, clientPin]),
  )
  examples = await fetched(`examples-${examplesPin}`, async (to) => {
    const options = ['--quiet', '--no-deps', '--no-binary', ':all:', '--dest', to]
    await run(['python3', '-m', 'pip', 'download', ...options, examplesPin])
    const [archive = ''] = new Glob('*.tar.gz').scanSync(to)
    await run(['tar', 'xzf', archive, '--strip-components=1'], to)
  })
  service = await startTestService()
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

test('lineage: events of openlineage-python are taken, kept, and make the graph', async () => {
  const script = new URL('lineage/emit.py', import.meta.url).pathname
  const catalog = new URL('/v1/iceberg/main', service.app.url).href
  const child = Bun.spawn(['python3', script, service.app.url.href, service.owner.secret, catalog], {
    env: { ...process.env, PYTHONPATH: client },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect({ exit: await child.exited, err }).toEqual({ exit: 0, err: '' })
  const producer = encodeURIComponent('https://github.com/example/etl/v1')
  const { body } = await getJson(service, `/api/v1/lineage/runs/${producer}/${out.trim()}`)
  expect(body.items).toMatchObject([
    { event_type: 'START', state: 'merged' },
    { event_type: 'COMPLETE', state: 'merged' },
  ])
  const { edges } = await graph(service, datasetNode('client/orders'))
  expect(edges).toEqual([
    `LINEAGE_OF ${encodeURIComponent('client/orders')} → ${encodeURIComponent('client/revenue')}`,
    `PRODUCED_BY ${encodeURIComponent('client/revenue')} → job/airflow/client.daily`,
  ])
  const total = `column/${encodeURIComponent(lake)}/${encodeURIComponent('client/revenue')}/total`
  expect((await graph(service, total, { direction: 'upstream' })).edges).toHaveLength(1)
  expect((await graph(service, 'table/sales/orders')).edges.length).toBeGreaterThan(0)
})

test('lineage: the example events that the OpenLineage project publishes are taken', async () => {
  const statuses: Record<string, number> = {}
  for (const path of [...new Glob('tests/*.json').scanSync(examples)].sort()) {
    const text = await Bun.file(join(examples, path)).text()
    // The others are facets.
    if (text.includes('"producer"')) statuses[basename(path)] = (await sendLineage(service, text)).status
  }
  expect(statuses).toEqual({
    // Its only input is its only output: written in place.
    'example_full_event.json': 202,
    'serde_example_dataset_event.json': 202,
    'serde_example_job_event.json': 202,
    'serde_example_run_event.json': 202,
  })
})
