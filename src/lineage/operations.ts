/**
 * Declares the operations of lineage: the OpenLineage receiver (docs/reference/lineage.md 2), the graph around a node,
 * and the events of a run.
 */

import { Type } from '@sinclair/typebox'
import { lineageEventTypes } from '../core/lineage.ts'
import { overseesTables, seesLineageText } from '../core/oversight.ts'
import { principalSources } from '../core/principal.ts'
import { operationsOf } from '../http/declare.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  nullable,
  object,
  oneOf,
  pageInput,
  pageMembers,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import { limits } from '../limits.ts'
import { lineageDirections, lineageEdgeLabels } from '../store/lineage/graph.ts'
import { listRefusedEvents } from '../store/lineage/refusals.ts'
import { receiveBatch } from './receive-batch.ts'
import { type ReceiveParts, receiveEvent } from './receive-event.ts'
import { showLineageRun } from './show-run.ts'
import { walkLineage } from './walk-graph.ts'

const operation = operationsOf<ReceiveParts>()
const tag = 'lineage'

const transformations = list(
  object({ type: maybe(text), subtype: maybe(text), description: maybe(text), masking: maybe(flag) }),
)
const node = object({
  node: described(text, 'by which it is asked for'),
  kind: oneOf(['dataset', 'job', 'column', 'table', 'contract']),
  namespace: maybe(described(text, 'of a dataset, job or column')),
  name: maybe(text),
  column: maybe(text),
  table: maybe(described(tableIdentifier, 'that it is, or of which the dataset is a name')),
  same_as: maybe(described(text, 'the dataset that is named for it by a symlink')),
  state: maybe(described(oneOf(lineageEventTypes), 'of a job: of its latest run')),
})
const edge = object({
  label: oneOf(lineageEdgeLabels),
  from: text,
  to: text,
  hops: described(wholeNumber, 'LINEAGE_OF edges between the node and the farther end'),
  in_place: maybe(described(flag, 'of PRODUCED_BY: the job also reads what it writes')),
  last_run: maybe(
    described(
      object({ producer: text, run_id: uuid, state: maybe(oneOf(lineageEventTypes)), at: time }),
      'the run that said this edge last, or a job event',
    ),
  ),
  stale: maybe(described(flag, 'whether no run has said it for longer than is set')),
  column_count: maybe(wholeNumber),
  columns: maybe(
    described(
      list(
        object({
          input: text,
          output: described(nullable(text), 'null: the whole dataset, by a filter or join'),
          transformations,
        }),
      ),
      'the first 100',
    ),
  ),
  transformations: maybe(described(transformations, 'of an edge between columns')),
})
const lineageName = object({ namespace: text, name: text })
const refusal = object({
  count: maybe(described(wholeNumber, 'edges that were not drawn')),
  refused: maybe(
    described(
      list(
        object({
          from: lineageName,
          to: lineageName,
          cycle: described(list(lineageName), 'from `to` along existing edges to `from`'),
        }),
      ),
      'the first 100',
    ),
  ),
  cycle: maybe(described(list(lineageName), 'of the first edge')),
  reason: maybe(described(text, 'of an event that can no longer be read')),
})
const event = object({
  kind: oneOf(['run', 'job', 'dataset']),
  event_type: maybe(text),
  event_time: time,
  received_at: time,
  job: maybe(lineageName),
  principal: text,
  principal_source: oneOf(principalSources),
  session: maybe(
    described(object({ id: uuid, name: text }), 'through which it was sent; its name is its subject'),
  ),
  client: maybe(described(text, '`User-Agent` of the sender')),
  state: oneOf(['pending', 'merged', 'refused']),
  refusal: maybe(described(refusal, 'which edges were refused, and why')),
  is_cut: described(flag, 'whether the body was cut to what you may see'),
  body_sha256: maybe(described(text, 'hex, of the whole body; absent where it was cut')),
  body: described(
    text,
    'as received, for stewards with the right `lineage:text`; else cut to names; empty once it is past its retention',
  ),
})

