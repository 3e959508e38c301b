/** What the OpenAPI document says of what governs reading tables. */

import {
  answer,
  anyObject,
  body,
  error,
  flag,
  inPath,
  list,
  type Operation,
  object,
  oneOf,
  page,
  pages,
  said,
  text,
  time,
} from '../base/json-schema.ts'
import { maskActions } from '../core/mask.ts'
import { limits } from '../limits.ts'
import { contractActions } from '../store/contract-changes.ts'

const ofTable = [
  inPath('namespace', said(text, 'its levels joined by %1F')),
  inPath('table', said(text, 'name of the table')),
]
const unavailable = error('The database is not available')
const malformed = error('A name, a parameter or the body is not as it must be')
const tooLarge = error('The body is too large')

type Told = Omit<Operation, 'tags'>
const tags = ['contracts']

/** Takes the scope `read`. */
const read = ({ responses, ...told }: Told): Operation => ({
  tags,
  ...told,
  responses: {
    ...responses,
    401: error('No session'),
    403: error('The session lacks the scope `read`, or the principal the role'),
    503: unavailable,
  },
})
/** Takes the scope `admin` and the role of a steward. */
const change = ({ responses, ...told }: Told): Operation => ({
  tags,
  ...told,
  responses: {
    400: malformed,
    ...responses,
    401: error('No session'),
    403: error('The session lacks the scope `admin`, or the principal the role `steward`'),
    503: unavailable,
  },
})
const saved = { 204: { description: 'Saved' } }
const removed = { 204: { description: 'Removed' }, 404: error('There is no such thing to remove') }

const description = { ...text, description: `At most ${limits.contractDescriptionBytesMax} bytes` }
const foreignKey = { ...text, enum: ['foreignKey'], default: 'foreignKey' }
const reference = { ...text, description: '`table.column` or `namespace.table.column`' }
/** The schema object of the Open Data Contract Standard 3.1, as far as it is kept. */
const schema = {
  'description?': description,
  'properties?': list(
    object({
      name: said(text, 'a column’s name'),
      'description?': description,
      'primaryKey?': flag,
      'primaryKeyPosition?': { type: 'integer', minimum: -1, default: -1 },
      'relationships?': list(object({ 'type?': foreignKey, to: reference })),
    }),
  ),
  'relationships?': list(
    object({
      'type?': foreignKey,
      from: { oneOf: [reference, list(reference)], description: 'Columns of the table itself' },
      to: { oneOf: [reference, list(reference)], description: 'As many columns of one table' },
    }),
  ),
}
const contract = { id: text, version: { type: 'integer', minimum: 1 } }
const tagged = { 'tag?': said(text, 'by which it came') }
const exemptRoles = list(text)
const mask = object({
  id: text,
  action: oneOf(maskActions),
  'expression?': text,
  exempt_roles: exemptRoles,
  ...tagged,
})
const rowFilter = object({
  id: text,
  expression: text,
  exempt_roles: exemptRoles,
  'column?': text,
  ...tagged,
})

/** GET tables/{namespace}/{table}. */
export const tableDetail = read({
  summary: 'A table’s contract, columns and tags, and for stewards its row filters and masks',
  parameters: ofTable,
  responses: {
    200: answer(
      'The table',
      object({
        namespace: list(text),
        name: text,
        'contract?': object({ ...contract, state: text, ...schema }),
        'pinned_snapshot_id?': text,
        columns: list(
          object({
            name: text,
            type: text,
            required: flag,
            'dropped?': flag,
            tags: list(text),
            'masks?': list(mask),
          }),
        ),
        'row_filters?': list(rowFilter),
      }),
    ),
    400: malformed,
    404: error('There is no such table'),
  },
})

/** PUT tables/{namespace}/{table}. */
export const putContractDetail = change({
  summary: 'Puts the table under a contract, in place of the one that it is under and of what that declared',
  parameters: ofTable,
  requestBody: body(object({ ...contract, ...schema })),
  responses: { ...saved, 413: tooLarge, 422: error('It names a column that its table does not have') },
})

/** DELETE tables/{namespace}/{table}. */
export const deleteContractDetail = change({
  summary: 'Ends a table’s contract; filters, masks and tags stay',
  parameters: ofTable,
  responses: removed,
})

