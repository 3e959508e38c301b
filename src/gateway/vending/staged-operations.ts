/** Declares the report of files that an ended session may have left in storage. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  maybe,
  object,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { listStaged, type StagedParts } from '../../vending/staged-files.ts'

const pair = tenantOperationsOf<StagedParts>()

export const stagedOperations = pair({
  name: 'list_staged_files',
  tag: 'credentials',
  summary: 'Files that an ended session may have left in storage and that no snapshot names',
  description:
    'Lists the folders of the tables that the session could write to, by the storage credentials of the catalog: files written from its first credential to the end of its last that no snapshot of the table names. Storage does not say who wrote a file: `other_writers` counts the sessions that could write there too, and writers with keys of their own are not known. A page may hold fewer items than asked for and yet have a next one.',
  method: 'GET',
  path: '/credentials/staged',
  access: { scope: 'admin', roles: ['administrator', 'owner'], capability: 'vending' },
  gives: { overseen: ['existence'] },
  input: { session: uuid, ...tableFilter, ...pageInput },
  output: pageOf(
    object({
      table: tableIdentifier,
      other_writers: described(wholeNumber, 'other sessions that could write to the table in that time'),
      location: maybe(described(text, 'absent where `problem` says why the files cannot be told')),
      bytes: maybe(wholeNumber),
      modified_at: maybe(described(time, 'by the clock of the storage')),
      problem: maybe(text),
    }),
  ),
  faults: {
    not_found: 'There is no such session.',
    conflict: 'The session has not ended: what it wrote may still be committed.',
  },
  examples: [{ input: { session: '0d6a3b8e-6f0a-4e2c-9a54-5b0f9e4e8c11' } }],
  run: async ({ parts, tenant }, { session, ...page }) =>
    pageView(
      await listStaged(parts, tenant, { ...tablePageRequest(page), sessionId: session }),
      ({ table, otherWriters, file, problem }) => ({
        table,
        other_writers: otherWriters,
        location: file?.location,
        bytes: file?.bytes,
        modified_at: file?.modifiedAt,
        problem,
      }),
    ),
})
