/** The names of the types with the values behind them. A field of one type leads to another by these. */

import type { seenResult } from '../../../contract/checks/sight.ts'
import type { rulesInForce, rulesOfModel } from '../../../contract/commit/commit-rules.ts'
import type { serviceLevelsOf } from '../../../contract/contract-words.ts'
import type { DescribedColumn, DescribedFilter, DescribedTable } from '../../../contract/describe-table.ts'
import type { StoredCheckRun } from '../../../core/check-run.ts'
import type { PolicyOutcome } from '../../../core/decision.ts'
import type { GlossaryTerm } from '../../../core/metric.ts'
import type { Policy } from '../../../core/policy.ts'
import type { Person, SupportChannel, WhomToAsk } from '../../../core/whom-to-ask.ts'
import type { ReaderLine } from '../../../query/readers/list-readers.ts'
import type { MetricView } from '../../../semantics/describe-metric.ts'
import type { ListedKpi, ListedSet } from '../../../semantics/list-calculations.ts'
import type { ListedDecision } from '../../../store/commit/decision-list.ts'
import type { Grant } from '../../../store/contract/access-grants.ts'
import type { AccessRequest, Placed } from '../../../store/contract/access-requests.ts'
import type { CoverageCounts, UncoveredTable } from '../../../store/contract/coverage.ts'
import type { RecordedMove, StoredSignOff } from '../../../store/contract/life-cycle.ts'
import type { PinEvent } from '../../../store/contract/pins.ts'
import type { ContractVersion, StoredVerdict } from '../../../store/contract/versions.ts'
import type { Sight } from '../../../store/governance/table-sight.ts'
import type { LineageEdge, LineageNode } from '../../../store/lineage/graph.ts'
import type { Builder, Connection } from '../builder.ts'
import type { UserError } from '../errors.ts'

interface ColumnModel extends DescribedColumn {
  readonly table: DescribedTable
}

/** A contract that the caller may see. */
export interface ContractModel {
  readonly contract: string
  /** Whether a table is under it. */
  readonly governs: boolean
}

/** What the contract of a table does with commits that break it. */
export type CommitRules = NonNullable<ReturnType<typeof rulesInForce>>
type ServiceLevel = ReturnType<typeof serviceLevelsOf>[number]
type VersionCommitRules = ReturnType<typeof rulesOfModel>[number]

interface DecisionModel {
  readonly policies: readonly { readonly id: string }[]
  readonly outcomes: readonly OutcomeModel[]
}

/** A check run and what the caller may see of it. */
export interface RunModel {
  readonly run: StoredCheckRun
  readonly sight: Sight
}

/** What a run found of one check, as the caller may see it. */
export interface CheckModel extends RunModel {
  readonly found: NonNullable<ReturnType<typeof seenResult>>
  readonly at: Date
}

/** Without an id where the caller oversees no policies. */
type OutcomeModel = Omit<PolicyOutcome, 'policyId'> & { readonly policyId?: string }

interface UsageTotalModel {
  readonly key: string
  readonly queries: number
  readonly rows_out: number
  readonly bytes_out: number
  readonly bytes_scanned?: number | undefined
  readonly run_ms: number
}

type VersionFinding = StoredVerdict['findings'][number]

/** A type with pages of it. */
function paged<T>(builder: Builder, name: string) {
  const ref = builder.objectRef<T>(name)
  const edge = builder.objectRef<{ readonly node: T; readonly cursor: string }>(`${name}Edge`).implement({
    fields: (t) => ({
      node: t.field({ type: ref, description: 'The item.', resolve: ({ node }) => node as never }),
      cursor: t.exposeString('cursor', { description: 'A page after this item begins here.' }),
    }),
  })
  const info = pageInfoOf(builder)
  const connection = builder.objectRef<Connection<T>>(`${name}Connection`).implement({
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: 'The items of the page, each with its cursor.',
        resolve: ({ edges }) => [...edges],
      }),
      pageInfo: t.field({
        type: info,
        description: 'Which part of the list this page is.',
        resolve: ({ edges, next, ...page }) => ({
          ...{ hasNextPage: page.hasNextPage, hasPreviousPage: page.hasPreviousPage },
          startCursor: edges[0]?.cursor ?? null,
          endCursor: next ?? edges.at(-1)?.cursor ?? null,
        }),
      }),
      totalCount: t.int({
        nullable: true,
        description: 'Null where it is not counted.',
        resolve: ({ totalCount }) => totalCount ?? null,
      }),
    }),
  })
  return { ref, connection }
}

