/** Declares the operations on the contract of a table. */

import { pageRequest } from '../http/page-view.ts'
import {
  addressed,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  ordinal,
  pageInput,
  pageOf,
  tableAddress,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../http/schemas.ts'
import { withCatalogSchemas } from './catalog-schemas.ts'
import { tableRules } from './commit/commit-rules.ts'
import { contractWordsMembers } from './contract-words.ts'
import { deleteContract } from './delete-contract.ts'
import { listTableContracts } from './list-contracts.ts'
import { changeOf, changing, contractsPath, operation, orNotFound, reading, tablePath } from './parts.ts'
import { putContract } from './put-contract.ts'
import { readContractSchema, schemaMembers } from './read-schema.ts'
import { showTable } from './show-table.ts'

const origin = { tag: maybe(described(text, 'by which it came')) }
const mask = object({
  id: text,
  action: text,
  expression: maybe(text),
  exempt_roles: list(text),
  ...origin,
})
const rowFilter = object({
  id: text,
  expression: text,
  exempt_roles: list(text),
  column: maybe(text),
  ...origin,
})
const commitsOfTable = object({
  ...tableRules,
  shadow_denials: maybe(
    described(
      object({
        count: described(ordinal, 'changes that were accepted, and would be refused'),
        of_changes: described(ordinal, 'of so many last ones that were accepted, 1,000 at most'),
        last_at: time,
        last_commit_id: uuid,
        last_committer: described(text, 'subject'),
      }),
      'for who oversees tables, where there are any',
    ),
  ),
})
const table = object({
  table: tableIdentifier,
  contract: maybe(
    object({
      id: text,
      version: ordinal,
      state: text,
      document_version: maybe(described(text, 'as its document says')),
      unverified: described(flag, 'whether it came in force without checks'),
      ...contractWordsMembers,
      commits: maybe(commitsOfTable),
      ...schemaMembers,
    }),
  ),
  pinned_snapshot_id: maybe(described(text, 'decimal')),
  applies_to_you: maybe(
    described(
      object({
        masked: list(object({ column: text, action: text })),
        filtered: list(object({ id: text, columns: list(text) })),
      }),
      'the masks and row filters that apply to the caller, where the caller may read the table',
    ),
  ),
  columns: list(
    object({
      name: text,
      type: text,
      required: flag,
      dropped: maybe(flag),
      tags: list(text),
      masks: maybe(list(mask)),
    }),
  ),
  row_filters: maybe(list(rowFilter)),
})

export const tableOperations = [
  operation({
    name: 'list_contracts',
    tag: 'contracts',
    summary: 'The tables that are under a contract, with its id, version and state',
    method: 'GET',
    path: `${contractsPath}/tables`,
    access: reading,
    gives: { visible: ['existence', 'description'] },
    input: object(pageInput),
    output: pageOf(
      object({ table: tableIdentifier, contract: object({ id: text, version: ordinal, state: text }) }),
    ),
    run: ({ parts, caller }, page) =>
      listTableContracts(parts.store, caller.tenant, caller.principal, pageRequest(page)),
  }),
  operation({
    name: 'get_table',
    tag: 'contracts',
    summary: 'A table’s contract, columns and tags, and for stewards its row filters and masks',
    method: 'GET',
    path: tablePath,
    access: reading,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object(tableAddress),
    output: table,
    faults: { not_found: 'There is no such table, or it may not be read.' },
    run: ({ parts, caller }, input) => showTable(parts, caller.tenant, addressed(input), caller.principal),
  }),
  operation({
    name: 'put_contract',
    tag: 'contracts',
    summary: 'Puts the table under a contract, replacing its present contract and declared schema',
    method: 'PUT',
    path: tablePath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({
      ...tableAddress,
      id: nonEmpty,
      version: ordinal,
      catalog: maybe(
        described(
          nonEmpty,
          'nickname of the catalog that has the table; needed where several have one of its name, or one is away',
        ),
      ),
      ...schemaMembers,
    }),
    faults: {
      conflict: 'The contract has a document: change that; or several catalogs have a table of the name.',
      not_found: 'There is no such catalog, or it has no such table.',
      unprocessable: 'It names a column that its table does not have.',
    },
    examples: [
      {
        input: {
          namespace: ['sales'],
          table: 'orders',
          id: 'orders',
          version: 1,
          properties: [{ name: 'id', description: 'Number of the order', primaryKey: true }],
        },
      },
    ],
    run: async (context, { id, version, catalog, ...input }) => {
      const ref = addressed(input)
      const schema = readContractSchema(input, ref)
      const on = await changeOf(context)
      const found = await withCatalogSchemas(context.parts.states, on, [ref], catalog)
      await putContract(found, ref, { id, version, schema })
    },
  }),
  operation({
    name: 'delete_contract',
    tag: 'contracts',
    summary: 'Ends a table’s contract; filters, masks and tags stay',
    method: 'DELETE',
    path: tablePath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object(tableAddress),
    faults: {
      not_found: 'The table is under no contract.',
      conflict: 'The contract has a document: end that.',
    },
    run: async (context, input) =>
      await orNotFound(deleteContract(await changeOf(context), addressed(input))),
  }),
]
