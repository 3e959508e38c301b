/**
 * Sweeps catalogs: loads every table once and takes its folders into the territory index, so that tables which nobody
 * commits to or reads have their territory too. A sweep that is interrupted goes on where it was.
 */

import type { Logger } from 'pino'
import { inParallel } from '../../base/in-parallel.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { CatalogError } from '../../catalog/catalog.ts'
import { listNamespaces } from '../../catalog/list-namespaces.ts'
import type { OpenCatalogs } from '../../catalog/open-catalog.ts'
import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import { isPathIdentifier, type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { UnusableCount } from '../../core/unusable-names.ts'
import { feedTerritory, type RootedOwner } from '../../storage/feed-territory.ts'
import { NameCases } from '../../storage/name-cases.ts'
import { hasTwoNames } from '../../storage/one-name.ts'
import { storageRoots } from '../../storage/roots.ts'
import { findCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import { tenantsToSweep } from '../../store/jobs/due-tenants.ts'
import type { Store } from '../../store/store.ts'
import { beginSweep, dueSweeps, endSweep, noteSweep, noteUnusable } from '../../store/territory/sweeps.ts'
import { territoryTableId } from '../../store/territory/territory-rows.ts'
import { foldersOf } from '../../wire/iceberg/named-locations.ts'
import { parseLoadTableResult, tableUuidOf } from '../../wire/iceberg/table-metadata.ts'

/** Milliseconds from the end of a catalog's sweep to its next. */
const territorySweepEveryMs = 24 * 3_600_000

/** Milliseconds of one run of the sweep over catalogs for territory; the next run goes on. */
const territorySweepMs = 10 * 60_000

/** Tables in one page of a listing, and tables that are loaded at once. */
const tablePage = 100
const loadsMax = 4

interface SweepParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
  readonly log: Logger
}

/** Sweeps every catalog that is due, one after the other, until the time for one run is over. */
export async function sweepTerritories(parts: SweepParts, signal: AbortSignal): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(territorySweepMs)])
  try {
    for (const tenant of await tenantsToSweep(parts.store, territorySweepEveryMs))
      for (const nickname of await dueSweeps(parts.store, tenant, territorySweepEveryMs)) {
        bounded.throwIfAborted()
        await sweepCatalog(parts, tenant, nickname, bounded)
      }
  } catch (thrown) {
    signal.throwIfAborted()
    // The next run goes on.
    if (!bounded.aborted) throw thrown
  }
}

async function sweepCatalog(
  parts: SweepParts,
  tenant: TenantId,
  nickname: string,
  signal: AbortSignal,
): Promise<void> {
  const { store, log } = parts
  const found = await findCatalogCredential(store, tenant, nickname)
  if (found === undefined) return
  const credential = await withItsNames(parts, tenant, found)
  const name = catalogOf(credential)
  const start = await beginSweep(store, tenant, credential, name)
  const counts = { tables: start.seen.size, failed: 0, problem: undefined as string | undefined }
  try {
    const catalog = parts.catalogs.get(tenant, credential)
    const unusable = new UnusableCount()
    for await (const tables of tablesOf(catalog, unusable, signal)) {
      const unseen = tables.filter((table) => !start.seen.has(territoryTableId(table)))
      await inParallel(unseen, loadsMax, async (table) => {
        signal.throwIfAborted()
        try {
          await takeTable(
            parts,
            tenant,
            catalog,
            { catalog: name, credentialId: credential.id, roots: storageRoots(credential.config) },
            table,
            signal,
          )
          counts.tables++
        } catch (err) {
          signal.throwIfAborted()
          counts.failed++
          counts.problem = `${tableName(table)} could not be read`
          log.warn({ err, tenant, catalog: nickname, table }, 'a table could not be swept for its territory')
        }
      })
      await noteSweep(store, tenant, credential.id, counts)
    }
    await noteUnusable(store, tenant, credential.id, unusable.found)
    const gone = await endSweep(store, tenant, credential.id, name, start, counts)
    log.info(
      { tenant, catalog: nickname, ...counts, gone },
      'a catalog was swept for the territory of its tables',
    )
  } catch (err) {
    signal.throwIfAborted()
    await noteSweep(store, tenant, credential.id, { ...counts, problem: 'the catalog could not be listed' })
    log.warn({ err, tenant, catalog: nickname }, 'a catalog could not be swept; the next run goes on')
  }
}