interface PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

const infos = new WeakMap<Builder, ReturnType<typeof makePageInfo>>()

function pageInfoOf(builder: Builder) {
  const found = infos.get(builder) ?? makePageInfo(builder)
  infos.set(builder, found)
  return found
}

function makePageInfo(builder: Builder) {
  return builder.objectRef<PageInfo>('PageInfo').implement({
    description: 'Which part of a list a page is.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', {
        description: 'Whether there are items behind the page.',
      }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
        description:
          'Whether there are items before the page, which is so where it was asked for with `after`.',
      }),
      startCursor: t.exposeString('startCursor', {
        nullable: true,
        description: 'The cursor of the first item. Null where the page has none.',
      }),
      endCursor: t.exposeString('endCursor', {
        nullable: true,
        description: '`after` of the next page. Null where the page has no item and is the last.',
      }),
    }),
  })
}

/** Names every type. */
export function makeRefs(builder: Builder) {
  const node = builder.interfaceRef<object>('Node').implement({
    description: 'What has an id that names it in every answer.',
    fields: (t) => ({ id: t.field({ type: 'ID', resolve: () => '' }) }),
  })
  const userError = builder.objectRef<UserError>('UserError').implement({
    description: 'Why the input of a mutation is refused.',
    fields: (t) => ({ code: t.exposeString('code'), message: t.exposeString('message') }),
  })
  return {
    node,
    userError,
    table: paged<DescribedTable>(builder, 'Table'),
    column: paged<ColumnModel>(builder, 'Column'),
    contract: paged<ContractModel>(builder, 'Contract'),
    version: paged<ContractVersion>(builder, 'ContractVersion'),
    uncovered: paged<UncoveredTable>(builder, 'UncoveredTable'),
    tableReader: paged<ReaderLine>(builder, 'TableReader'),
    accessGrant: paged<Grant & Placed>(builder, 'AccessGrant'),
    accessRequest: paged<AccessRequest & Placed>(builder, 'AccessRequest'),
    move: paged<RecordedMove>(builder, 'ContractMove'),
    pin: paged<PinEvent>(builder, 'PinEvent'),
    writeEvent: paged<ListedDecision>(builder, 'WriteEvent'),
    lineageEdge: paged<LineageEdge>(builder, 'LineageEdge'),
    policy: paged<Policy>(builder, 'Policy'),
    usageTotal: paged<UsageTotalModel>(builder, 'UsageTotal'),
    term: paged<GlossaryTerm>(builder, 'GlossaryTerm'),
    metric: paged<MetricView>(builder, 'Metric'),
    qualityRun: paged<RunModel>(builder, 'QualityRun'),
    qualityCheck: paged<CheckModel>(builder, 'QualityCheck'),
    metricDimension: builder.objectRef<MetricView['dimensions'][number]>('MetricDimension'),
    metricCurrency: builder.objectRef<NonNullable<MetricView['currency']>>('MetricCurrency'),
    kpi: builder.objectRef<ListedKpi>('Kpi'),
    namedSet: builder.objectRef<ListedSet>('NamedSet'),
    metricProblem: builder.objectRef<MetricView['problems'][number]>('MetricProblem'),
    whomToAsk: builder.objectRef<WhomToAsk>('WhomToAsk'),
    person: builder.objectRef<Person>('Person'),
    supportChannel: builder.objectRef<SupportChannel>('SupportChannel'),
    coverage: builder.objectRef<CoverageCounts>('ContractCoverage'),
    serviceLevel: builder.objectRef<ServiceLevel>('ServiceLevel'),
    commitRules: builder.objectRef<CommitRules>('CommitRules'),
    versionCommitRules: builder.objectRef<VersionCommitRules>('VersionCommitRules'),
    attestation: builder.objectRef<StoredSignOff>('Attestation'),
    finding: builder.objectRef<VersionFinding>('ContractFinding'),
    decision: builder.objectRef<DecisionModel>('Decision'),
    outcome: builder.objectRef<OutcomeModel>('PolicyOutcome'),
    tag: builder.objectRef<string>('Tag'),
    rowFilter: builder.objectRef<DescribedFilter>('RowFilter'),
    columnMask: builder.objectRef<string>('ColumnMask'),
    lineageNode: builder.objectRef<LineageNode>('LineageNode'),
    decisionKind: builder.enumType('DecisionKind', { values: ['APPROVED', 'REJECTED'] as const }),
  }
}

export type Refs = ReturnType<typeof makeRefs>
