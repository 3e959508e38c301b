/** What the OpenAPI document says of a table's contract. */

import { limits } from '../limits.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const list = (items: object) => ({ type: 'array', items }) as const
const object = (properties: object, required: readonly string[] = []) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const
const content = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema } },
})
const error = (description: string) =>
  content(description, {
    type: 'object',
    properties: { error: { type: 'object', description: 'Iceberg ErrorModel' } },
  })
const inPath = (name: string, description: string) =>
  ({ name, in: 'path' as const, required: true, schema: { ...text, description } }) as const

const parameters = [inPath('namespace', 'Its levels joined by %1F'), inPath('table', 'Name of the table')]
const errors = {
  401: error('No session'),
  403: error('The scope or the role is missing'),
  503: error('The database is not available'),
}

const description = { ...text, description: `At most ${limits.contractDescriptionBytesMax} bytes` }
const foreignKey = { ...text, enum: ['foreignKey'], default: 'foreignKey' }
const reference = { ...text, description: '`table.column` or `namespace.table.column`' }
/** The schema object of the Open Data Contract Standard 3.1, as far as it is kept. */
const schema = {
  description,
  properties: list(
    object(
      {
        name: { ...text, description: 'A column’s name' },
        description,
        primaryKey: flag,
        primaryKeyPosition: { type: 'integer', minimum: -1, default: -1 },
        relationships: list(object({ type: foreignKey, to: reference }, ['to'])),
      },
      ['name'],
    ),
  ),
  relationships: list(
    object(
      {
        type: foreignKey,
        from: { oneOf: [reference, list(reference)], description: 'Columns of the table itself' },
        to: { oneOf: [reference, list(reference)], description: 'As many columns of one table' },
      },
      ['from', 'to'],
    ),
  ),
}
const contract = { id: text, version: { type: 'integer', minimum: 1 } }
const policies = list({ type: 'object' })

export const tableDetail = {
  tags: ['contracts'],
  summary: 'A table’s contract, columns and tags, and for stewards its row filters and masks',
  parameters,
  responses: {
    200: content(
      'The table',
      object(
        {
          namespace: list(text),
          name: text,
          contract: object({ ...contract, state: text, ...schema }, ['id', 'version', 'state']),
          pinned_snapshot_id: text,
          columns: list(
            object(
              { name: text, type: text, required: flag, dropped: flag, tags: list(text), masks: policies },
              ['name', 'type', 'required', 'tags'],
            ),
          ),
          row_filters: policies,
        },
        ['namespace', 'name', 'columns'],
      ),
    ),
    400: error('A name is malformed'),
    404: error('There is no such table'),
    ...errors,
  },
}

export const putContractDetail = {
  tags: ['contracts'],
  summary: 'Puts the table under a contract, in place of the one that it is under and of what that declared',
  parameters,
  requestBody: {
    required: true,
    ...content('The contract', object({ ...contract, ...schema }, ['id', 'version'])),
  },
  responses: {
    204: { description: 'Saved' },
    400: error('The contract is malformed'),
    413: error('The body is too large'),
    422: error('It names a column that its table does not have'),
    ...errors,
  },
}