/**
 * The credential with what is known of the catalog's names: a sweep asks, so that what is bound to a name with capitals
 * governs also where no request ever wrote one. It is read again after the answer, which its version counts, so that the
 * catalog is opened as one that folds.
 */
async function withItsNames(
  { store, catalogs, log }: SweepParts,
  tenant: TenantId,
  credential: CatalogCredential,
): Promise<CatalogCredential> {
  try {
    const settled = await new NameCases(store, catalogs).settle(tenant, credential)
    if (settled === credential) return credential
    return (await findCatalogCredential(store, tenant, credential.nickname)) ?? credential
  } catch (err) {
    log.warn(
      { err, tenant, catalog: credential.nickname },
      'a catalog could not be asked whether it folds names',
    )
    return credential
  }
}

/** Feeds the index with one table. One that was dropped meanwhile is left out. */
async function takeTable(
  { store }: SweepParts,
  tenant: TenantId,
  catalog: Catalog,
  of: Pick<RootedOwner, 'catalog' | 'credentialId' | 'roots'>,
  table: TableRef,
  signal: AbortSignal,
): Promise<void> {
  let metadata: JsonObject
  try {
    metadata = await metadataOf(catalog, table, signal)
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return
    throw thrown
  }
  const owner = { ...of, table, tableUuid: tableUuidOf(metadata) }
  const fed = { owner, folders: foldersOf(metadata) }
  const first = (await feedTerritory(store, tenant, fed, 'sweep'))?.knownAs
  if (first !== undefined)
    await hasTwoNames(store, tenant, { kind: 'table', fed, first, source: 'sweep' }, async (other) =>
      tableUuidOf(await metadataOf(catalog, other, signal)),
    )
}

async function metadataOf(catalog: Catalog, table: TableRef, signal: AbortSignal): Promise<JsonObject> {
  const loaded = await catalog.loadTable(table, { snapshots: 'refs', signal })
  if (loaded.status !== 'loaded') throw new Error('the upstream answered 304 to an unconditional load')
  return parseLoadTableResult(loaded.body).metadata
}

/**
 * The tables of a catalog, a page at a time.
 * @param unusable takes the names that cannot be asked for
 */
async function* tablesOf(
  catalog: Catalog,
  unusable: UnusableCount,
  signal: AbortSignal,
): AsyncGenerator<readonly TableRef[]> {
  for await (const namespace of namespacesOf(catalog, [], unusable, signal)) {
    let pageToken: string | undefined
    do {
      const page = await catalog.listTables(namespace, {
        pageSize: tablePage,
        pageToken,
        signal,
      })
      for (const levels of page.unusable ?? []) unusable.add(levels)
      yield page.identifiers
      pageToken = page.nextPageToken
    } while (pageToken !== undefined)
  }
}

/** The namespaces below `parent`, at every depth that the catalog has. */
async function* namespacesOf(
  catalog: Catalog,
  parent: readonly string[],
  unusable: UnusableCount,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for await (const page of listNamespaces(catalog, parent, signal))
    for (const namespace of page) {
      // What is below it cannot be asked for either.
      if (!namespace.every(isPathIdentifier)) {
        unusable.add(namespace)
        continue
      }
      yield namespace
      if (namespace.length > parent.length && namespace.length < catalog.capabilities().namespaceDepthMax)
        yield* namespacesOf(catalog, namespace, unusable, signal)
    }
}
