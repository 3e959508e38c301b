/**
 * Reads a table's metadata files, where its catalog credential registers storage roots above them, and finds out whose
 * change each file brought. Two files at most are held at a time.
 */

import type { JsonObject } from '../../base/json.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storageRoots } from '../../storage/roots.ts'
import { openStorage, type Storage } from '../../storage/storage.ts'
import { readMetadata } from '../../storage/table-metadata-file.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import { filesOf, type ShownByFile, type StaleIntent, type TableEvidence } from './evidence.ts'
import { type Shown, shownBetween, snapshotsIn } from './shows-change.ts'

export type LookParts = Pick<GatewayParts, 'store' | 'tableAccess' | 'budget' | 'log'>

/** The table to look at. */
export interface LookedAt {
  readonly tenant: TenantId
  readonly table: TableRef
  readonly catalog: Catalog
  readonly credential: CatalogCredential
}

/** Metadata files, and bytes of them, that one look at a table reads at most. */
const filesMax = 200
const bytesMax = 64 * 1024 * 1024

/**
 * What the files that no audited commit wrote show of these intents and of all others on the table.
 * @returns undefined where nothing could be read
 */
export async function lookIntoFiles(
  parts: LookParts,
  at: LookedAt,
  stale: readonly StaleIntent[],
  table: TableEvidence,
): Promise<ShownByFile | undefined> {
  const files = filesOf(table)
  const bases = new Set(stale.map(({ intent }) => intent.baseMetadataLocation))
  const first = files.findIndex(({ metadataLocation }) => bases.has(metadataLocation))
  const wanted = [...files.keys()]
    .slice(Math.max(first + 1, 0))
    .filter((index) => !table.audited.has(files[index]?.metadataLocation ?? ''))
    .slice(-filesMax)
  if (wanted.length === 0) return undefined
  const claims = [...stale, ...table.others]
  return await withStorage(parts, at, async (storage) => {
    const shown = new Map<string, ReadonlyMap<string, Shown>>()
    const brought = new Set<string>()
    let last: { readonly index: number; readonly content: JsonObject | undefined } | undefined
    const contentOf = async (index: number) => {
      const file = files[index]
      if (file === undefined) return undefined
      if (last?.index === index) return last.content
      const content = file.after ?? (await readOr(storage, file.metadataLocation))
      last = { index, content }
      return content
    }
    for (const index of wanted) {
      const before = await contentOf(index - 1)
      const after = await contentOf(index)
      shown.set(
        files[index]?.metadataLocation ?? '',
        new Map(
          claims.map((claim) => {
            const { commitId } = claim.intent
            return [commitId, brought.has(commitId) ? 'no' : shownBetween(claim, before, after)]
          }),
        ),
      )
      // A snapshot that is there was made by this file or an earlier one.
      if (after !== undefined)
        for (const { intent } of claims)
          if (intent.snapshotIds.length > 0 && snapshotsIn(after, intent) !== 'none')
            brought.add(intent.commitId)
    }
    return shown
  })
}

/** How often the chain of files is followed further back. */
const stepsMax = 50

/**
 * Follows the files of a table back where neither its metadata log nor the audit goes on: the oldest file that is known
 * names those before it.
 * @param chain the files that are known, oldest first
 * @param isMissing whether the files do not reach back far enough yet
 * @param follow the audited files before a file, oldest first
 * @returns all of the chain but its last file
 */
export async function readChain(
  parts: LookParts,
  at: LookedAt,
  chain: readonly string[],
  isMissing: (files: readonly string[]) => boolean,
  follow: (file: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const known = await withStorage(parts, at, async (storage) => {
    let files = chain
    for (let step = 0; step < stepsMax && isMissing(files); step++) {
      const [oldest] = files
      const metadata = oldest === undefined ? undefined : await readOr(storage, oldest)
      if (oldest === undefined || metadata === undefined) break
      const log = historyOf({ metadata, metadataLocation: oldest }).map((entry) => entry.metadataLocation)
      const before = log.slice(0, -1).filter((file) => !files.includes(file))
      const [first] = before
      if (first === undefined) break
      files = [...(await follow(first)), ...before, ...files]
    }
    return files
  })
  return (known ?? chain).slice(0, -1)
}

/** Opens the table's storage for the work; undefined where none may be read. */
async function withStorage<T>(
  { tableAccess, budget, log }: LookParts,
  { tenant, credential, table }: LookedAt,
  work: (storage: Storage) => Promise<T>,
): Promise<T | undefined> {
  if (storageRoots(credential.config).length === 0) return undefined
  try {
    const storage = openStorage(await tableAccess(tenant, credential, table), budget)
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  } catch (err) {
    log.warn({ err, table }, 'the metadata files of a table with open intents could not be read')
    return undefined
  }
}

/** The content of a file; undefined where it is not there or cannot be read. */
async function readOr(storage: Storage, location: string): Promise<JsonObject | undefined> {
  if (storage.bytesRead > bytesMax) return undefined
  try {
    // Its bytes are released once the next file is read: two are held at most.
    return await storage.during(() => readMetadata(storage, location))
  } catch {
    return undefined
  }
}
