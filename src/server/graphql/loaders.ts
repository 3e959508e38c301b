/**
 * The loaders of one request. Each gathers what the resolvers of one level ask for into one call of a verb. They are
 * never shared: a loaded value is what one principal may see.
 */

import DataLoader from 'dataloader'
import type { Clock } from '../../base/clock.ts'
import { type DescribedTable, describeTablesNamed } from '../../contract/describe-table.ts'
import type { CheckKind, StoredCheckRun } from '../../core/check-run.ts'
import type { GlossaryTerm } from '../../core/metric.ts'
import type { Caller } from '../../core/operation.ts'
import type { Policy } from '../../core/policy.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import {
  type MetricView,
  metricsOfTerms,
  metricsOverTables,
  metricViews,
} from '../../semantics/describe-metric.ts'
import { calculationsOfTables, type TableCalculations } from '../../semantics/list-calculations.ts'
import { resultsOfRuns, type StoredCheckResult } from '../../store/check/check-results.ts'
import { type ListedResult, resultsOfTables, runsOfTables } from '../../store/check/checks-of-tables.ts'
import { type ListedDecision, listDecisionsOf } from '../../store/commit/decision-list.ts'
import { type ContractOverview, readOverviews } from '../../store/contract/contract-overview.ts'
import {
  listMovesOf,
  type RecordedMove,
  type StoredSignOff,
  signOffsOfVersions,
} from '../../store/contract/life-cycle.ts'
import { listPinsOf, type PinEvent } from '../../store/contract/pins.ts'
import {
  type ContractVersion,
  findVersions,
  pagesOfVersions,
  type RunQuery,
  versionInForceOfEach,
} from '../../store/contract/versions.ts'
import type { Page, PageRequest } from '../../store/database/page.ts'
import { type Sight, sightsOf } from '../../store/governance/table-sight.ts'
import { type LineagePage, lineageOfTables, type TablesAround } from '../../store/lineage/graph.ts'
import {
  derivedPoliciesOfEach,
  governingPoliciesOfEach,
  type TablePolicy,
} from '../../store/policy/derived-policies.ts'
import { findTerms } from '../../store/semantics/terms.ts'
import type { Store } from '../../store/store.ts'

export interface VersionKey {
  readonly contract: string
  readonly number: number
}

const nothingSeen: Sight = { isWhole: false, showsNumbers: () => false }

const versionKey = ({ contract, number }: VersionKey) => JSON.stringify([contract, number])

type RunPage = PageRequest & { readonly kind?: CheckKind | undefined }
type ResultPage = PageRequest & { readonly check?: string | undefined }

export interface Loaders {
  readonly table: (ref: TableRef) => Promise<DescribedTable | undefined>
  readonly contract: (id: string) => Promise<ContractOverview>
  readonly inForce: (contract: string) => Promise<ContractVersion | undefined>
  readonly version: (name: VersionKey) => Promise<ContractVersion | undefined>
  readonly versions: (contract: string, page: PageRequest) => Promise<Page<ContractVersion>>
  readonly moves: (contract: string, page: PageRequest) => Promise<Page<RecordedMove>>
  /** The policies that follow from a contract, for each of its tables. */
  readonly derived: (contract: string) => Promise<readonly TablePolicy[]>
  /** The policies that govern commits on a table. */
  readonly governing: (ref: TableRef) => Promise<readonly Policy[]>
  readonly signOffs: (name: VersionKey) => Promise<readonly StoredSignOff[]>
  readonly pins: (ref: TableRef, page: PageRequest) => Promise<Page<PinEvent>>
  readonly decisions: (ref: TableRef, page: PageRequest) => Promise<Page<ListedDecision>>
  readonly lineage: (ref: TableRef, around: TablesAround) => Promise<LineagePage>
  /** What the caller may see of a table's checks. */
  readonly sight: (ref: TableRef) => Promise<Sight>
  readonly runs: (ref: TableRef, page: RunPage) => Promise<Page<StoredCheckRun>>
  readonly results: (ref: TableRef, page: ResultPage) => Promise<Page<ListedResult>>
  readonly resultsOfRun: (runId: string) => Promise<readonly StoredCheckResult[]>
  readonly term: (name: string) => Promise<GlossaryTerm | undefined>
  readonly metric: (name: string) => Promise<MetricView | undefined>
  readonly metricsOver: (ref: TableRef) => Promise<readonly MetricView[]>
  readonly calculations: (ref: TableRef) => Promise<TableCalculations>
  readonly metricsOfTerm: (term: string) => Promise<readonly MetricView[]>
  /** Keeps a table that was loaded already. */
  readonly prime: (table: DescribedTable) => void
  /** Forgets what was loaded, so that it is loaded again. */
  readonly clear: () => void
}

