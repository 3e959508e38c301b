/** What the OpenAPI document says of the lineage resources. */

const text = { type: 'string' } as const
const whole = (about: string, minimum: number, maximum: number) =>
  ({ type: 'integer', minimum, maximum, description: about }) as const
const query = (name: string, schema: object, required = false) =>
  ({ name, in: 'query' as const, required, schema }) as const
const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' as const, ...schema } } },
})
const error = (description: string) =>
  json(description, { properties: { error: { type: 'object', description: 'Iceberg ErrorModel' } } })
const errors = {
  400: error('A parameter is missing or not as it must be'),
  401: error('No session'),
  403: error('The session lacks the scope `read`'),
  404: error('There is nothing of that name'),
  503: error('The database is not available'),
}
const after = query('after', { ...text, description: '`next` of the page before' })

export const graphDetail = {
  tags: ['lineage'],
  summary: 'Lineage around a dataset, job, column or table',
  parameters: [
    query(
      'node',
      {
        ...text,
        description:
          'dataset/{namespace}/{name}, job/…, column/…/{column} or table/…; each part percent-encoded',
      },
      true,
    ),
    query('depth', { ...whole('Hops along LINEAGE_OF', 1, 5), default: 3 }),
    query('direction', { ...text, enum: ['upstream', 'downstream', 'both'], default: 'both' }),
    query('limit', { ...whole('Edges on a page', 1, 1000), default: 100 }),
    after,
  ],
  responses: {
    200: json('Edges, nearest first, and the nodes that they join', {
      required: ['node', 'nodes', 'edges'],
      properties: {
        node: text,
        nodes: {
          type: 'array',
          items: { type: 'object', properties: { node: text, kind: text, name: text } },
        },
        edges: {
          type: 'array',
          items: {
            type: 'object',
            required: ['label', 'from', 'to', 'hops'],
            properties: {
              label: { ...text, enum: ['LINEAGE_OF', 'PRODUCED_BY', 'STORED_AS'] },
              from: text,
              to: text,
              hops: { type: 'integer' },
              columnCount: { type: 'integer' },
              columns: { type: 'array', items: { type: 'object' } },
              transformations: { type: 'array', items: { type: 'object' } },
            },
          },
        },
        next: text,
      },
    }),
    ...errors,
  },
}

export const runDetail = {
  tags: ['lineage'],
  summary: 'The events of a run, each with its raw body',
  parameters: [
    {
      name: '*',
      in: 'path' as const,
      required: true,
      schema: text,
      description: '{producer}/{runId}; the producer percent-encoded or as it is',
    },
    query('limit', { ...whole('Events on a page', 1, 20), default: 20 }),
    after,
  ],
  responses: {
    200: json('Events in the order in which they were received', {
      required: ['producer', 'runId', 'events'],
      properties: {
        producer: text,
        runId: text,
        events: { type: 'array', items: { type: 'object' } },
        next: text,
      },
    }),
    ...errors,
  },
}
