/** Where contracts are missing or weak: counts, and the tables of one kind. For those who oversee contracts. */

import { coverageOperations } from '../../../contract/coverage-operations.ts'
import { coverageKinds } from '../../../core/coverage.ts'
import { tableKey } from '../../../core/table-ref.ts'
import { coverageCounts, uncoveredTables } from '../../../store/contract/coverage.ts'
import { nodeId } from '../../../store/database/names.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf } from '../builder.ts'
import type { Refs } from './refs.ts'

const coverageAccess = accessOf(coverageOperations, 'get_contract_coverage')

/** Adds the types and the field of Query. */
export function addCoverage(builder: Builder, refs: Refs): void {
  const kind = builder.enumType('CoverageKind', { values: [...coverageKinds] })
  refs.uncovered.ref.implement({
    description: 'A table that a contract does not cover well.',
    fields: (t) => ({
      namespace: t.stringList({ resolve: ({ table }) => [...table.namespace] }),
      tableName: t.string({ resolve: ({ table }) => table.name }),
      contractName: t.string({
        nullable: true,
        description: 'The id of its contract; null where none is active.',
        resolve: ({ contract }) => contract ?? null,
      }),
    }),
  })
  refs.coverage.implement({
    description: 'How many tables are of each kind of gap.',
    fields: (t) => ({
      tables: t.exposeInt('tables', { description: 'All tables of which the kinds are parts.' }),
      uncontracted: t.exposeInt('uncontracted', { description: 'Without an active contract.' }),
      withoutOwner: t.exposeInt('without_owner', { description: 'Their document names no team.' }),
      unprotectedFindings: t.exposeInt('unprotected_findings', {
        description: 'A finding stands on a column without a mask.',
      }),
      inShadow: t.exposeInt('in_shadow', { description: 'The contract only records.' }),
      unread: t.exposeInt('unread', { description: 'No statement has read them for 90 days.' }),
    }),
  })
  builder.queryFields((t) => ({
    contractCoverage: t.field({
      type: refs.coverage,
      nullable: true,
      description:
        'Counts of tables that contracts do not cover well. For stewards, administrators and auditors.',
      resolve: async (_, __, { parts, store, caller }) => {
        requireAccess(parts, caller, coverageAccess)
        return await coverageCounts(store, caller.tenant, parts.clock.now())
      },
    }),
    uncoveredTables: t.field({
      type: refs.uncovered.connection,
      nullable: true,
      description: 'The tables of one kind, by name. For stewards, administrators and auditors.',
      args: {
        kind: t.arg({ type: kind, required: true }),
        first: t.arg.int({ required: true }),
        after: t.arg.string(),
      },
      resolve: async (_, { kind: asked, ...args }, { parts, store, caller }) => {
        requireAccess(parts, caller, coverageAccess)
        const page = { ...pageOf(args), nowMs: parts.clock.now() }
        const found = await uncoveredTables(
          store,
          caller.tenant,
          asked as (typeof coverageKinds)[number],
          page,
        )
        return connectionOf(found, ({ table }) => nodeId(tableKey(table)), args)
      },
    }),
  }))
}
