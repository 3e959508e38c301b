/** The fields of Query. Each calls the verb that its REST operation calls, under the same access. */

import { brandWithType } from '@pothos/core'
import { askedWords } from '../../contract/asked-words.ts'
import { type DescribedTable, described } from '../../contract/describe-table.ts'
import { lifeCycleOperations } from '../../contract/lifecycle/operations.ts'
import { searchTables } from '../../contract/search-tables.ts'
import { decisions as decisionKinds } from '../../core/decision.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { decisionOperations } from '../../gateway/oversight/decision-operations.ts'
import { explainDecision } from '../../gateway/oversight/explain-decision.ts'
import { policyOperations } from '../../gateway/oversight/policy-operations.ts'
import { totalUsageBy } from '../../query/usage/total-usage.ts'
import { findAudit } from '../../store/commit/audit.ts'
import { listDecisions } from '../../store/commit/decision-list.ts'
import { pageOfContracts } from '../../store/contract/contract-overview.ts'
import { nodeId } from '../../store/database/names.ts'
import { listReadableTables } from '../../store/governance/readable-tables.ts'
import { findPolicy } from '../../store/policy/find-policy.ts'
import { listPolicies, loadWriteGovernance } from '../../store/policy/policies.ts'
import { type UsageGroup, usageGroups } from '../../store/query/usage.ts'
import { accessOf, requireAccess } from './access.ts'
import { type Builder, connectionOf, pageOf, sliceOf } from './builder.ts'
import type { GraphContext } from './context.ts'
import { type NodeKey, type NodeType, parseNodeId } from './node-id.ts'
import { ownTable } from './own-table.ts'
import { checkModel, runModel } from './types/checks.ts'
import { contractModel, versionModel } from './types/contracts.ts'
import type { Refs } from './types/refs.ts'
import { metricModel, termModel } from './types/semantics.ts'

const policiesAccess = accessOf(policyOperations, 'list_policies')
const decisionsAccess = accessOf(decisionOperations, 'list_decisions')
const contractsAccess = accessOf(lifeCycleOperations, 'list_contract_versions')

const tablePosition = ({ ref }: { readonly ref: TableRef }) => nodeId(tableKey(ref))