const pin = object({
  sequence: { type: 'integer', minimum: 1 },
  kind: oneOf(['pin', 'unpin']),
  'snapshot_id?': said(text, 'decimal'),
  'catalog?': text,
  by: text,
  at: time,
})

/** GET pins. */
export const pinsDetail = read({
  summary: 'A table’s pins and unpins, newest first',
  parameters: [...ofTable, ...pages],
  responses: {
    200: answer('One page', page(pin)),
    400: malformed,
    404: error('There is no such table'),
  },
})

/** POST pin. */
export const pinDetail = change({
  summary: 'Pins the table to a snapshot, which is what queries then read',
  parameters: ofTable,
  requestBody: body(object({ catalog: text, snapshot_id: said(text, 'decimal; a number does as well') })),
  responses: {
    200: answer('The pin', pin),
    404: error('There is no such catalog or table'),
    413: tooLarge,
    422: error('The table has no such snapshot'),
    502: error('The catalog did not answer'),
  },
})

/** POST unpin. */
export const unpinDetail = change({
  summary: 'Ends the table’s pin',
  parameters: ofTable,
  responses: { 200: answer('The unpin', pin), 409: error('The table is not pinned') },
})

const settings = object({ readable_without_contract: flag })

/** GET settings. */
export const settingsDetail = read({
  summary: 'The tenant’s settings for reading',
  description: 'Needs the role `steward` or `administrator`.',
  responses: { 200: answer('The settings', settings) },
})

/** PUT settings. */
export const putSettingsDetail = change({
  summary: 'Saves the tenant’s settings for reading',
  description: 'The role `administrator` does as well.',
  requestBody: body(settings),
  responses: { ...saved, 413: tooLarge },
})

/** GET changes. */
export const changesDetail = read({
  summary: 'Who changed what governs reading, newest first',
  description: 'Needs the role `steward` or `administrator`.',
  parameters: pages,
  responses: {
    200: answer(
      'One page',
      page(
        object({
          at: time,
          actor: text,
          action: oneOf(contractActions),
          subject: said(anyObject, 'what was changed, by name'),
          'value?': said(anyObject, 'what was put there'),
        }),
      ),
    ),
    400: malformed,
  },
})

/** What a policy or tag is attached to, by the start of its path. */
type Place = 'table' | 'column' | 'tag'
const at = (place: Place) => ({ parameters: place === 'tag' ? [] : ofTable })
const attached = (place: Place) => ({
  ...saved,
  ...(place === 'column' && { 404: error('There is no such column') }),
  413: tooLarge,
  422: error('It cannot be applied to a table that it then governs'),
})

/** PUT row-filters/{id}. */
export const putRowFilterDetail = (place: Place) =>
  change({
    ...at(place),
    summary: `Saves a row filter of a ${place}, in place of the one of this id there`,
    requestBody: body(object({ expression: text, 'exempt_roles?': exemptRoles })),
    responses: attached(place),
  })

/** DELETE row-filters/{id}. */
export const deleteRowFilterDetail = (place: Place) =>
  change({ ...at(place), summary: `Removes a row filter of a ${place}`, responses: removed })

/** PUT masks/{id}. */
export const putMaskDetail = (place: Place) =>
  change({
    ...at(place),
    summary: `Saves a mask of a ${place}, in place of the one of this id there`,
    requestBody: body(
      object({
        action: oneOf(maskActions),
        'expression?': said(text, 'with apply-expression, and with no other'),
        'exempt_roles?': exemptRoles,
      }),
    ),
    responses: attached(place),
  })

/** DELETE masks/{id}. */
export const deleteMaskDetail = (place: Place) =>
  change({ ...at(place), summary: `Removes a mask of a ${place}`, responses: removed })

/** PUT columns/{column}/tags/{tag}. */
export const putTagDetail = change({
  summary: 'Tags a column',
  parameters: ofTable,
  responses: {
    ...saved,
    404: error('There is no such column'),
    422: error('A mask or filter of the tag cannot be applied to it'),
  },
})

/** DELETE columns/{column}/tags/{tag}. */
export const deleteTagDetail = change({
  summary: 'Removes a tag from a column',
  parameters: ofTable,
  responses: removed,
})
