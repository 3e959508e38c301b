/** Tables with their columns, protections, pins and lineage. A table that may not be read is not there. */

import { rulesInForce } from '../../../contract/commit/commit-rules.ts'
import type { DescribedTable } from '../../../contract/describe-table.ts'
import { decisionOperations } from '../../../gateway/oversight/decision-operations.ts'
import { limits } from '../../../limits.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf, sliceOf } from '../builder.ts'
import { nodeIdOf } from '../node-id.ts'
import type { Refs } from './refs.ts'

const decisionsAccess = accessOf(decisionOperations, 'list_decisions')

/** The id of a table's node. */
function tableNodeId({ ref }: Pick<DescribedTable, 'ref'>): string {
  return nodeIdOf('Table', ...ref.namespace, ref.name)
}

/** Adds the types. */
export function addTables(builder: Builder, refs: Refs): void {
  refs.tag.implement({
    description: 'A word that classifies a column or a table.',
    fields: (t) => ({ name: t.string({ resolve: (name) => name }) }),
  })
  refs.columnMask.implement({
    description: 'A mask that applies to you.',
    fields: (t) => ({
      action: t.string({
        description: 'What the mask does; `refused` where reading is refused.',
        resolve: (action) => action,
      }),
    }),
  })
  refs.rowFilter.implement({
    description: 'A row filter that applies to you.',
    fields: (t) => ({
      id: t.exposeString('id'),
      columns: t.stringList({ resolve: ({ columns }) => [...columns] }),
      expression: t.string({
        nullable: true,
        description: 'For stewards; else null.',
        resolve: ({ expression }, _, { caller }) =>
          caller.principal.roles.includes('steward') ? expression : null,
      }),
    }),
  })
  refs.column.ref.implement({
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({
        type: 'ID',
        resolve: ({ table: { ref }, name }) => nodeIdOf('Column', ...ref.namespace, ref.name, name),
      }),
      table: t.field({ type: refs.table.ref, resolve: ({ table }) => table }),
      name: t.exposeString('name'),
      type: t.exposeString('type'),
      required: t.exposeBoolean('required'),
      description: t.exposeString('description', { nullable: true }),
      tags: t.field({ type: [refs.tag], resolve: ({ tags }) => [...tags] }),
      mask: t.field({
        type: refs.columnMask,
        nullable: true,
        resolve: ({ mask }) => mask ?? null,
      }),
    }),
  })
  refs.pin.ref.implement({
    description: 'A table was pinned to a snapshot, or its pin ended.',
    fields: (t) => ({
      sequence: t.exposeInt('sequence', { description: 'Rises by one with each event of the table.' }),
      kind: t.exposeString('kind', { description: '`pin` or `unpin`.' }),
      snapshotId: t.exposeString('snapshotId', { nullable: true }),
      catalog: t.exposeString('catalog', { nullable: true }),
      by: t.exposeString('by', { description: 'Subject.' }),
      at: t.field({ type: 'DateTime', resolve: ({ at }) => new Date(at) }),
    }),
  })
  addLineage(builder, refs)
  refs.table.ref.implement({
    description: 'A table that you may read.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: (table) => tableNodeId(table) }),
      namespace: t.stringList({ resolve: ({ ref }) => [...ref.namespace] }),
      name: t.string({ resolve: ({ ref }) => ref.name }),
      description: t.exposeString('description', { nullable: true }),
      primaryKey: t.stringList({ resolve: ({ primaryKey }) => [...primaryKey] }),
      pinnedSnapshotId: t.string({
        nullable: true,
        resolve: ({ pinnedSnapshotId }) => (pinnedSnapshotId === undefined ? null : String(pinnedSnapshotId)),
      }),
      contract: t.field({
        type: refs.contract.ref,
        nullable: true,
        // It is a table that the caller may read, so its contract is seen.
        resolve: ({ contract }) => (contract === undefined ? null : { contract: contract.id, governs: true }),
      }),
      contractVersion: t.int({
        nullable: true,
        description: 'Rises with each contract put on the table.',
        resolve: ({ contract }) => contract?.version ?? null,
      }),
      commits: t.field({
        type: refs.commitRules,
        nullable: true,
        description:
          'What happens to commits that break its contract; null where it asks nothing of commits.',
        resolve: async ({ ref, contract }, _, { parts, loaders }) =>
          contract === undefined
            ? null
            : (rulesInForce(await loaders.governing(ref), parts.clock.now()) ?? null),
      }),
      rowFilters: t.field({ type: [refs.rowFilter], resolve: ({ filters }) => [...filters] }),
      columns: t.field({
        type: refs.column.connection,
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: (table, args) =>
          sliceOf(
            table.columns.map((column) => ({ ...column, table })),
            args,
          ),
      }),
      pins: t.field({
        type: refs.pin.connection,
        description: 'Newest first.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ ref }, args, { loaders }) =>
          connectionOf(await loaders.pins(ref, pageOf(args)), ({ sequence }) => String(sequence), args),
      }),
      writeEvents: t.field({
        type: refs.writeEvent.connection,
        nullable: true,
        description:
          'Decisions on changes of the table, newest first. For stewards, administrators and owners.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ ref }, args, { parts, caller, loaders }) => {
          requireAccess(parts, caller, decisionsAccess)
          return connectionOf(await loaders.decisions(ref, pageOf(args)), ({ sequence }) => sequence, args)
        },
      }),
      lineage: t.field({
        type: refs.lineageEdge.connection,
        description:
          'The nearest edges around the table. The hops of nested fields add up, to 5 at most. There is no next page: ask for fewer hops, or for one direction.',
        args: {
          first: t.arg.int({ required: true }),
          direction: t.arg({ type: 'LineageDirection' as never, defaultValue: 'both' as never }),
          hops: t.arg.int({ required: true, defaultValue: limits.graphHopsDefault }),
          asOf: t.arg({
            type: 'DateTime',
            description: 'The edges that there were at this time, by the times of events.',
          }),
        },
        resolve: async ({ ref }, { first, direction, hops, asOf }, { loaders }) => {
          const { limit = 0 } = pageOf({ first })
          const around = {
            ...{ direction: (direction ?? 'both') as 'both', depth: hops, limit },
            ...(asOf && { asOf }),
          }
          const { items, total } = await loaders.lineage(ref, around)
          return connectionOf({ items }, edgeKey, { totalCount: total })
        },
      }),
    }),
  })
}

