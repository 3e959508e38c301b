/** Declares the operations that set and remove tags of tables and columns. */

import { Type } from '@sinclair/typebox'
import { tagSources } from '../core/tag.ts'
import {
  addressed,
  described,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  tableAddress,
  text,
  uuid,
} from '../http/schemas.ts'
import { limits } from '../limits.ts'
import { deleteTag } from './delete-tag.ts'
import { changeOf, changing, operation, orNotFound, tablePath } from './parts.ts'
import { putTag } from './put-tag.ts'

const common = { tag: 'contracts', access: changing, gives: { nothing: 'own input' } } as const

const ofTable = {
  noun: 'table',
  path: tablePath,
  address: tableAddress,
  unknown: 'There is no such table.',
} as const
const ofColumn = {
  noun: 'column',
  path: `${tablePath}/columns/{column}`,
  address: { ...tableAddress, column: text },
  unknown: 'There is no such column.',
} as const
type Place = { namespace: readonly string[]; table: string; column?: string }

const reason = {
  source: maybe(
    described(
      oneOf(tagSources.filter((source) => source !== 'classifier')),
      'how the tag comes here; default `person`',
    ),
  ),
  finding: maybe(described(uuid, 'a finding of detection that it rests on')),
  contract: maybe(described(nonEmpty, 'a contract whose document says so; goes with `contract_version`')),
  contract_version: maybe(described(ordinal, 'the number of that version')),
  note: maybe(Type.String({ maxLength: limits.decisionReasonCharsMax })),
}

export const tagOperations = [ofTable, ofColumn].flatMap(({ noun, path, address, unknown }) => [
  operation({
    ...common,
    name: `put_${noun}_tag`,
    summary:
      noun === 'table'
        ? 'Tags a table; all its columns inherit the tag, also those to come'
        : 'Tags a column',
    method: 'PUT',
    path: `${path}/tags/{tag}`,
    input: object({ ...address, tag: text, ...reason }),
    faults: {
      not_found: unknown,
      unprocessable: 'A mask or filter of the tag cannot be applied to it, or the evidence is not there.',
    },
    run: async (context, { tag, source, finding, contract, contract_version, note, ...place }) => {
      const evidence = { source, finding, contract, contractVersion: contract_version, note }
      await putTag(await changeOf(context), addressed(place), (place as Place).column, tag, evidence)
    },
  }),
  operation({
    ...common,
    name: `delete_${noun}_tag`,
    summary: `Removes a tag from a ${noun}`,
    method: 'DELETE',
    path: `${path}/tags/{tag}`,
    input: object({ ...address, tag: text }),
    faults: {
      not_found: 'There is nothing of that name to remove.',
      conflict: 'A contract with a life cycle governs the table, and nobody has signed the removal.',
    },
    run: async (context, { tag, ...place }) =>
      await orNotFound(deleteTag(await changeOf(context), addressed(place), (place as Place).column, tag)),
  }),
])