/** Adds the fields. */
export function addQueries(builder: Builder, refs: Refs): void {
  const usageGroup = builder.enumType('UsageGroup', { values: [...usageGroups] })
  builder.queryFields((t) => ({
    node: t.field({
      type: refs.node,
      nullable: true,
      description: 'What has this id. Null for an id of nothing that you may see.',
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_, { id }, context) => (await findNode(context, String(id))) ?? null,
    }),
    table: t.field({
      type: refs.table.ref,
      nullable: true,
      description: 'A table by name. Null where there is none that you may read.',
      args: {
        namespace: t.arg.stringList({ required: true }),
        name: t.arg.string({ required: true }),
      },
      resolve: async (_, ref, context) => (await context.loaders.table(await ownTable(context, ref))) ?? null,
    }),
    tables: t.field({
      type: refs.table.connection,
      description:
        'The tables that you may read, by name; with `query` those with one of its words, the best first.',
      args: {
        first: t.arg.int({ required: true }),
        after: t.arg.string(),
        query: t.arg.string(),
        tag: t.arg.string(),
      },
      resolve: async (_, { query, tag, ...args }, context) => {
        const asked = pageOf(args)
        const { items, next, position } = await tablesOf(context, asked, query ?? undefined, tag ?? undefined)
        for (const table of items) context.loaders.prime(table)
        return connectionOf({ items, ...(next !== undefined && { next }) }, position, args)
      },
    }),
    contract: t.field({
      type: refs.contract.ref,
      nullable: true,
      args: { name: t.arg.string({ required: true }) },
      resolve: async (_, { name }, context) => (await contractModel(context, name)) ?? null,
    }),
    contracts: t.field({
      type: refs.contract.connection,
      nullable: true,
      description: 'Every contract, by name. For stewards and administrators.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: async (_, args, context) => {
        const { parts, store, caller } = context
        requireAccess(parts, caller, contractsAccess)
        const run = (text: string, params?: readonly never[]) =>
          store.tenantQuery<never>(caller.tenant, text, params)
        const { items, next } = await pageOfContracts(run as never, caller.tenant, pageOf(args))
        const models = await Promise.all(items.map(({ contract }) => contractModel(context, contract)))
        return connectionOf(
          { items: models.filter((one) => one !== undefined), ...(next !== undefined && { next }) },
          ({ contract }) => contract,
          args,
        )
      },
    }),
    contractVersion: t.field({
      type: refs.version.ref,
      nullable: true,
      args: { contract: t.arg.string({ required: true }), number: t.arg.int({ required: true }) },
      resolve: async (_, name, context) => (await versionModel(context, name)) ?? null,
    }),
    policies: t.field({
      type: refs.policy.connection,
      nullable: true,
      description:
        'Policies of commits, or those that govern one table, in their order. For stewards, administrators and owners.',
      args: {
        first: t.arg.int({ required: true }),
        after: t.arg.string(),
        namespace: t.arg.stringList(),
        table: t.arg.string(),
      },
      resolve: async (_, { namespace, table, ...args }, { parts, store, caller }) => {
        requireAccess(parts, caller, policiesAccess)
        if (namespace == null || table == null)
          return connectionOf(await listPolicies(store, caller.tenant, pageOf(args)), ({ id }) => id, args)
        const ref = await ownTable({ store, caller }, { namespace, name: table })
        const found = await loadWriteGovernance(store, caller.tenant, ref)
        return sliceOf(found.policies, args)
      },
    }),
    writeEvents: t.field({
      type: refs.writeEvent.connection,
      nullable: true,
      description: 'Decisions on changes, newest first. For stewards, administrators and owners.',
      args: {
        first: t.arg.int({ required: true }),
        after: t.arg.string(),
        decision: t.arg({ type: refs.decisionKind }),
        committer: t.arg.string(),
        from: t.arg({ type: 'DateTime' }),
        to: t.arg({ type: 'DateTime' }),
      },
      resolve: async (_, { decision, committer, from, to, ...args }, { parts, store, caller, signal }) => {
        requireAccess(parts, caller, decisionsAccess)
        const wanted = decisionKinds.find((one) => one === decision)
        const filter = {
          ...pageOf(args),
          ...{ decision: wanted, principal: committer ?? undefined },
          ...{ from: from ?? undefined, to: to ?? undefined },
        }
        const options = { isExplained: true, signal }
        const page = await listDecisions(store, caller.tenant, filter, options)
        return connectionOf(page, ({ sequence }) => sequence, args)
      },
    }),
    decision: t.field({
      type: refs.decision,
      nullable: true,
      description: 'Why a change was denied: your own, or any for those who oversee policies.',
      args: { commitId: t.arg.id({ required: true }) },
      resolve: async (_, { commitId }, { store, caller }) => {
        const found = await explainDecision(store, caller, String(commitId))
        if (found === undefined) return null
        return { policies: [], outcomes: found.policies }
      },
    }),
    usageTotals: t.field({
      type: refs.usageTotal.connection,
      description: 'Totals over your own queries; for stewards and administrators over all.',
      args: {
        first: t.arg.int({ required: true }),
        after: t.arg.string(),
        by: t.arg({ type: usageGroup, required: true }),
        from: t.arg({ type: 'DateTime' }),
        to: t.arg({ type: 'DateTime' }),
      },
      resolve: async (_, { by, from, to, ...args }, { store, caller }) => {
        const filter = { from: from ?? undefined, to: to ?? undefined }
        const page = pageOf(args)
        const found = await totalUsageBy(
          ...([store, caller.tenant, caller.principal, filter, by as UsageGroup, page] as const),
        )
        const { items, next_page_token: next } = found
        return connectionOf({ items, ...(next !== undefined && { next }) }, ({ key }) => key, args)
      },
    }),
  }))
}

