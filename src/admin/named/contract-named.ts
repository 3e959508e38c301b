/** Declares the verbs `covenant contract …`: contracts, their versions, and what is declared on tables. */

import { comparisonText } from '../contracts/print-plan.ts'
import { listing, type NamedVerb, single } from './named-verb.ts'

const versionColumns = ['number', 'version', 'state', 'author', 'managed_by', 'created_at', 'sha256']
const expressionNote =
  'The expression is SQL over the columns of a row. Rows are seen where it holds; roles in --exempt-roles see all of them.'

const actions =
  'replace-with-null|mask-to-fixed-value|sha-256-query-local|sha-256-global|mask-alphanum|truncate-to-year|truncate-to-month|show-last-4|show-first-4|apply-expression'
const maskFlags = `--action ${actions} [--expression EXPRESSION] [--exempt-roles ROLES]`
const filterFlags = '--expression EXPRESSION [--exempt-roles ROLES]'
const tagFlags = '[--note TEXT]'

const documents: readonly NamedVerb[] = [
  listing(
    'contract list',
    'list_contracts',
    '',
    'Lists the tables that have a contract',
    ['table', 'contract=contract.id', 'version=contract.version', 'state=contract.state'],
    { examples: ['contract list --all'] },
  ),
  single(
    'contract show',
    'get_table',
    'TABLE',
    'Shows a table: contract, columns, tags, masks and row filters',
    {
      examples: ['contract show sales.orders'],
    },
  ),
  listing(
    'contract documents',
    'list_contract_documents',
    '',
    'Lists contracts by document, with their versions',
    ['id', 'tables', 'versions=versions.version', 'states=versions.state', 'managed_by', 'outside_changes'],
  ),
  single(
    'contract document',
    'get_contract_document',
    'ID [--apiversion VERSION] [--as-of TIME]',
    'Prints the document in force, now or at a time',
    { examples: ['contract document orders --as-of 2026-03-01T00:00:00Z'] },
  ),
  listing(
    'contract in-force',
    'list_contracts_in_force',
    '[--as-of TIME] [--from TIME] [--to TIME] [--contract ID] [--table TABLE]',
    'Lists versions of contracts with when they were in force',
    ['id', 'number', 'version', 'state', 'in_force_from', 'in_force_until', 'tables', 'sha256'],
    { examples: ['contract in-force --as-of 2026-03-01T00:00:00Z --table sales.orders'] },
  ),
  listing(
    'contract versions',
    'list_contract_versions',
    'ID',
    'Lists the versions of a contract',
    versionColumns,
    {
      examples: ['contract versions orders'],
    },
  ),
  single(
    'contract version',
    'get_contract_version',
    'ID NUMBER',
    'Shows a version: what it changes, who read it, what it waits for',
  ),
  single(
    'contract version-document',
    'get_contract_version_document',
    'ID NUMBER',
    'Prints the document of a version',
  ),
  listing(
    'contract moves',
    'list_contract_moves',
    'ID',
    'Lists what was done with the versions of a contract',
    ['at', 'number', 'move', 'from', 'to', 'by', 'reason'],
  ),
  single('contract put', 'put_contract_document', 'ID FILE', 'Puts a document in force', {
    details: 'Where it loosens who sees what, another steward signs it first: see `covenant loosenings`.',
    examples: ['contract put orders orders.odcs.yaml'],
  }),
  single('contract propose', 'add_contract_version', 'ID FILE', 'Adds a document as a version, a draft', {
    examples: ['contract propose orders orders.odcs.yaml', 'contract move orders 4 propose'],
  }),
  single(
    'contract edit',
    'edit_contract_document',
    'ID FILE --if-match ETAG',
    'Changes the document in force by a JSON Patch',
    {
      details: '--if-match is the sha256 of the document in force, in double quotes.',
    },
  ),
  single(
    'contract diff',
    'compare_contract_document',
    'ID FILE',
    'Says what a document would change, whom it breaks, and who must sign it',
    {
      text: (result) => comparisonText(result as Parameters<typeof comparisonText>[0]),
      examples: ['contract diff orders orders.odcs.yaml'],
    },
  ),
  single(
    'contract move',
    'move_contract_version',
    'ID NUMBER MOVE [--override] [--reason TEXT]',
    'Moves a version on',
    {
      details: 'MOVE is propose, break_glass, reject, withdraw, deploy, cancel, deprecate or retire.',
      examples: ['contract move orders 4 deploy'],
    },
  ),
  single(
    'contract sign',
    'sign_contract_version',
    'ID@NUMBER… [--comment TEXT] [--yes]',
    'Shows what versions change, asks, and signs them',
    {
      details:
        'It shows what loosens and what tightens, who read the tables of late, and what is still needed; then it signs the document that it showed and no other. --yes does not ask.',
      examples: ['contract sign orders@4', 'contract sign orders@4 people@2 --yes --comment reviewed'],
      runs: async (read, terminal) => (await import('./sign-versions.ts')).signVersions(read, terminal),
    },
  ),
  single(
    'contract delete',
    'delete_contract_document',
    'ID',
    'Deletes the document in force, with what it declares',
  ),
  single(
    'contract put-table',
    'put_contract',
    'TABLE --id ID --version N [--catalog NAME] [--description TEXT]',
    'Gives a table a contract without a document',
  ),
  single('contract delete-table', 'delete_contract', 'TABLE', 'Takes the contract of a table away'),
  single(
    'contract extension',
    'get_document_extension',
    '',
    'Prints the schema of what documents add to the standard',
    {
      text: (result) => JSON.stringify(result, undefined, 2),
    },
  ),
]

