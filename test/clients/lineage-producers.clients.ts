/**
 * The OpenLineage integrations of Airflow, dbt and Dagster against the receiver: none of the events of ordinary
 * pipelines, which read what they write, is refused. Each sends a service session's secret as its API key.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { getJson, graph } from '../support/lineage.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { packageFolder } from './packages.ts'
import type { Package } from './pins.ts'

let service: TestService
let folder: string
let secret: string
const scripts = new URL('lineage/', import.meta.url).pathname

beforeAll(async () => {
  service = await startTestService()
  folder = await mkdtemp(join(tmpdir(), 'covenant-lineage-'))
  const made = await createServiceSession(service.store, service.owner.tenant, {
    name: 'producers',
    principal: { sub: 'producers', roles: [] },
    scopes: ['lineage'],
  })
  secret = made.secret
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function run(
  environment: Package,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = folder,
): Promise<void> {
  const bin = join(packageFolder(environment), 'bin')
  const [program = '', ...args] = command
  const child = Bun.spawn([join(bin, program), ...args], {
    cwd,
    env: { ...process.env, HOME: folder, PATH: `${bin}:${process.env.PATH}`, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${program} failed: ${`${out}\n${err}`.slice(-2_000)}`)
}

const address = () => ({ OPENLINEAGE_URL: service.app.url.href, OPENLINEAGE_API_KEY: secret })

interface Run {
  readonly producer: string
  readonly state: string
  readonly job: { readonly name: string }
  readonly parent?: { readonly job: { readonly name: string } }
}

/** The runs of one producer as `job < parent: state`, each once. */
async function runsOf(producer: string): Promise<readonly string[]> {
  const { body } = await getJson(service, '/api/v1/lineage/runs?limit=1000')
  const runs = (body.items as readonly Run[]).filter((one) => one.producer.includes(producer))
  return [
    ...new Set(
      runs.map(({ job, parent, state }) => `${job.name}${parent ? ` < ${parent.job.name}` : ''}: ${state}`),
    ),
  ].sort()
}

/** Nothing of all that was sent may be refused or left behind. */
async function expectAllMerged(): Promise<void> {
  const rows = await service.store.tenantQuery<{ state: string }>(
    service.owner.tenant,
    'select state from lineage_inbox union select state from lineage_event',
  )
  expect(rows).toEqual([{ state: 'merged' }])
  expect((await getJson(service, '/api/v1/lineage/refused')).body.items).toEqual([])
}
const lineageEdges = (edges: readonly string[]) => edges.filter((edge) => edge.startsWith('LINEAGE_OF'))

test('lineage-producers: Airflow 2.11 runs a DAG that updates, inserts from and deletes from its own tables', async () => {
  const home = join(folder, 'airflow')
  await mkdir(join(home, 'dags'), { recursive: true })
  await cp(join(scripts, 'airflow_dag.py'), join(home, 'dags/airflow_dag.py'))
  const { OPENLINEAGE_URL: url, OPENLINEAGE_API_KEY: apiKey } = address()
  const env = {
    AIRFLOW_HOME: home,
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW_CONN_SQLITE_DEFAULT: JSON.stringify({ conn_type: 'sqlite', host: join(folder, 'shop.db') }),
    AIRFLOW__OPENLINEAGE__TRANSPORT: JSON.stringify({
      ...{ type: 'http', url },
      auth: { type: 'api_key', apiKey },
    }),
  }
  await run('python:lineage-airflow', ['airflow', 'db', 'migrate'], env)
  await run('python:lineage-airflow', ['airflow', 'dags', 'test', 'in_place', '2026-01-01'], env)
  const runs = await runsOf('airflow')
  expect(runs).toContain('in_place: COMPLETE')
  for (const task of ['insert_from_another', 'update_from', 'insert_from_itself', 'delete_in', 'asset'])
    expect(runs).toContain(`in_place.${task} < in_place: COMPLETE`)
  await expectAllMerged()
  const { edges } = await graph(service, 'job/default/in_place', { direction: 'upstream' })
  expect(lineageEdges(edges)).toEqual([
    `LINEAGE_OF dataset/sqlite%3A%2F%2Fwarehouse/main.changes → dataset/sqlite%3A%2F%2Fwarehouse/main.orders`,
  ])
}, 300_000)

test('lineage-producers: dbt-ol runs seeds, an incremental model twice, and a snapshot', async () => {
  const project = join(folder, 'shop')
  await cp(join(scripts, 'dbt'), project, { recursive: true })
  const env = { ...address(), DBT_PROFILES_DIR: project, SHOP_DATABASE: join(folder, 'shop.duckdb') }
  for (const command of ['seed', 'run', 'run', 'snapshot', 'snapshot'])
    await run('python:lineage-dbt', ['dbt-ol', command], env, project)
  const runs = await runsOf('dbt')
  for (const job of ['main.shop.orders', 'main.shop.revenue', 'history.shop.orders_history.snapshot'])
    expect(runs).toContain(`shop.${job} < dbt-run-shop: COMPLETE`)
  await expectAllMerged()
  const { body } = await getJson(service, '/api/v1/lineage/datasets?limit=1000')
  const datasets = body.items as readonly { readonly node: string; readonly name: string }[]
  // The integration names no seed as an input.
  const orders = datasets.find(({ name }) => name === 'shop.main.orders')?.node ?? 'none'
  const { edges } = await graph(service, orders, { direction: 'downstream' })
  expect(
    lineageEdges(edges)
      .map((edge) => edge.split('/').at(-1)?.split('.').at(-1))
      .toSorted(),
  ).toEqual(['orders_history', 'revenue'])
}, 300_000)

test('lineage-producers: the sensor of openlineage-dagster sends a job and its steps', async () => {
  await run('python:lineage-dagster', ['python', join(scripts, 'dagster_job.py')], address())
  expect(await runsOf('dagster')).toEqual([
    'daily.extract < daily: COMPLETE',
    'daily.load < daily: COMPLETE',
    'daily: COMPLETE',
  ])
  await expectAllMerged()
}, 200_000)
