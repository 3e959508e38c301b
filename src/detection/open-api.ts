/** What the OpenAPI document says of the detection resources. */

import {
  answer,
  body,
  count,
  error,
  inPath,
  list,
  object,
  oneOf,
  page,
  pages,
  query,
  type Schema,
  said,
  text,
  time,
  uuid,
} from '../base/json-schema.ts'
import { classes } from '../core/classification.ts'
import { detectionDecisions, findingStatuses, hitSources, runStates } from '../core/detection.ts'
import { limits } from '../limits.ts'

const table = object({ namespace: list(text), name: text })

const report: Schema = {
  ...object({
    'snapshotIds?': said(list(text), 'decimal'),
    'tableUuid?': text,
    'filesAdded?': count,
    'filesScanned?': count,
    'filesLeftOut?': said(count, 'by the file and byte budgets'),
    'filesUnsupported?': said(count, 'ORC, Avro and encrypted files'),
    'filesFailed?': count,
    'bytesRead?': count,
    'valuesSampled?': count,
    'findingsLeftOut?': said(count, 'of the least confidence, where there were more than 2,000'),
    'columns?': count,
    'problems?': said(list(object({ file: text, reason: text })), 'the first of them'),
  }),
  description: 'What the scan covered; empty until there was one',
}

const runMembers = {
  id: uuid,
  metadataLocation: text,
  source: oneOf(hitSources),
  'table?': table,
  state: oneOf(runStates),
  attempt: count,
  reason: said(text, 'why it failed; empty otherwise'),
  report,
  createdAt: time,
  'finishedAt?': time,
}
const run = object(runMembers)
const attempt = object({
  attempt: count,
  cause: oneOf(['trigger', 'retry', 'rescan']),
  'requestedBy?': text,
  startedAt: time,
  'finishedAt?': time,
  'outcome?': oneOf(['done', 'failed', 'lost']),
  reason: text,
  report,
})

const finding = object({
  id: uuid,
  runId: uuid,
  'table?': table,
  column: said(text, 'dotted path, into nested fields and JSON'),
  class: oneOf(classes),
  shape: oneOf(['name', 'value', 'name_and_value']),
  confidence: { type: 'number', enum: [0.55, 0.65, 0.92] },
  matched: said(count, 'values of the sample that match'),
  sampled: count,
  'maskedSample?': said(text, 'never the value itself'),
  status: said(oneOf(findingStatuses), 'by the latest decision'),
  'decision?': object({ reason: text, decidedBy: text, decidedAt: time }),
  foundAt: time,
})

const always = {
  400: error('A parameter or the body is not as it must be'),
  401: error('No session'),
  503: error('The database is not available'),
}
/** @param lack what the caller lacks, where it is not the license */
const refused = (lack: string) => error(`${lack}, or no license names \`detection\``)
const reading = { ...always, 403: refused('The session lacks the scope `read`') }

const id = inPath('id', uuid)
const tableQuery = query('table', said(text, '`namespace.table`'))
const tags = ['detection']

/** GET runs. */
export const runsDetail = {
  tags,
  summary: 'Detection runs, newest first',
  parameters: [tableQuery, query('state', oneOf(runStates)), ...pages],
  responses: { 200: answer('One page', page(run)), ...reading },
}

/** GET runs/{id}. */
export const runDetail = {
  tags,
  summary: 'A detection run with its attempts',
  parameters: [id],
  responses: {
    200: answer('The run', object({ ...runMembers, attempts: list(attempt) })),
    404: error('The tenant has no such run'),
    ...reading,
  },
}

/** GET findings. */
export const findingsDetail = {
  tags,
  summary: 'Findings, newest first',
  parameters: [
    tableQuery,
    query('run', uuid),
    query('status', oneOf(findingStatuses)),
    query('class', oneOf(classes)),
    query('confidence_min', { type: 'number', minimum: 0, maximum: 1 }),
    ...pages,
  ],
  responses: { 200: answer('One page', page(finding)), ...reading },
}

/** POST findings/{id}/decisions. */
export const decisionDetail = {
  tags,
  summary: 'Decides about the column and class of a finding',
  description:
    'Needs the scope `admin`. `reject` and `exempt` take the tag away: they need the role `steward` on a verified credential, and a reason.',
  parameters: [id],
  requestBody: body(
    object({
      decision: oneOf(detectionDecisions),
      'reason?': { ...text, maxLength: limits.decisionReasonCharsMax },
    }),
  ),
  responses: {
    200: answer('The finding as decided', finding),
    404: error('The tenant has no such finding'),
    413: error('The body is too large'),
    ...always,
    403: refused('The session lacks the scope `admin`, the principal the role'),
  },
}

/** POST rescans. */
export const rescanDetail = {
  tags,
  summary: 'Scans the newest known snapshot of a table once more',
  description: 'Needs the scope `admin`. The scan is another attempt under the same run.',
  requestBody: body(object({ namespace: { ...list(text), minItems: 1 }, table: text })),
  responses: {
    202: answer('The run, queued', run),
    404: error('No snapshot of the table is known'),
    409: error('A scan of it waits or runs'),
    413: error('The body is too large'),
    ...always,
    403: refused('The session lacks the scope `admin`'),
  },
}

/** POST /v1/webhooks/alpha (SPEC 4.4). */
export const alphaWebhookDetail = {
  tags,
  summary: 'Signed callback of an alpha catalog',
  security: [],
  parameters: [
    {
      name: 'X-Alpha-Signature',
      in: 'header' as const,
      required: true,
      schema: text,
      description: 'hex HMAC-SHA256 of the raw body',
    },
    { name: 'X-Alpha-Tenant', in: 'header' as const, required: false, schema: uuid },
  ],
  requestBody: body({
    type: 'object',
    required: ['metadata_location'],
    properties: { tenant_id: uuid, metadata_location: text, namespace: {}, table_name: text },
  }),
  responses: {
    200: { description: 'Queued' },
    400: error('The body, the signature header or a field is missing or not as it must be'),
    401: error('No secret is configured, or the signature does not match'),
    410: error('The webhook is switched off'),
    503: error('The database is not available'),
  },
}
