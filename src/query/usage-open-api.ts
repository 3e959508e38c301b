/** What the OpenAPI document says of usage records. */

import { usageOutcomes } from '../core/usage.ts'
import { usageGroups } from '../store/usage.ts'

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const whole = { type: 'integer' } as const
const list = { type: 'array', items: { type: 'object' } } as const
const query = (name: string, schema: object, required = false) =>
  ({ name, in: 'query' as const, required, schema }) as const
const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' as const, ...schema } } },
})
const error = (description: string) =>
  json(description, { properties: { error: { type: 'object', description: 'Iceberg ErrorModel' } } })
const page = (about: string, properties: object) =>
  json(about, {
    required: ['items'],
    properties: { items: { type: 'array', items: { type: 'object', properties } }, next: text },
  })
const errors = {
  400: error('A parameter is not as it must be'),
  401: error('No session'),
  403: error('The session lacks the scope `read`, or the records are of another principal'),
  503: error('The database is not available'),
}
const filters = [
  query('principal', { ...text, description: 'Subject; without the role of a steward, one’s own' }),
  query('outcome', { ...text, enum: usageOutcomes }),
  query('from', { ...text, format: 'date-time', description: 'Started at this time or later' }),
  query('to', { ...text, format: 'date-time', description: 'Started before this time' }),
  query('limit', { ...whole, minimum: 1, maximum: 1000, default: 100 }),
  query('after', { ...text, description: '`next` of the page before' }),
]

export const usageDetail = {
  tags: ['usage'],
  summary: 'What was read by queries, newest first',
  parameters: filters,
  responses: {
    200: page('Records', {
      query_id: text,
      started_at: { ...text, format: 'date-time' },
      principal: text,
      principal_source: text,
      surface: text,
      catalog: text,
      engine: text,
      contracts: list,
      reads: list,
      policies: list,
      rows_out: whole,
      bytes_out: whole,
      bytes_scanned: whole,
      queue_ms: number,
      plan_ms: number,
      run_ms: number,
      outcome: { ...text, enum: usageOutcomes },
      sqlstate: text,
      fingerprint: text,
    }),
    ...errors,
  },
}

export const totalsDetail = {
  tags: ['usage'],
  summary: 'Totals of usage records, by key',
  parameters: [query('by', { ...text, enum: usageGroups }, true), ...filters],
  responses: {
    200: page('Totals; a query of several tables or contracts counts for each', {
      key: text,
      queries: whole,
      rows_out: whole,
      bytes_out: whole,
      bytes_scanned: whole,
      run_ms: number,
    }),
    ...errors,
  },
}
