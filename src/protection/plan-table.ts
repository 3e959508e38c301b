/** Loads what the plan of a table is made from: its state in the catalog, its columns and tags, and the rules of both. */

import { Fault } from '../base/fault.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { foldTable, nameCaseOf } from '../core/name-case.ts'
import { currentSchema } from '../core/seen-table.ts'
import { type TableRef, tableName } from '../core/table-ref.ts'
import type { SchemaColumn } from '../core/table-schema.ts'
import type { TenantId } from '../core/tenant.ts'
import { NameCases } from '../storage/name-cases.ts'
import {
  findCatalogCredential,
  listCatalogCredentials,
} from '../store/catalog-credential/catalog-credentials.ts'
import { type RunQuery, readGovernance } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'
import { scopeVersions } from '../store/transform/keys.ts'
import { rulesOfTable } from '../store/transform/rules.ts'
import type { TableState } from '../wire/iceberg/table-state.ts'
import {
  type ColumnProblem,
  type PlannedTable,
  type ResolvedTable,
  resolveColumns,
} from './resolve-columns.ts'

/** A table as a catalog has it. */
export interface LoadedTable {
  /** Its one name: a catalog that folds names answers to every spelling. */
  readonly table: TableRef
  readonly state: TableState
}

/**
 * The table in the catalog named, or in the tenant's only one.
 *
 * @throws Fault `bad_request` where there are several, `not_found`, `upstream_failed`
 */
export async function loadState(
  { store, states }: { readonly store: Store; readonly states: TableStates },
  tenant: TenantId,
  table: TableRef,
  named: string | undefined,
  signal?: AbortSignal,
): Promise<LoadedTable> {
  const credential = await findCredential(store, tenant, named)
  try {
    const own = await ownName({ store, states }, tenant, credential, table)
    return { table: own, state: await states.load(tenant, credential, own, signal) }
  } catch (thrown) {
    if (!(thrown instanceof CatalogError)) throw thrown
    if (thrown.code === 'ErrTableNotFound')
      throw new Fault('not_found', 'The catalog has no such table.', { cause: thrown })
    throw new Fault('upstream_failed', thrown.publicMessage, { cause: thrown })
  }
}

/** The name that the catalog has for a table. Only names with capitals make it ask. @throws as NameCases.settle */
async function ownName(
  { store, states }: { readonly store: Store; readonly states: TableStates },
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef,
): Promise<TableRef> {
  const folded = foldTable(table)
  if (folded === table) return table
  const settled = await new NameCases(store, states.catalogs).settle(tenant, credential)
  return nameCaseOf(settled) === 'folded' ? folded : table
}

async function findCredential(
  store: Store,
  tenant: TenantId,
  named: string | undefined,
): Promise<CatalogCredential> {
  let nickname = named
  if (nickname === undefined) {
    const { items } = await listCatalogCredentials(store, tenant)
    if (items.length > 1) throw new Fault('bad_request', 'There are several catalogs: name one as `catalog`.')
    nickname = items[0]?.nickname
  }
  const credential = nickname === undefined ? undefined : await findCatalogCredential(store, tenant, nickname)
  if (credential === undefined) throw new Fault('not_found', 'There is no such catalog.')
  return credential
}

/**
 * What is done to each column of a schema, and what stands in its way.
 *
 * @throws Fault `not_found` for a table that no commit through the gateway has made known
 */
export async function resolveTable(
  run: RunQuery,
  tenant: TenantId,
  table: TableRef,
  schema: readonly SchemaColumn[],
  keyFieldIds: ReadonlySet<number>,
): Promise<ResolvedTable> {
  const governance = await readGovernance(run, table)
  if (governance === undefined)
    throw new Fault('not_found', 'There is no such table. A table is known here after its first commit.')
  return await resolveGoverned(run, tenant, table, { governed: governance.columns, schema, keyFieldIds })
}

/** The same of a table whose columns were read already. */
export async function resolveGoverned(
  run: RunQuery,
  tenant: TenantId,
  table: TableRef,
  known: Pick<PlannedTable, 'governed' | 'schema' | 'keyFieldIds'>,
): Promise<ResolvedTable> {
  const tags = [...new Set(known.governed.flatMap((column) => column.tags))]
  const [rules, versions] = [await rulesOfTable(run, tenant, table, tags), await scopeVersions(run, tenant)]
  return resolveColumns({ ...known, rules, scopeVersions: versions })
}

/** The same of the top columns that the graph knows as present ones; undefined for a table that is not known. */
export async function resolveKnown(
  run: RunQuery,
  tenant: TenantId,
  table: TableRef,
): Promise<ResolvedTable | undefined> {
  const governance = await readGovernance(run, table)
  if (governance === undefined) return undefined
  return await resolveGoverned(run, tenant, table, {
    governed: governance.columns,
    schema: currentSchema(governance),
    keyFieldIds: new Set(),
  })
}

/** Says which columns of a table cannot be protected as declared. */
export function problemSentence(table: TableRef, problems: readonly ColumnProblem[]): string {
  const each = problems.slice(0, 5).map(({ column, why }) => `${column}: ${why}`)
  return `${tableName(table)} cannot be protected as declared. ${each.join('; ')}.`
}
