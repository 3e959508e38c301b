/** Declares the operation that lists when versions of contracts were in force: at a time, or between two. */

import { Fault } from '../base/fault.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  filteredTable,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
} from '../http/schemas.ts'
import { isToCome, listTerms, type VersionTerm } from '../store/contract/in-force.ts'
import type { RunQuery } from '../store/contract/versions.ts'
import { auditing, contractsPath, operation } from './parts.ts'

const terms = object({
  id: text,
  number: ordinal,
  version: described(text, 'as the document says'),
  sha256: text,
  unverified: described(flag, 'whether it came in force without checks'),
  state: maybe(
    described(oneOf(['active', 'deprecated']), 'with `as_of`: at that time; deprecated is in force too'),
  ),
  in_force_from: time,
  in_force_until: maybe(described(time, 'not at this time any more; absent: it is in force')),
  deprecated_at: maybe(time),
  tables: described(list(tableIdentifier), 'that its document governs'),
})

export const inForceOperations = [
  operation({
    name: 'list_contracts_in_force',
    tag: 'contracts',
    summary: 'Versions of contracts with when they were in force: at a time, between two, or all of them',
    description:
      'By the moves of versions, and by import and deletion of documents that were put in force at once. A contract that was put on a table without a document has no versions; the list of changes has it.',
    method: 'GET',
    path: `${contractsPath}/in-force`,
    access: auditing,
    gives: { overseen: ['existence', 'description'] },
    input: object({
      as_of: maybe(described(time, 'those in force at this time; without `from` and `to`')),
      from: maybe(described(time, 'those in force at this time or later')),
      to: maybe(described(time, 'those in force before this time')),
      contract: maybe(described(nonEmpty, 'id')),
      ...tableFilter,
      ...pageInput,
    }),
    output: pageOf(terms),
    run: async ({ parts, caller }, { limit, page_token, as_of: asOf, from, to, contract, ...asked }) => {
      const run: RunQuery = (statement, params) => parts.store.tenantQuery(caller.tenant, statement, params)
      if (asOf !== undefined && (from !== undefined || to !== undefined))
        throw new Fault('bad_request', '`as_of` does not go together with `from` and `to`.')
      if (from !== undefined && to !== undefined && to.getTime() <= from.getTime())
        throw new Fault('bad_request', '`to` must be after `from`.')
      if (asOf !== undefined) await requirePast(run, asOf)
      const filter = { asOf, from, to, contract, table: filteredTable(asked) }
      const found = await listTerms(run, caller.tenant, filter, pageRequest({ limit, page_token }))
      return pageView(found, (one) => termView(one, asOf))
    },
  }),
]

/** @throws Fault `bad_request` where the time is still to come: what is in force then is not decided */
export async function requirePast(run: RunQuery, asOf: Date): Promise<void> {
  if (await isToCome(run, asOf))
    throw new Fault('bad_request', '`as_of` is still to come. Name a time that has passed.')
}

/** The state of a version that was in force at a time. */
export function stateAt({ deprecatedAt }: VersionTerm, asOf: Date): 'active' | 'deprecated' {
  return deprecatedAt !== undefined && deprecatedAt.getTime() <= asOf.getTime() ? 'deprecated' : 'active'
}

function termView(one: VersionTerm, asOf: Date | undefined) {
  const { contract: id, number, version, sha256, unverified, from, until, deprecatedAt, tables } = one
  return {
    ...{ id, number, version, sha256, unverified },
    ...(asOf !== undefined && { state: stateAt(one, asOf) }),
    ...{ in_force_from: from, in_force_until: until, deprecated_at: deprecatedAt, tables },
  }
}
