/**
 * The loaders of one request. Each gathers what the resolvers of one level ask for into one call of a verb. They are
 * never shared: a loaded value is what one principal may see.
 */

import DataLoader from 'dataloader'
import { type DescribedTable, describeTablesNamed } from '../../contract/describe-table.ts'
import type { Caller } from '../../core/operation.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
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
import { type LineageDirection, type LineagePage, lineageOfTables } from '../../store/lineage/graph.ts'
import type { Store } from '../../store/store.ts'

export interface VersionKey {
  readonly contract: string
  readonly number: number
}

const versionKey = ({ contract, number }: VersionKey) => JSON.stringify([contract, number])

export interface LineageAround {
  readonly direction: LineageDirection
  readonly depth: number
  readonly limit: number
}

export interface Loaders {
  readonly table: (ref: TableRef) => Promise<DescribedTable | undefined>
  readonly contract: (id: string) => Promise<ContractOverview>
  readonly inForce: (contract: string) => Promise<ContractVersion | undefined>
  readonly version: (name: VersionKey) => Promise<ContractVersion | undefined>
  readonly versions: (contract: string, page: PageRequest) => Promise<Page<ContractVersion>>
  readonly moves: (contract: string, page: PageRequest) => Promise<Page<RecordedMove>>
  readonly signOffs: (name: VersionKey) => Promise<readonly StoredSignOff[]>
  readonly pins: (ref: TableRef, page: PageRequest) => Promise<Page<PinEvent>>
  readonly decisions: (ref: TableRef, page: PageRequest) => Promise<Page<ListedDecision>>
  readonly lineage: (ref: TableRef, around: LineageAround) => Promise<LineagePage>
  /** Keeps a table that was loaded already. */
  readonly prime: (table: DescribedTable) => void
  /** Forgets what was loaded, so that it is loaded again. */
  readonly clear: () => void
}

/** Makes the loaders of a caller. @param signal ends their statements */
export function loadersFor(store: Store, { tenant, principal }: Caller, signal: AbortSignal): Loaders {
  // Every statement of the request ends with it.
  const bound: Store = {
    ...store,
    tenantQuery: (of, text, params, options) => store.tenantQuery(of, text, params, { signal, ...options }),
    tenantTransaction: (of, work, options) => store.tenantTransaction(of, work, { signal, ...options }),
  }
  const run: RunQuery = (text, params) => bound.tenantQuery(tenant, text, params)
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
      const found = await describeTablesNamed(bound, tenant, refs, principal)
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
        pagesOfVersions(bound, tenant, ids, page),
      ).load(contract),
    moves: (contract, page) =>
      loader<string, Page<RecordedMove>>('moves', page, asText, (ids) =>
        listMovesOf(bound, tenant, ids, page),
      ).load(contract),
    signOffs: (name) =>
      loader<VersionKey, readonly StoredSignOff[]>('signOffs', {}, versionKey, (names) =>
        signOffsOfVersions(run, tenant, names),
      ).load(name),
    pins: (ref, page) =>
      loader<TableRef, Page<PinEvent>>('pins', page, tableKey, (refs) =>
        listPinsOf(bound, tenant, refs, page),
      ).load(ref),
    decisions: (ref, page) =>
      loader<TableRef, Page<ListedDecision>>('decisions', page, tableKey, (refs) =>
        listDecisionsOf(bound, tenant, refs, page),
      ).load(ref),
    lineage: (ref, around) =>
      loader<TableRef, LineagePage>('lineage', around, tableKey, (refs) =>
        lineageOfTables(bound, tenant, refs, around),
      ).load(ref),
    prime: (table) => void tables().prime(table.ref, table),
    clear: () => open.clear(),
  }
}