/** A page of tables. A search goes through all tables, a plain list reads its page only. */
async function tablesOf(
  { store, caller: { tenant, principal } }: GraphContext,
  page: ReturnType<typeof pageOf>,
  query: string | undefined,
  tag: string | undefined,
) {
  if (query === undefined && tag === undefined) {
    const { items, next } = await listReadableTables(store, tenant, principal, page)
    return { items: items.map(described), next, position: tablePosition }
  }
  const words = await askedWords(store, tenant, query)
  const search = { words, tag, limit: page.limit ?? 1, after: page.after }
  const { found, next } = await searchTables(store, tenant, search, principal)
  const positions = new Map(found.map(({ table, position }) => [table, position]))
  return {
    ...{ items: found.map(({ table }) => table), next },
    position: (table: DescribedTable) => positions.get(table) ?? '',
  }
}

/** The value of a node; undefined for an unknown id, and for what is of another tenant or may not be seen. */
async function findNode(context: GraphContext, id: string): Promise<object | undefined> {
  const parsed = parseNodeId(id)
  if (parsed === undefined) return undefined
  const { key } = parsed
  const words = key.map(String)
  const { parts, store, caller } = context
  switch (parsed.type) {
    case 'Table':
      return branded(await tableAt(context, words), 'Table')
    case 'Column': {
      const table = await tableAt(context, words.slice(0, -1))
      const column = table?.columns.find(({ name }) => name === words.at(-1))
      return branded(table && column && { ...column, table }, 'Column')
    }
    case 'Contract':
      return branded(await contractModel(context, words[0] ?? ''), 'Contract')
    case 'ContractVersion':
      return await ifAllowed(async () =>
        branded(
          await versionModel(context, { contract: words[0] ?? '', number: versionNumber(key) }),
          'ContractVersion',
        ),
      )
    case 'Policy':
      return await ifAllowed(async () => {
        requireAccess(parts, caller, policiesAccess)
        const found = await findPolicy(store, caller.tenant, words[0] ?? '')
        return branded(found?.policy, 'Policy')
      })
    case 'WriteEvent':
      return await ifAllowed(async () => {
        requireAccess(parts, caller, decisionsAccess)
        const record = await findAudit(store, caller.tenant, words[0] ?? '')
        return branded(record && { ...record, sequence: '', explanation: record }, 'WriteEvent')
      })
    case 'GlossaryTerm':
      return await ifAllowed(async () => branded(await termModel(context, words[0] ?? ''), 'GlossaryTerm'))
    case 'Metric':
      return await ifAllowed(async () => branded(await metricModel(context, words[0] ?? ''), 'Metric'))
    case 'QualityRun':
      return await ifAllowed(async () => branded(await runModel(context, words[0] ?? ''), 'QualityRun'))
    case 'QualityCheck':
      return await ifAllowed(async () =>
        branded(await checkModel(context, words[0] ?? '', words[1] ?? ''), 'QualityCheck'),
      )
  }
}

function versionNumber(key: NodeKey): number {
  const number = Number(key[1])
  return Number.isInteger(number) && number > 0 && number < 1_000_000_000 ? number : 0
}

async function tableAt({ loaders }: GraphContext, words: readonly string[]) {
  const namespace = words.slice(0, -1)
  const name = words.at(-1)
  return namespace.length === 0 || name === undefined ? undefined : await loaders.table({ namespace, name })
}

/** A copy that says its type, by which the interface is resolved. */
function branded<T extends object>(model: T | undefined, type: NodeType): T | undefined {
  const copy = model && { ...model }
  if (copy !== undefined) brandWithType(copy, type as never)
  return copy
}

/** What may not be seen looks like what is not there. */
async function ifAllowed<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Error && 'kind' in thrown && thrown.kind === 'forbidden') return undefined
    throw thrown
  }
}
