/** Reads which files a snapshot names, for readers who get signatures for these alone. */

import type { ByteBudget } from '../../base/byte-budget.ts'
import { limits } from '../../limits.ts'
import { canonicalPath, isWithin } from '../../storage/canonical-path.ts'
import { isLive, type ManifestEntry, visitEntries } from '../../storage/iceberg/entries.ts'
import { manifestsIn } from '../../storage/iceberg/manifest-list.ts'
import { openStorage, type StorageAccess } from '../../storage/storage.ts'
import { type FileSet, FileSetBuilder } from './file-set.ts'

/**
 * The metadata file, manifest list, manifests and live files of a snapshot, as far as they lie in the territory.
 * @param access asked where some file must be read
 * @param prefixes the table's territory
 * @throws ReadFailure, Fault
 */
export async function snapshotFiles(
  access: () => Promise<StorageAccess>,
  budget: ByteBudget,
  {
    manifestList,
    metadataFile,
  }: { readonly manifestList: string | undefined; readonly metadataFile: string },
  prefixes: readonly string[],
): Promise<FileSet> {
  const set = new FileSetBuilder()
  const take = (location: string): boolean => {
    const canonical = canonicalPath(location)
    if (!canonical.isClear || !prefixes.some((prefix) => isWithin(prefix, canonical.path))) return false
    set.add(canonical.path)
    return true
  }
  take(metadataFile)
  if (manifestList === undefined || !take(manifestList)) return set.build()
  const storage = openStorage(await access(), budget)
  try {
    return await storage.during(async () => {
      const list = await storage.readAll(manifestList, limits.tableMetadataBytesMax)
      const manifests = manifestsIn(list, limits.engineManifestsMax)
      // What lies outside is not opened, and so what it names is not signed.
      const inside = manifests.values().filter(({ location }) => take(location))
      const takeLive = (entry: ManifestEntry) => void (isLive(entry) && take(entry.location))
      await visitEntries(inside, takeLive, { storage })
      return set.build()
    })
  } finally {
    await storage.close()
  }
}