const edgeKey = (edge: { readonly hops: number }) => String(edge.hops)

function addLineage(builder: Builder, refs: Refs): void {
  builder.enumType('LineageDirection', { values: ['upstream', 'downstream', 'both'] as const })
  refs.lineageNode.implement({
    description: 'A dataset, job or table of lineage.',
    fields: (t) => ({
      kind: t.exposeString('kind'),
      namespace: t.string({
        resolve: ({ namespace }) => (typeof namespace === 'string' ? namespace : namespace.join('.')),
      }),
      name: t.exposeString('name'),
      state: t.string({
        nullable: true,
        description: 'Of the latest run of a job: START, RUNNING, COMPLETE, ABORT or FAIL.',
        resolve: (node) => (node.kind === 'job' ? (node.state ?? null) : null),
      }),
      table: t.field({
        type: refs.table.ref,
        nullable: true,
        description: 'Of a node that is a table, where you may read it.',
        resolve: async (node, _, { loaders }) =>
          node.kind === 'table'
            ? ((await loaders.table({ namespace: node.namespace, name: node.name })) ?? null)
            : null,
      }),
    }),
  })
  refs.lineageEdge.ref.implement({
    description: 'Data flows from `from` to `to` where the label is LINEAGE_OF.',
    fields: (t) => ({
      label: t.exposeString('label'),
      hops: t.exposeInt('hops', { description: 'LINEAGE_OF edges to the table.' }),
      inPlace: t.boolean({
        description: 'Whether the job also reads what it writes, where the label is PRODUCED_BY.',
        resolve: ({ inPlace }) => inPlace === true,
      }),
      state: t.string({
        nullable: true,
        description: 'Of the run that said the edge last: START, RUNNING, COMPLETE, ABORT or FAIL.',
        resolve: ({ evidence }) => evidence?.state ?? null,
      }),
      stale: t.boolean({
        description: 'Whether no run has said the edge for longer than is set.',
        resolve: ({ evidence }) => evidence?.stale === true,
      }),
      from: t.field({ type: refs.lineageNode, resolve: ({ from }) => from }),
      to: t.field({ type: refs.lineageNode, resolve: ({ to }) => to }),
    }),
  })
}