const protections: readonly NamedVerb[] = [
  single('contract mask set', 'put_column_mask', `TABLE COLUMN ID ${maskFlags}`, 'Masks a column', {
    examples: ['contract mask set sales.orders email hide --action show-last-4 --exempt-roles billing'],
  }),
  single('contract mask remove', 'delete_column_mask', 'TABLE COLUMN ID', 'Takes a mask from a column'),
  single('contract mask set-tag', 'put_tag_mask', `TAG ID ${maskFlags}`, 'Masks all columns with a tag'),
  single('contract mask remove-tag', 'delete_tag_mask', 'TAG ID', 'Takes a mask from a tag'),
  single(
    'contract filter set',
    'put_table_row_filter',
    `TABLE ID ${filterFlags}`,
    'Filters the rows of a table',
    {
      details: expressionNote,
      examples: [`contract filter set sales.orders own --expression "region = 'EU'"`],
    },
  ),
  single('contract filter remove', 'delete_table_row_filter', 'TABLE ID', 'Takes a row filter from a table'),
  single(
    'contract filter set-column',
    'put_column_row_filter',
    `TABLE COLUMN ID ${filterFlags}`,
    'Filters rows by a column',
    {
      details: expressionNote,
    },
  ),
  single(
    'contract filter remove-column',
    'delete_column_row_filter',
    'TABLE COLUMN ID',
    'Takes a row filter from a column',
  ),
  single(
    'contract filter set-tag',
    'put_tag_row_filter',
    `TAG ID ${filterFlags}`,
    'Filters the rows of all tables with a tag',
    {
      details: expressionNote,
    },
  ),
  single('contract filter remove-tag', 'delete_tag_row_filter', 'TAG ID', 'Takes a row filter from a tag'),
  single('contract tag list', 'list_table_tags', 'TABLE', 'Lists the tags of a table and its columns', {
    lists: 'whole',
    columns: ['tag', 'column', 'at=set.at', 'source=set.source', 'by=set.by', 'note=set.note'],
  }),
  single('contract tag set', 'put_table_tag', `TABLE TAG ${tagFlags}`, 'Tags a table', {
    examples: ['contract tag set sales.orders pii'],
  }),
  single('contract tag remove', 'delete_table_tag', 'TABLE TAG', 'Takes a tag from a table'),
  single('contract tag set-column', 'put_column_tag', `TABLE COLUMN TAG ${tagFlags}`, 'Tags a column', {
    examples: ['contract tag set-column sales.orders email pii'],
  }),
  single('contract tag remove-column', 'delete_column_tag', 'TABLE COLUMN TAG', 'Takes a tag from a column'),
  listing(
    'contract tag history',
    'list_tag_history',
    '[--tag TAG] [--table TABLE] [--column COLUMN]',
    'Lists who set and removed tags',
    ['at', 'action', 'tag', 'table', 'column', 'source', 'by=actor.sub', 'note'],
  ),
]

const pins: readonly NamedVerb[] = [
  listing('contract pins', 'list_pins', 'TABLE', 'Lists the pins of a table, newest first', [
    'at',
    'kind',
    'catalog',
    'snapshot_id',
    'by',
  ]),
  single(
    'contract pin',
    'pin_table',
    'CATALOG.TABLE SNAPSHOT_ID',
    'Pins a table to a snapshot, which all reads then see',
    {
      examples: ['contract pin lake.sales.orders 6527182744209385741'],
    },
  ),
  single('contract unpin', 'unpin_table', 'TABLE', 'Lets reads see the newest snapshot again'),
]

export const contractNamed: readonly NamedVerb[] = [...documents, ...protections, ...pins]
