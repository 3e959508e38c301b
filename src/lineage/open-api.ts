/** What the OpenAPI document says of the lineage resources. */

import {
  answer,
  count,
  error,
  inPath,
  list,
  object,
  oneOf,
  query,
  type Schema,
  said,
  text,
  time,
  uuid,
} from '../base/json-schema.ts'
import { lineageEventTypes } from '../core/lineage.ts'
import { lineageDirections } from '../store/lineage-graph.ts'

const errors = {
  400: error('A parameter is missing or not as it must be'),
  401: error('No session'),
  403: error('The session lacks the scope `read`'),
  404: error('There is nothing of that name'),
  503: error('The database is not available'),
}
const after = query('after', said(text, '`next` of the page before'))
const whole = (about: string, minimum: number, maximum: number): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  description: about,
})

const transformations = list(
  object({ 'type?': text, 'subtype?': text, 'description?': text, 'masking?': { type: 'boolean' } }),
)
const node = object({
  node: said(text, 'by which it is asked for'),
  kind: oneOf(['dataset', 'job', 'column', 'table']),
  namespace: { description: 'a string; of a table, the levels' },
  name: text,
  'column?': text,
})
const edge = object({
  label: oneOf(['LINEAGE_OF', 'PRODUCED_BY', 'STORED_AS']),
  from: text,
  to: text,
  hops: said(count, 'LINEAGE_OF edges between the node and the farther end'),
  'columnCount?': count,
  'columns?': said(
    list(
      object({
        input: text,
        output: {
          type: 'string',
          nullable: true,
          description: 'null: the whole dataset, by a filter or join',
        },
        transformations,
      }),
    ),
    'the first 100',
  ),
  'transformations?': said(transformations, 'of an edge between columns'),
})

/** GET graph. */
export const graphDetail = {
  tags: ['lineage'],
  summary: 'Lineage around a dataset, job, column or table',
  parameters: [
    query(
      'node',
      said(
        text,
        'dataset/{namespace}/{name}, job/…, column/…/{column} or table/…; each part percent-encoded',
      ),
      true,
    ),
    query('depth', { ...whole('Hops along LINEAGE_OF', 1, 5), default: 3 }),
    query('direction', { ...oneOf(lineageDirections), default: 'both' }),
    query('limit', { ...whole('Edges on a page', 1, 1000), default: 100 }),
    after,
  ],
  responses: {
    200: answer(
      'Edges, nearest first, and the nodes that they join',
      object({ node: text, nodes: list(node), edges: list(edge), 'next?': text }),
    ),
    ...errors,
  },
}

const name = object({ namespace: text, name: text })
const event = object({
  kind: oneOf(['run', 'job', 'dataset']),
  'eventType?': oneOf(lineageEventTypes),
  eventTime: time,
  receivedAt: time,
  'job?': name,
  principal: text,
  principalSource: oneOf(['mtls_san', 'auth_header', 'session']),
  state: oneOf(['pending', 'merged', 'refused']),
  'refusal?': said(object({ 'cycle?': list(name), 'reason?': text }), 'why it was refused'),
  bodySha256: said(text, 'hex'),
  body: said(text, 'as received'),
})

/** GET runs/{producer}/{runId}. */
export const runDetail = {
  tags: ['lineage'],
  summary: 'The events of a run, each with its raw body',
  parameters: [
    inPath('producer', said(text, 'percent-encoded or as it is')),
    inPath('runId', uuid),
    query('limit', { ...whole('Events on a page', 1, 20), default: 20 }),
    after,
  ],
  responses: {
    200: answer(
      'Events in the order in which they were received',
      object({ producer: text, runId: uuid, events: list(event), 'next?': text }),
    ),
    ...errors,
  },
}
