/** Declares the operations that pin and unpin the snapshot at which a table is read. */

import { deciderMembers } from '../http/actor-view.ts'
import { pageRequest } from '../http/page-view.ts'
import {
  addressed,
  described,
  int64,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableAddress,
  text,
} from '../http/schemas.ts'
import { listTablePins } from './list-pins.ts'
import { changeOf, changing, operation, reading, tablePath } from './parts.ts'
import { pinSnapshot } from './pin-table.ts'
import { unpinSnapshot } from './unpin-table.ts'

const pin = object({
  sequence: ordinal,
  kind: oneOf(['pin', 'unpin']),
  snapshot_id: maybe(described(text, 'decimal')),
  catalog: maybe(text),
  by: described(text, 'subject'),
  ...deciderMembers,
  at: described(text, 'RFC 3339'),
})
const tag = 'contracts'

export const pinOperations = [
  operation({
    name: 'list_pins',
    tag,
    summary: 'A table’s pins and unpins, newest first',
    method: 'GET',
    path: `${tablePath}/pins`,
    access: reading,
    gives: { visible: ['existence', 'description'] },
    input: object({ ...tableAddress, ...pageInput }),
    output: pageOf(pin),
    faults: { not_found: 'There is no such table.' },
    run: ({ parts, caller }, { limit, page_token, ...table }) =>
      listTablePins(
        ...([parts.store, caller.tenant, addressed(table), caller.principal] as const),
        pageRequest({ limit, page_token }),
      ),
  }),
  operation({
    name: 'pin_table',
    tag,
    summary: 'Pins the table to a snapshot, which is what queries then read',
    method: 'POST',
    path: `${tablePath}/pin`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({
      ...tableAddress,
      catalog: described(nonEmpty, 'nickname of the catalog that holds the snapshot'),
      snapshot_id: int64,
    }),
    output: pin,
    faults: {
      not_found: 'There is no such catalog or table.',
      unprocessable: 'The table has no such snapshot.',
      upstream_failed: 'The catalog did not answer.',
    },
    examples: [
      {
        input: { namespace: ['sales'], table: 'orders', catalog: 'lake', snapshot_id: '6527182744209385741' },
      },
    ],
    run: async ({ parts, ...context }, { catalog, snapshot_id, ...table }) => {
      const wanted = { catalog, snapshotId: snapshot_id }
      return await pinSnapshot(parts, await changeOf({ parts, ...context }), addressed(table), wanted)
    },
  }),
  operation({
    name: 'unpin_table',
    tag,
    summary: 'Ends the table’s pin',
    method: 'POST',
    path: `${tablePath}/unpin`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object(tableAddress),
    output: pin,
    faults: { conflict: 'The table is not pinned.' },
    run: async (context, input) =>
      await unpinSnapshot(context.parts.clock, await changeOf(context), addressed(input)),
  }),
]
