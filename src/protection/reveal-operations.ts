/** Declares the operations by which stewards say who reads protected values in clear. */

import { Fault } from '../base/fault.ts'
import { revealMethods } from '../core/reveal.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  addressed,
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableAddress,
  tableIdentifier,
  text,
  wholeNumber,
} from '../http/schemas.ts'
import { listReveals } from '../store/transform/reveals.ts'
import { deleteReveal, putReveal } from './change-reveals.ts'
import { changing, operation, overseeing } from './parts.ts'

const tag = 'transform'
const revealsPath = '/api/v1/transform/reveals'
const ofColumn = { ...tableAddress, column: text }
const columnPath = `${revealsPath}/columns/{namespace}/{table}/{column}` as const

export const revealOperations = [
  operation({
    name: 'list_transform_reveals',
    tag,
    summary: 'Which roles read the values of protected columns through SQL',
    method: 'GET',
    path: revealsPath,
    access: overseeing,
    gives: { overseen: ['existence', 'columns'] },
    input: object(pageInput),
    output: pageOf(
      object({
        table: tableIdentifier,
        field_id: wholeNumber,
        roles: list(text),
        method: oneOf(revealMethods),
        scope: text,
        alphabet: maybe(text),
        kid: maybe(text),
      }),
    ),
    run: async ({ parts, caller }, page) =>
      pageView(
        await listReveals(parts.store, caller.tenant, pageRequest(page)),
        ({ table, fieldId, rule }) => ({ table, field_id: fieldId, ...rule }),
      ),
  }),
  operation({
    name: 'put_column_transform_reveal',
    tag,
    summary: 'Lets roles read the values of an encrypted column, or one of FF1 tokens, through SQL',
    description: 'The values are opened in results only. A statement cannot compare, group or sort by them.',
    method: 'PUT',
    path: columnPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({
      ...ofColumn,
      roles: described(list({ ...nonEmpty, maxLength: 128 }, { minItems: 1, maxItems: 64 }), 'of readers'),
    }),
    faults: {
      not_found: 'There is no such column.',
      unprocessable: 'The values of the column cannot be opened again.',
      conflict: 'A contract with a life cycle governs the table, and nobody has signed.',
    },
    run: async ({ parts, caller }, { roles, column, ...input }) => {
      const on = { store: parts.store, tenant: caller.tenant, actor: await caller.actor() }
      await putReveal(on, { table: addressed(input), column }, roles)
    },
  }),
  operation({
    name: 'delete_column_transform_reveal',
    tag,
    summary: 'Removes the reveal rule of a column: everybody reads what is stored, or its mask',
    method: 'DELETE',
    path: columnPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object(ofColumn),
    faults: { not_found: 'There is no such rule.' },
    run: async ({ parts, caller }, { column, ...input }) => {
      const on = { store: parts.store, tenant: caller.tenant, actor: await caller.actor() }
      const removed = await deleteReveal(on, { table: addressed(input), column })
      if (!removed) throw new Fault('not_found', 'There is no such rule.')
    },
  }),
]
