/** Declares the operations on row filters and masks of tables, columns and tags. */

import { Type } from '@sinclair/typebox'
import { maskActions } from '../core/mask.ts'
import {
  addressed,
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  tableAddress,
  text,
} from '../http/schemas.ts'
import type { FilterTarget, MaskTarget } from '../store/contract/targets.ts'
import { deleteMask } from './delete-mask.ts'
import { deleteRowFilter } from './delete-row-filter.ts'
import { changeOf, changing, contractsPath, operation, orNotFound, tablePath } from './parts.ts'
import { putMask } from './put-mask.ts'
import { putRowFilter } from './put-row-filter.ts'

const common = { tag: 'contracts', access: changing, gives: { nothing: 'own input' } } as const
const columnPath = `${tablePath}/columns/{column}` as const
const tagPath = `${contractsPath}/tags/{tag}` as const

/** What a row filter or mask is attached to: the start of its path, the target that the path names, and its noun. */
const ofTable = {
  noun: 'table',
  path: tablePath,
  address: tableAddress,
  target: (input: Place): FilterTarget => ({ table: addressed(input) }),
} as const
const ofColumn = {
  noun: 'column',
  path: columnPath,
  address: { ...tableAddress, column: text },
  target: (input: Place): MaskTarget => ({ table: addressed(input), column: input.column ?? '' }),
} as const
const ofTag = {
  noun: 'tag',
  path: tagPath,
  address: { tag: text },
  target: ({ tag = '' }: Place): MaskTarget => ({ tag }),
} as const
type Place = { namespace: readonly string[]; table: string; column?: string; tag?: string }

const unknownColumn = { not_found: 'There is no such column.' }
const inapplicable = { unprocessable: 'It cannot be applied to a table that it would govern.' }
const nothing = { not_found: 'There is nothing of that name to remove.' }
const underContract = (noun: string) => ({
  conflict:
    noun === 'tag'
      ? 'It would loosen protection under a contract with a life cycle, and nobody has signed that.'
      : 'It would loosen protection under a contract with a life cycle: propose a version.',
})
const warned = {
  output: Type.Unsafe<{ readonly warnings: readonly string[] } | undefined>(
    object({ warnings: described(list(text), 'what its author hardly meant; it is saved all the same') }),
  ),
  withoutBody: 'Done, without a warning',
} as const
/** The answer to a save. */
const saidOf = (warnings: readonly string[]) => (warnings.length === 0 ? undefined : { warnings })
const exemptRoles = maybe(described(list(text), 'roles that it does not concern'))

const rowFilterOperations = [ofTable, ofColumn, ofTag].flatMap(({ noun, path, address, target }) => [
  operation({
    ...common,
    name: `put_${noun}_row_filter`,
    summary: `Saves a row filter of a ${noun}, replacing the one with this id`,
    method: 'PUT',
    path: `${path}/row-filters/{id}`,
    input: object({ ...address, id: text, expression: nonEmpty, exempt_roles: exemptRoles }),
    ...warned,
    faults: {
      ...(noun === 'column' && unknownColumn),
      ...inapplicable,
      ...underContract(noun),
    },
    run: async (context, { id, expression, exempt_roles = [], ...place }) => {
      const filter = { id, expression, exemptRoles: exempt_roles }
      return saidOf(await putRowFilter(await changeOf(context), target(place as Place), filter))
    },
  }),
  operation({
    ...common,
    name: `delete_${noun}_row_filter`,
    summary: `Removes a row filter of a ${noun}`,
    method: 'DELETE',
    path: `${path}/row-filters/{id}`,
    input: object({ ...address, id: text }),
    faults: { ...nothing, ...underContract(noun) },
    run: async (context, { id, ...place }) =>
      await orNotFound(deleteRowFilter(await changeOf(context), target(place as Place), id)),
  }),
])

const maskOperations = [ofColumn, ofTag].flatMap(({ noun, path, address, target }) => [
  operation({
    ...common,
    name: `put_${noun}_mask`,
    summary: `Saves a mask of a ${noun}, replacing the one with this id`,
    method: 'PUT',
    path: `${path}/masks/{id}`,
    input: object({
      ...address,
      id: text,
      action: oneOf(maskActions),
      expression: maybe(described(text, 'with apply-expression, and with no other')),
      exempt_roles: exemptRoles,
    }),
    ...warned,
    faults: {
      ...(noun === 'column' && unknownColumn),
      ...inapplicable,
      ...underContract(noun),
    },
    run: async (context, { id, action, expression, exempt_roles = [], ...place }) => {
      const mask = { id, action, expression, exemptRoles: exempt_roles }
      return saidOf(await putMask(await changeOf(context), target(place as Place), mask))
    },
  }),
  operation({
    ...common,
    name: `delete_${noun}_mask`,
    summary: `Removes a mask of a ${noun}`,
    method: 'DELETE',
    path: `${path}/masks/{id}`,
    input: object({ ...address, id: text }),
    faults: { ...nothing, ...underContract(noun) },
    run: async (context, { id, ...place }) =>
      await orNotFound(deleteMask(await changeOf(context), target(place as Place), id)),
  }),
])

export const policyOperations = [...rowFilterOperations, ...maskOperations]
