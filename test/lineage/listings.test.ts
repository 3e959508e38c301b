/** Jobs, runs and datasets are listed, runs with their states and parents; the job of a parent run is a node. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { datasetNode, getJson, graph, lake, lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
const [dagRun, taskRun, otherRun] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
const uri = 'https://covenant.example/v1/iceberg/main'

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  const parent = { run: { runId: dagRun.toUpperCase() }, job: { namespace: 'airflow', name: 'dag' } }
  const taskEvent = (eventType: string, eventTime: string, more = {}) => ({
    ...lineageEvent({
      runId: taskRun,
      job: 'dag.task',
      inputs: ['a'],
      outputs: [{ namespace: uri, name: 'ns.t' }],
    }),
    ...{ eventType, eventTime },
    run: { runId: taskRun, facets: { parent } },
    ...more,
  })
  const dag = (eventType: string, eventTime: string) => ({
    ...lineageEvent({ runId: dagRun, job: 'dag' }),
    ...{ eventType, eventTime },
  })
  const events = [
    dag('START', '2026-03-01T10:00:00Z'),
    taskEvent('COMPLETE', '2026-03-01T10:05:00Z'),
    // Comes late: the run has ended all the same.
    taskEvent('START', '2026-03-01T10:01:00Z'),
    taskEvent('RUNNING', '2026-03-01T10:06:00Z'),
    { ...lineageEvent({ runId: otherRun, job: 'other', outputs: ['b'] }), eventType: 'FAIL' },
  ]
  for (const event of events) expect((await sendLineage(service, event)).status).toBe(202)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

async function listed(path: string, secret?: string): Promise<readonly Record<string, unknown>[]> {
  const { status, body } = await getJson(service, `/api/v1/lineage/${path}`, secret)
  expect(status).toBe(200)
  return body.items as readonly Record<string, unknown>[]
}

describe('runs', () => {
  test('are listed with their states, the one that came last first, of one tenant', async () => {
    const runs = await listed('runs')
    expect(runs.map(({ run_id, state }) => [run_id, state])).toEqual([
      [otherRun, 'FAIL'],
      [taskRun, 'COMPLETE'],
      [dagRun, 'START'],
    ])
    expect(runs[1]).toEqual({
      ...{ producer, run_id: taskRun, job: { namespace: 'airflow', name: 'dag.task' } },
      parent: { run_id: dagRun, job: { namespace: 'airflow', name: 'dag' } },
      ...{ state: 'COMPLETE', started_at: '2026-03-01T10:01:00.000Z', ended_at: '2026-03-01T10:05:00.000Z' },
    })
    expect(runs[2]).not.toHaveProperty('ended_at')
    expect(await listed('runs', foreign.secret)).toEqual([])
  })

  test('are found by their job and by the run that started them, and come in pages', async () => {
    const ids = async (query: string) => (await listed(`runs?${query}`)).map(({ run_id }) => run_id)
    expect(await ids('job_namespace=airflow&job=dag.task')).toEqual([taskRun])
    expect(await ids(`parent_run_id=${dagRun}`)).toEqual([taskRun])
    const first = await getJson(service, '/api/v1/lineage/runs?limit=2')
    expect(await ids(`limit=2&page_token=${first.body.next_page_token}`)).toEqual([dagRun])
    for (const bad of ['job=x', 'job_namespace=x', 'parent_run_id=x', 'page_token=x', 'limit=0'])
      expect([bad, (await getJson(service, `/api/v1/lineage/runs?${bad}`)).status]).toEqual([bad, 400])
  })
})

describe('jobs', () => {
  test('are listed with their parents and their latest run', async () => {
    const jobs = await listed('jobs')
    expect(jobs.map(({ name, last_run }) => [name, (last_run as { state: string }).state])).toEqual([
      ['dag', 'START'],
      ['dag.task', 'COMPLETE'],
      ['other', 'FAIL'],
    ])
    expect(jobs[1]?.parents).toEqual([{ namespace: 'airflow', name: 'dag' }])
    expect(await listed('jobs', foreign.secret)).toEqual([])
    const first = await getJson(service, '/api/v1/lineage/jobs?limit=1')
    const rest = await listed(`jobs?page_token=${first.body.next_page_token}`)
    expect(rest.map(({ name }) => name)).toEqual(['dag.task', 'other'])
  })

  test('stand above those whose runs they start, and have the lineage of what these produce', async () => {
    const { edges } = await graph(service, 'job/airflow/dag', { direction: 'upstream' })
    const table = `dataset/${encodeURIComponent(uri)}/ns.t`
    // What a job reads is shown in the walk of its own and of its parent.
    expect(edges.toSorted()).toEqual([
      'CONSUMED_BY a → job/airflow/dag.task',
      `LINEAGE_OF a → ${table}`,
      'PARENT_OF job/airflow/dag → job/airflow/dag.task',
      `PRODUCED_BY ${table} → job/airflow/dag.task`,
    ])
    expect((await graph(service, datasetNode('a'))).edges).toContain(
      'PARENT_OF job/airflow/dag → job/airflow/dag.task',
    )
    expect((await graph(service, 'job/airflow/dag', {}, foreign.secret)).status).toBe(404)
  })
})

test('datasets are listed with their tables and the jobs that write them', async () => {
  const datasets = await listed('datasets')
  expect(datasets).toHaveLength(3)
  expect(datasets).toContainEqual({
    node: `dataset/${encodeURIComponent(uri)}/ns.t`,
    ...{ namespace: uri, name: 'ns.t', table: { namespace: ['ns'], name: 't' } },
    jobs: [{ namespace: 'airflow', name: 'dag.task' }],
  })
  expect(datasets).toContainEqual({
    ...{ node: datasetNode('a'), namespace: lake, name: 'a', jobs: [] },
  })
  expect(await listed('datasets', foreign.secret)).toEqual([])
  expect((await getJson(service, '/api/v1/lineage/datasets?page_token=x')).status).toBe(400)
})
