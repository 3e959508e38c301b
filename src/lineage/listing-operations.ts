/** Declares the lists of jobs, runs and datasets (docs/reference/lineage.md 6.4). */

import { Fault } from '../base/fault.ts'
import { lineageEventTypes } from '../core/lineage.ts'
import { overseesTables } from '../core/oversight.ts'
import { operationsOf } from '../http/declare.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../http/schemas.ts'
import { isUuid } from '../store/database/page.ts'
import { type ListedRun, listDatasets, listJobs, listRuns } from '../store/lineage/listings.ts'
import type { Store } from '../store/store.ts'
import { nodeName } from './node-name.ts'
import { tableView } from './walk-graph.ts'

const operation = operationsOf<{ readonly store: Store }>()
const tag = 'lineage'
const access = { scope: 'read' } as const

const lineageName = object({ namespace: text, name: text })
const run = {
  producer: text,
  run_id: uuid,
  job: maybe(lineageName),
  parent: maybe(described(object({ run_id: uuid, job: maybe(lineageName) }), 'the run that started it')),
  root: maybe(
    described(
      object({ run_id: uuid, job: maybe(lineageName) }),
      'the run at the top, where it is not the parent: of a task of a DAG, that of the DAG',
    ),
  ),
  state: described(oneOf(lineageEventTypes), 'the event that ended it, else its latest one'),
  started_at: described(time, "the earliest of its events' times"),
  ended_at: maybe(time),
}

function runView({ producer, runId, job, parent, state, startedAt, endedAt }: ListedRun) {
  return {
    ...{ producer, run_id: runId, job, state, started_at: startedAt, ended_at: endedAt },
    parent: parent && { run_id: parent.runId, job: parent.job },
    root: parent?.root && { run_id: parent.root.runId, job: parent.root.job },
  }
}

function uuidOf(text: string, name: string): string {
  if (!isUuid(text.toLowerCase())) throw new Fault('bad_request', `\`${name}\` must be a UUID.`)
  return text.toLowerCase()
}

export const listingOperations = [
  operation({
    name: 'list_lineage_runs',
    tag,
    summary: 'The runs of jobs with their states, the one that was received last first',
    method: 'GET',
    path: '/api/v1/lineage/runs',
    access,
    gives: { visible: ['existence'] },
    input: object({
      job_namespace: maybe(described(nonEmpty, 'with `job`')),
      job: maybe(described(nonEmpty, 'name of a job')),
      parent_run_id: maybe(described(uuid, 'only the runs that this one started')),
      root_run_id: maybe(described(uuid, 'only the runs below this one, which their parents name as root')),
      ...pageInput,
    }),
    output: pageOf(object(run)),
    run: async (
      { parts, caller },
      { job_namespace: namespace, job, parent_run_id: parentRunId, root_run_id: rootRunId, ...page },
    ) => {
      if ((namespace === undefined) !== (job === undefined))
        throw new Fault('bad_request', '`job_namespace` and `job` go together.')
      const filter = {
        ...(namespace !== undefined && job !== undefined && { job: { namespace, name: job } }),
        ...(parentRunId !== undefined && { parentRunId: uuidOf(parentRunId, 'parent_run_id') }),
        ...(rootRunId !== undefined && { rootRunId: uuidOf(rootRunId, 'root_run_id') }),
      }
      const found = await listRuns(parts.store, caller.tenant, {
        ...{ ...filter, ...pageRequest(page) },
        readableOnly: !overseesTables(caller.principal),
      })
      return pageView(found, runView)
    },
  }),
  operation({
    name: 'list_lineage_jobs',
    tag,
    summary: 'The jobs, each with its parents and its latest run',
    method: 'GET',
    path: '/api/v1/lineage/jobs',
    access,
    gives: { visible: ['existence'] },
    input: object(pageInput),
    output: pageOf(
      object({
        node: described(text, 'by which its lineage is asked for'),
        namespace: text,
        name: text,
        parents: described(list(lineageName), 'jobs whose runs start its runs'),
        last_run: maybe(object(run)),
      }),
    ),
    run: async ({ parts, caller }, page) =>
      pageView(
        await listJobs(parts.store, caller.tenant, {
          ...pageRequest(page),
          readableOnly: !overseesTables(caller.principal),
        }),
        ({ namespace, name, parents, lastRun }) => ({
          ...{ node: nodeName({ kind: 'job', namespace, name }), namespace, name, parents },
          ...(lastRun !== undefined && { last_run: runView(lastRun) }),
        }),
      ),
  }),
  operation({
    name: 'list_lineage_datasets',
    tag,
    summary: 'The datasets, each with its table and the jobs that write it',
    method: 'GET',
    path: '/api/v1/lineage/datasets',
    access,
    gives: { visible: ['existence'] },
    input: object(pageInput),
    output: pageOf(
      object({
        node: described(text, 'by which its lineage is asked for'),
        namespace: text,
        name: text,
        table: maybe(described(tableIdentifier, 'of which it is a name')),
        same_as: maybe(described(text, 'the dataset that is named for it by a symlink')),
        jobs: described(list(lineageName), 'the first 20'),
      }),
    ),
    run: async ({ parts, caller }, page) =>
      pageView(
        await listDatasets(parts.store, caller.tenant, {
          ...pageRequest(page),
          readableOnly: !overseesTables(caller.principal),
        }),
        ({ namespace, name, tableKey, jobs }) => ({
          ...{ node: nodeName({ kind: 'dataset', namespace, name }), namespace, name, jobs },
          ...tableView(tableKey),
        }),
      ),
  }),
]