export const lineageOperations = [
  operation({
    name: 'receive_lineage_event',
    tag,
    summary: 'Takes an OpenLineage event and merges its edges',
    description:
      'The body follows the OpenLineage specification; members that are not listed are stored with it. `POST /api/v1/lineage` is the same.',
    method: 'POST',
    path: '/v1/lineage',
    // Where OpenLineage clients post unless they are told another endpoint.
    aliases: ['/api/v1/lineage'],
    access: { scope: 'lineage' },
    gives: { nothing: 'own input' },
    input: Type.Object({
      eventType: maybe(oneOf(lineageEventTypes)),
      eventTime: maybe(text),
      producer: text,
      run: maybe(anyObject),
      job: maybe(anyObject),
      inputs: maybe(list(anyObject)),
      outputs: maybe(list(anyObject)),
      schemaURL: maybe(text),
    }),
    status: 202,
    faults: {
      bad_request:
        'The body is malformed, lacks a required member, is in an unknown encoding, or exceeds 1 MiB.',
      unprocessable: 'An edge would close a cycle, and was not drawn; the message names the pair.',
      unavailable: 'The event was not stored, or is stored and will be merged later.',
    },
    respond: async (context) => {
      await receiveEvent(context)
      return new Response(null, { status: 202 })
    },
  }),
  operation({
    name: 'receive_lineage_batch',
    tag,
    summary: 'Takes a list of OpenLineage events, each answered as if it had been sent alone',
    description:
      'At most 1,000 events and 16 MiB. The answers are in the order of the events; what was sent before is 202 again.',
    method: 'POST',
    path: '/v1/lineage/batch',
    aliases: ['/api/v1/lineage/batch'],
    access: { scope: 'lineage' },
    gives: { nothing: 'own input' },
    input: object({}),
    media: { request: ['application/json'] },
    output: object({
      received: described(wholeNumber, 'events of the batch'),
      accepted: described(wholeNumber, 'of them that were answered 202'),
      events: list(
        object({
          status: described(wholeNumber, '202, 400, 422 or 503, as of one event'),
          message: maybe(described(text, 'why it is not 202')),
        }),
      ),
    }),
    status: 200,
    faults: {
      bad_request: 'The body is no list of events, is in an unknown encoding, or exceeds its bounds.',
    },
    respond: async (context) => Response.json(await receiveBatch(context)),
  }),
  operation({
    name: 'walk_lineage',
    tag,
    summary:
      'Lineage around a dataset, job, column, table or contract: edges, nearest first, and the nodes that they join',
    description: 'All names of one table are one node of the walk.',
    method: 'GET',
    path: '/api/v1/lineage/graph',
    access: { scope: 'read' },
    gives: { visible: ['existence', 'columns'] },
    input: object({
      node: described(
        nonEmpty,
        'dataset/{namespace}/{name}, job/…, column/…/{column}, table/{namespace}/{table}, table/…/{column} or contract/{id}; each part percent-encoded. Or a name: sales.orders, sales.orders.id',
      ),
      depth: maybe(
        Type.Integer({
          minimum: 1,
          maximum: limits.graphHopsMax,
          default: limits.graphHopsDefault,
          description: 'Hops along LINEAGE_OF',
        }),
      ),
      direction: maybe(oneOf(lineageDirections, { default: 'both' })),
      as_of: maybe(described(time, 'the edges that there were at this time, by the times of events')),
      ...pageInput,
    }),
    output: object({ node: text, nodes: list(node), ...pageMembers(edge) }),
    faults: { not_found: 'The lineage graph has no such node.' },
    run: ({ parts, caller, signal }, { node: name, depth, direction = 'both', as_of: asOf, ...page }) => {
      const readableOnly = !overseesTables(caller.principal)
      const query = { node: name, depth, direction, asOf, ...pageRequest(page), readableOnly, signal }
      return walkLineage(parts.store, caller.tenant, query, seesLineageText(caller))
    },
  }),
  operation({
    name: 'list_lineage_run_events',
    tag,
    summary:
      'The events of a run in the order in which they were received, each with its body as far as you may see it',
    method: 'GET',
    // A producer is a URI, and some clients do not encode its slashes.
    path: '/api/v1/lineage/runs/{producer+}/{run_id}',
    access: { scope: 'read' },
    gives: { visible: ['existence', 'columns'] },
    input: object({
      producer: described(text, 'percent-encoded or as it is'),
      run_id: uuid,
      ...pageInput,
      limit: maybe(Type.Integer({ minimum: 1, maximum: 20, default: 20 })),
    }),
    output: object({ producer: text, run_id: uuid, ...pageMembers(event) }),
    faults: { not_found: 'No event of this run was received.' },
    run: ({ parts, caller }, { limit, page_token, ...run }) =>
      showLineageRun(parts.store, caller, run, pageRequest({ limit, page_token })),
  }),
  operation({
    name: 'list_refused_lineage',
    tag,
    summary: 'Events of which edges were refused because they would close a cycle, the newest first',
    method: 'GET',
    path: '/api/v1/lineage/refused',
    access: { scope: 'read' },
    gives: { visible: ['existence', 'columns'] },
    input: object({ ...pageInput }),
    output: object({
      ...pageMembers(
        object({
          producer: text,
          run_id: uuid,
          job: maybe(lineageName),
          event_type: maybe(text),
          received_at: time,
          refusal,
        }),
      ),
    }),
    run: async ({ parts, caller }, page) =>
      pageView(
        await listRefusedEvents(parts.store, caller.tenant, {
          ...pageRequest(page),
          readableOnly: !overseesTables(caller.principal),
        }),
        (each) => ({
          producer: each.producer,
          run_id: each.runId,
          job: each.job,
          event_type: each.eventType,
          received_at: each.receivedAt,
          refusal: each.refusal,
        }),
      ),
  }),
]
