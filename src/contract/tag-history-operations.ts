/** Declares the operations that show the tags of a table with their evidence, and the history of tags. */

import { tenantOperationsOf } from '../auth/administration/tenant-operations.ts'
import { tagActions, tagSources } from '../core/tag.ts'
import { actorMembers, actorView } from '../http/actor-view.ts'
import { pageView, tablePageRequest } from '../http/page-view.ts'
import {
  addressed,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableAddress,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../http/schemas.ts'
import { listTableTags, listTagChanges, type RecordedTagChange } from '../store/contract/tag-changes.ts'
import type { Store } from '../store/store.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const common = {
  tag: 'contracts',
  method: 'GET',
  access: { scope: 'read', roles: ['steward', 'administrator', 'auditor'] },
} as const

const change = {
  at: time,
  source: described(oneOf(tagSources), '`classifier`: detection set it'),
  actor: maybe(described(object(actorMembers), 'absent where detection did it, or an older version')),
  by: maybe(described(text, 'subject')),
  request_id: maybe(text),
  finding: maybe(uuid),
  contract: maybe(text),
  contract_version: maybe(ordinal),
  classification: maybe(described(text, 'in the document of that version, which gives the tag')),
  note: maybe(text),
}

function changeView({ at, source, actor, by, evidence }: RecordedTagChange) {
  const { finding, contract, contractVersion, classification, note } = evidence
  return {
    at,
    source,
    actor: actor && actorView(actor),
    by,
    request_id: actor?.requestId,
    finding,
    contract,
    contract_version: contractVersion,
    classification,
    note,
  }
}

export const tagHistoryOperations = [
  pair({
    ...common,
    name: 'list_table_tags',
    summary: 'The tags of a table and its columns, each with what set it',
    description: 'A tag without `column` is the table’s own; its columns inherit it.',
    path: '/contracts/tables/{namespace}/{table}/tags',
    gives: { overseen: ['existence', 'columns'] },
    input: tableAddress,
    output: object({
      items: list(
        object({
          tag: text,
          column: maybe(text),
          dropped: maybe(described(flag, 'the column is in older snapshots only')),
          set: maybe(object(change)),
        }),
      ),
    }),
    run: async ({ parts, tenant }, address) => ({
      items: (await listTableTags(parts.store, tenant, addressed(address))).map(
        ({ tag, column, isDropped, setBy }) => ({
          tag,
          column,
          ...(isDropped && { dropped: true }),
          set: setBy && changeView(setBy),
        }),
      ),
    }),
  }),
  pair({
    ...common,
    name: 'list_tag_history',
    summary: 'Who set and removed tags, newest first, on what evidence',
    path: '/contracts/tag-history',
    gives: { overseen: ['existence', 'columns'] },
    input: {
      tag: maybe(nonEmpty),
      ...tableFilter,
      column: maybe(nonEmpty),
      ...pageInput,
    },
    output: pageOf(
      object({
        action: oneOf(tagActions),
        tag: text,
        table: tableIdentifier,
        column: maybe(described(text, 'absent for a tag of the table itself')),
        ...change,
      }),
    ),
    run: async ({ parts, tenant }, { tag, column, ...asked }) =>
      pageView(
        await listTagChanges(parts.store, tenant, { ...tablePageRequest(asked), tag, column }),
        (made) => ({
          action: made.action,
          tag: made.tag,
          table: made.table,
          column: made.column,
          ...changeView(made),
        }),
      ),
  }),
].flat()
