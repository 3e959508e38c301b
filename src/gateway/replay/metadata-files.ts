/** Reads what stored changes were based on: metadata files, and the manifests that a policy asks about. */

import type { ByteBudget } from '../../base/byte-budget.ts'
import { CatalogError } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { Replayed, StoredChange } from '../../core/policy-replay.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { ManifestFacts } from '../../policy/manifest-facts.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { storageRoots } from '../../storage/roots.ts'
import { openStorage, type StorageAccess } from '../../storage/storage.ts'
import { parseMetadata } from '../../storage/table-metadata-file.ts'
import type { TableAccess } from '../../storage/vended-access.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../../store/store.ts'
import { isJudgedOnTable } from '../stages/action-subjects.ts'
import { readCommitFacts } from '../stages/manifest-facts.ts'
import { resultOfStored, unavailable } from './judge-stored.ts'

interface FileParts {
  readonly store: Store
  readonly tableAccess: TableAccess
  readonly budget: ByteBudget
}

export interface MetadataFiles {
  /**
   * The content of the file that a change is based on, or why it cannot be replayed. Undefined where policies see no table
   * before it.
   */
  read(change: StoredChange): Promise<Uint8Array | Replayed | undefined>
  /** What the manifests of a commit say; undefined where they cannot be looked for. */
  facts(change: StoredChange, metadata: Uint8Array | undefined): Promise<ManifestFacts | undefined>
}

/** The files of a batch. What may be read of a table is looked up once. */
export function metadataFiles(parts: FileParts, tenant: TenantId): MetadataFiles {
  const credentials = new Map<string, Promise<CatalogCredential | undefined>>()
  const accesses = new Map<string, Promise<StorageAccess>>()
  const credentialOf = ({ credentialId: id }: StoredChange) =>
    once(credentials, id, () => findCatalogCredentialById(parts.store, tenant, id))
  return {
    async read(change) {
      // A view’s metadata is not what policies see of a change to it.
      if (change.baseMetadataLocation === '' || !isJudgedOnTable(change.action)) return undefined
      const credential = await credentialOf(change)
      if (credential === undefined || storageRoots(credential.config).length === 0)
        return unavailable('catalog')
      const { table } = change
      const key = JSON.stringify([credential.id, tableKey(table)])
      try {
        const access = await once(accesses, key, () => parts.tableAccess(tenant, credential, table))
        const storage = openStorage(access, parts.budget)
        try {
          return await storage.readAll(change.baseMetadataLocation, limits.tableMetadataBytesMax)
        } finally {
          await storage.close()
        }
      } catch (thrown) {
        if (thrown instanceof ReadFailure)
          return unavailable(thrown.reason === 'a file is not there' ? 'base' : 'storage')
        if (thrown instanceof CatalogError) return unavailable('storage')
        throw thrown
      }
    },
    async facts(change, metadata) {
      const credential = await credentialOf(change)
      if (credential === undefined) return undefined
      const base = metadata && parseMetadata(metadata)
      const about = { tenant, table: change.table }
      const result = () => resultOfStored(change, base)
      return await readCommitFacts(parts, { credential }, about, base, result, { nullCounts: true })
    },
  }
}

function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = made.get(key) ?? make()
  made.set(key, found)
  return found
}