/** Makes the loaders of a caller. @param store whose statements end with the request */
export function loadersFor(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { tenant, principal }: Caller,
): Loaders {
  const asking = { store, clock, tenant, principal }
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const open = new Map<string, DataLoader<unknown, unknown, string>>()
  /** The loader of a name and its arguments. */
  function loader<K, V>(
    name: string,
    args: object,
    key: (one: K) => string,
    load: (keys: readonly K[]) => Promise<readonly V[]>,
  ): DataLoader<K, V, string> {
    const id = `${name} ${JSON.stringify(args)}`
    const found =
      open.get(id) ?? new DataLoader<unknown, unknown, string>(load as never, { cacheKeyFn: key as never })
    open.set(id, found)
    return found as unknown as DataLoader<K, V, string>
  }
  const asText = (text: string) => text
  const tables = () =>
    loader<TableRef, DescribedTable | undefined>('table', {}, tableKey, async (refs) => {
      const found = await describeTablesNamed(store, tenant, refs, principal)
      const byKey = new Map(found.map((table) => [tableKey(table.ref), table]))
      return refs.map((ref) => byKey.get(tableKey(ref)))
    })
  return {
    table: (ref) => tables().load(ref),
    contract: (id) =>
      loader<string, ContractOverview>('contract', {}, asText, (ids) => readOverviews(run, tenant, ids)).load(
        id,
      ),
    inForce: (contract) =>
      loader<string, ContractVersion | undefined>('inForce', {}, asText, (ids) =>
        versionInForceOfEach(run, tenant, ids),
      ).load(contract),
    version: (name) =>
      loader<VersionKey, ContractVersion | undefined>('version', {}, versionKey, async (names) => {
        const found = new Map((await findVersions(run, tenant, names)).map((one) => [versionKey(one), one]))
        return names.map((one) => found.get(versionKey(one)))
      }).load(name),
    versions: (contract, page) =>
      loader<string, Page<ContractVersion>>('versions', page, asText, (ids) =>
        pagesOfVersions(store, tenant, ids, page),
      ).load(contract),
    moves: (contract, page) =>
      loader<string, Page<RecordedMove>>('moves', page, asText, (ids) =>
        listMovesOf(store, tenant, ids, page),
      ).load(contract),
    derived: (contract) =>
      loader<string, readonly TablePolicy[]>('derived', {}, asText, (ids) =>
        derivedPoliciesOfEach(run, ids),
      ).load(contract),
    governing: (ref) =>
      loader<TableRef, readonly Policy[]>('governing', {}, tableKey, (refs) =>
        governingPoliciesOfEach(store, tenant, refs),
      ).load(ref),
    signOffs: (name) =>
      loader<VersionKey, readonly StoredSignOff[]>('signOffs', {}, versionKey, (names) =>
        signOffsOfVersions(run, tenant, names),
      ).load(name),
    pins: (ref, page) =>
      loader<TableRef, Page<PinEvent>>('pins', page, tableKey, (refs) =>
        listPinsOf(store, tenant, refs, page),
      ).load(ref),
    decisions: (ref, page) =>
      loader<TableRef, Page<ListedDecision>>('decisions', page, tableKey, (refs) =>
        listDecisionsOf(store, tenant, refs, page),
      ).load(ref),
    lineage: (ref, around) =>
      loader<TableRef, LineagePage>('lineage', around, tableKey, (refs) =>
        lineageOfTables(store, tenant, refs, around),
      ).load(ref),
    sight: (ref) =>
      loader<TableRef, Sight>('sight', {}, tableKey, async (refs) => {
        const found = await sightsOf(store, tenant, principal, refs)
        return refs.map((one) => found.get(tableKey(one)) ?? nothingSeen)
      }).load(ref),
    runs: (ref, page) =>
      loader<TableRef, Page<StoredCheckRun>>('runs', page, tableKey, (refs) =>
        runsOfTables(store, tenant, refs, page),
      ).load(ref),
    results: (ref, page) =>
      loader<TableRef, Page<ListedResult>>('results', page, tableKey, (refs) =>
        resultsOfTables(store, tenant, refs, page),
      ).load(ref),
    resultsOfRun: (runId) =>
      loader<string, readonly StoredCheckResult[]>('resultsOfRun', {}, asText, (ids) =>
        resultsOfRuns(store, tenant, ids),
      ).load(runId),
    term: (name) =>
      loader<string, GlossaryTerm | undefined>('term', {}, asText, (names) =>
        findTerms(store, tenant, names),
      ).load(name),
    metric: (name) =>
      loader<string, MetricView | undefined>('metric', {}, asText, (names) =>
        metricViews(asking, names),
      ).load(name),
    metricsOver: (ref) =>
      loader<TableRef, readonly MetricView[]>('metricsOver', {}, tableKey, (refs) =>
        metricsOverTables(asking, refs),
      ).load(ref),
    calculations: (ref) =>
      loader<TableRef, TableCalculations>('calculations', {}, tableKey, (refs) =>
        calculationsOfTables(asking, refs),
      ).load(ref),
    metricsOfTerm: (term) =>
      loader<string, readonly MetricView[]>('metricsOfTerm', {}, asText, (terms) =>
        metricsOfTerms(asking, terms),
      ).load(term),
    prime: (table) => void tables().prime(table.ref, table),
    clear: () => open.clear(),
  }
}
