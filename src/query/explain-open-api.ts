/** What the OpenAPI document says of explaining a statement. */

import {
  answer,
  anyObject,
  body,
  content,
  error,
  flag,
  list,
  type Operation,
  object,
  oneOf,
  said,
  text,
} from '../base/json-schema.ts'
import { dialects } from './emit/render.ts'

const principal = object({ sub: text, 'roles?': list(text) })
const explained = object({
  dialect: oneOf(Object.keys(dialects)),
  principal: object({ sub: text, roles: list(text) }),
  'sql?': said(text, 'for the engine; for stewards'),
  parameters: said(list(text), 'types of `$1` and so on'),
  columns: list(object({ name: text, type: text })),
  reads: list(
    object({
      namespace: list(text),
      name: text,
      'contract?': object({ id: text, version: { type: 'integer', minimum: 1 } }),
      columns: list(text),
      'snapshot?': object({ id: { ...text, nullable: true }, pinned: flag }),
    }),
  ),
  policies: list(
    object({
      policyId: text,
      kind: oneOf(['row_filter', 'column_mask']),
      schemaName: text,
      tableName: text,
      'column?': text,
      'action?': text,
      'origin?': said(anyObject, 'where it is attached; for stewards'),
    }),
  ),
  fingerprint: text,
})

/** An error about the statement also says what PostgreSQL would. */
const refused = (description: string) => ({
  description,
  content: content(
    object({
      error: object({
        message: text,
        type: text,
        code: { type: 'integer' },
        'sqlstate?': text,
        'position?': said({ type: 'integer', minimum: 0 }, 'UTF-8 bytes before the place meant'),
      }),
    }),
  ),
})

export const explainDetail: Operation = {
  tags: ['query'],
  summary: 'What a statement would be on an engine, for whom, and why; never data',
  description: 'Another principal than the caller takes the role `steward`.',
  requestBody: body(
    object({
      statement: text,
      'catalog?': said(text, 'to explain a run in it; this or `dialect`'),
      'dialect?': oneOf(Object.keys(dialects)),
      'search_path?': list(text),
      'principal?': principal,
      'parameters?': list({ ...text, nullable: true }),
    }),
  ),
  responses: {
    200: answer('The statement', explained),
    400: refused('The body or the statement is not as it must be'),
    401: error('No session'),
    403: refused('The session lacks the scope `read`, the caller the role, or the principal the right'),
    404: refused('There is no such catalog'),
    409: refused('A pinned snapshot is gone, or a pinned table is explained without its catalog'),
    413: error('The body is too large'),
    503: refused('The database or the catalog is not available'),
  },
}
