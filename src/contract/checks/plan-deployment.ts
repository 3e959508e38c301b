/**
 * Chooses the snapshots that a deployment checks, and the runs that it needs: of each table the snapshot that the
 * version pins, else the one to which the table is pinned, else the current one. Nothing is written here.
 */

import { Fault, type FaultKind } from '../../base/fault.ts'
import { CatalogError } from '../../catalog/catalog.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { NewCheckRun } from '../../core/check-run.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  findCatalogCredential,
  listCatalogCredentials,
} from '../../store/catalog-credential/catalog-credentials.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import type { ContractVersion } from '../../store/contract/versions.ts'
import { loadGovernance } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import type { TableState } from '../../wire/iceberg/table-state.ts'
import type { ChangeContext } from '../change.ts'
import type { RunKind } from './run-kind.ts'

/** What requests check runs: their kinds, and a call that makes the runner look at once. */
export interface CheckService {
  readonly kinds: readonly RunKind[]
  readonly wake: () => void
}

interface ChosenSnapshot {
  readonly catalog: string
  readonly snapshotId: bigint | undefined
  readonly currentSnapshotId: bigint | undefined
}

interface Where {
  readonly store: Store
  readonly tenant: TenantId
}

/**
 * The runs of a deployment.
 * @throws Fault `unprocessable` where a table is in no catalog, or in several and none is named; of store and upstream
 */
export async function planDeployment(
  states: TableStates,
  kinds: readonly RunKind[],
  on: ChangeContext,
  version: ContractVersion,
): Promise<readonly NewCheckRun[]> {
  const { contract, number, model } = version
  const runs: NewCheckRun[] = []
  for (const schema of governing(model)) {
    const { table, pin } = schema
    const wanted = pin && { catalog: pin.catalog, snapshotId: BigInt(pin.snapshotId) }
    const chosen = await chooseSnapshot(states, on, table, wanted)
    for (const { name: kind, deployInput } of kinds) {
      const input = deployInput?.(version, schema, chosen)
      if (input === undefined) continue
      const onceKey = `deploy ${contract} ${number} ${chosen.snapshotId ?? 'none'}`
      runs.push({ kind, contract, number, table, ...chosen, cause: 'deploy', onceKey, input, by: on.actor })
    }
  }
  return runs
}

/**
 * Chooses the snapshot of a table that readers see, or would see. A catalog that does not answer is passed over where
 * exactly one other has the table.
 * @param wanted the snapshot or the catalog that the caller names
 * @throws Fault as {@link planDeployment}
 */
export async function chooseSnapshot(
  states: TableStates,
  on: Where,
  table: TableRef,
  wanted: { readonly catalog?: string | undefined; readonly snapshotId?: bigint | undefined } = {},
): Promise<ChosenSnapshot> {
  const { catalog, state } = await findTable(states, on, table, wanted.catalog)
  const { currentSnapshotId } = state
  const governance = await loadGovernance(on.store, on.tenant, table)
  const snapshotId = wanted.snapshotId ?? governance?.pin?.snapshotId ?? currentSnapshotId
  if (snapshotId !== undefined && !state.snapshotSchemaIds.has(snapshotId))
    throw new Fault('unprocessable', `The table ${tableName(table)} has no such snapshot.`)
  return { catalog, snapshotId, currentSnapshotId }
}

async function findTable(
  states: TableStates,
  { store, tenant }: Where,
  table: TableRef,
  named: string | undefined,
): Promise<{ readonly catalog: string; readonly state: TableState }> {
  const found: { readonly catalog: string; readonly state: TableState }[] = []
  const failures: Fault[] = []
  for (const catalog of named === undefined ? await nicknames(store, tenant) : [named]) {
    const credential = await findCatalogCredential(store, tenant, catalog)
    if (credential === undefined) continue
    const state = await stateIn(states, tenant, credential, table)
    if (state instanceof Fault) failures.push(state)
    else if (state !== undefined) found.push({ catalog, state })
  }
  const [first, second] = found
  const [failure] = failures
  if (first === undefined && failure !== undefined) throw failure
  if (first === undefined)
    throw new Fault('unprocessable', `No catalog has the table ${tableName(table)}, so it cannot be checked.`)
  if (second !== undefined)
    throw new Fault(
      'unprocessable',
      `Several catalogs have a table ${tableName(table)}. Name the catalog, in a version by a pin.`,
    )
  return first
}

async function nicknames(store: Store, tenant: TenantId): Promise<readonly string[]> {
  const { items } = await listCatalogCredentials(store, tenant)
  return items.map(({ nickname }) => nickname)
}

/**
 * Asks one catalog.
 * @returns undefined where it does not have the table, and a Fault that names the catalog where it does not answer
 */
async function stateIn(
  states: TableStates,
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef,
): Promise<TableState | Fault | undefined> {
  try {
    return await states.load(tenant, credential, table)
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return undefined
    if (thrown instanceof CatalogError) return namedFault('upstream_failed', credential, thrown)
    if (
      thrown instanceof Fault &&
      (thrown.kind === 'upstream_failed' || thrown.kind === 'upstream_forbidden')
    )
      return namedFault(thrown.kind, credential, thrown)
    throw thrown
  }
}

function namedFault(
  kind: FaultKind,
  { nickname }: CatalogCredential,
  cause: { readonly publicMessage: string },
): Fault {
  const message = `The catalog ${nickname} did not say whether it has the table: ${cause.publicMessage}`
  return new Fault(kind, message, { cause })
}
