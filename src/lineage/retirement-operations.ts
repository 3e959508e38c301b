/** Declares what stewards take back of lineage, and when edges are stale (docs/reference/lineage.md 4.8). */

import { Type } from '@sinclair/typebox'
import { tenantOperationsOf } from '../auth/administration/tenant-operations.ts'
import { Fault } from '../base/fault.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
} from '../http/schemas.ts'
import { isUuid } from '../store/database/page.ts'
import {
  listRetirements,
  listStaleness,
  type RetiredSubject,
  restoreLineage,
  retireLineage,
  setStaleness,
} from '../store/lineage/retirements.ts'
import type { Store } from '../store/store.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'lineage'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const changing = { scope: 'admin', roles: ['steward', 'administrator', 'owner'] } as const
const name = object({
  namespace: Type.String({ maxLength: 10_000 }),
  name: { ...nonEmpty, maxLength: 10_000 },
})
const subject = {
  edge: maybe(
    described(object({ from: name, to: name }), 'two datasets, as walks name the ends of a LINEAGE_OF edge'),
  ),
  dataset: maybe(described(name, 'with all of its edges')),
  run: maybe(object({ producer: nonEmpty, run_id: uuid })),
}

interface SubjectInput {
  readonly edge?: Extract<RetiredSubject, { edge: object }>['edge'] | undefined
  readonly dataset?: Extract<RetiredSubject, { dataset: object }>['dataset'] | undefined
  readonly run?: { readonly producer: string; readonly run_id: string } | undefined
}

function subjectOf({ edge, dataset, run }: SubjectInput): RetiredSubject {
  if ([edge, dataset, run].filter((one) => one !== undefined).length !== 1)
    throw new Fault('bad_request', 'Give one of `edge`, `dataset` and `run`.')
  if (edge !== undefined) return { edge }
  if (dataset !== undefined) return { dataset }
  const runId = run?.run_id.toLowerCase() ?? ''
  if (!isUuid(runId)) throw new Fault('bad_request', '`run_id` must be a UUID.')
  return { run: { producer: run?.producer ?? '', runId } }
}

function subjectView(of: RetiredSubject) {
  return 'run' in of ? { run: { producer: of.run.producer, run_id: of.run.runId } } : of
}

export const retirementOperations = [
  pair({
    name: 'retire_lineage',
    tag,
    summary: 'Takes back an edge, a dataset with its edges, or a run, until it is restored',
    description:
      'Events that say it again do not draw it. Of a run that is taken back, what other runs of its job say stands. The edges are kept in the past.',
    method: 'POST',
    path: '/lineage/retirements',
    access: changing,
    gives: { nothing: 'own input' },
    input: { ...subject, reason: { ...nonEmpty, maxLength: 2_000 } },
    output: object({ id: uuid }),
    faults: { not_found: 'Lineage has no such edge, dataset or run, or it was taken back before.' },
    examples: [
      {
        input: {
          edge: {
            from: { namespace: 's3://lake', name: 'raw' },
            to: { namespace: 's3://lake', name: 'orders' },
          },
          reason: 'A copy of the job was started with the wrong input.',
        },
      },
    ],
    run: async ({ parts, tenant, actor }, { reason, ...given }) => {
      const id = await retireLineage(
        parts.store,
        tenant,
        { subject: subjectOf(given), reason },
        await actor(),
      )
      if (id === undefined)
        throw new Fault('not_found', 'Lineage has no such edge, dataset or run, or it was taken back before.')
      return { id }
    },
  }),
  pair({
    name: 'list_lineage_retirements',
    tag,
    summary: 'What is taken back of lineage at present, with reasons',
    method: 'GET',
    path: '/lineage/retirements',
    access: reading,
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(object({ id: uuid, ...subject, reason: text, by: text, at: time })),
    run: async ({ parts, tenant }, page) =>
      pageView(await listRetirements(parts.store, tenant, pageRequest(page)), ({ subject: of, ...rest }) => ({
        ...rest,
        ...subjectView(of),
      })),
  }),
  pair({
    name: 'restore_lineage',
    tag,
    summary: 'Ends such a retirement; what runs still say is drawn again, as far as it closes no cycle',
    method: 'DELETE',
    path: '/lineage/retirements/{id}',
    access: changing,
    gives: { nothing: 'own input' },
    input: { id: uuid },
    faults: { not_found: 'There is no such retirement.' },
    run: async ({ parts, tenant, actor }, { id }) => {
      if (!isUuid(id) || !(await restoreLineage(parts.store, tenant, id, await actor())))
        throw new Fault('not_found', 'There is no such retirement.')
    },
  }),
  pair({
    name: 'set_lineage_staleness',
    tag,
    summary: 'Sets after how many days without a run that says it an edge is shown as stale',
    method: 'PUT',
    path: '/lineage/staleness',
    access: changing,
    gives: { nothing: 'own input' },
    input: {
      job: maybe(described(name, 'of one job; else of all that have no number of their own')),
      days: maybe(
        Type.Integer({ minimum: 1, maximum: 36_500, description: 'absent: never, or as all jobs' }),
      ),
    },
    run: async ({ parts, tenant, actor }, { job, days }) =>
      await setStaleness(parts.store, tenant, { job, days }, await actor()),
  }),
  pair({
    name: 'list_lineage_staleness',
    tag,
    summary: 'After how many days edges of lineage are stale',
    method: 'GET',
    path: '/lineage/staleness',
    access: reading,
    gives: { nothing: 'administration' },
    input: {},
    output: object({ items: list(object({ job: maybe(name), days: Type.Integer() })) }),
    run: async ({ parts, tenant }) => ({ items: [...(await listStaleness(parts.store, tenant))] }),
  }),
].flat()
