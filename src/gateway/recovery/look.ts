/** Collects the evidence for recovery and for lost replies: one table as the upstream and the audit show it now. */

import { zstdDecompressSync } from 'node:zlib'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { threadTurn } from '../../base/thread-turns.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { IntentHead } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import { storageRoots } from '../../storage/roots.ts'
import { auditedBodies, auditedChain, auditedRequests } from '../../store/commit/audit.ts'
import { openIntentsOnTable } from '../../store/commit/commit-intents.ts'
import { parseCommitRequest } from '../../wire/iceberg/commit-request.ts'
import { historyOf } from '../base/metadata-history.ts'
import { decideIntents, type IntentOutcome } from './decide.ts'
import type { StaleIntent, TableEvidence } from './evidence.ts'
import { type LoadedNow, loadNow } from './load-now.ts'
import { type LookedAt, type LookParts, lookIntoFiles, readChain } from './look-into-files.ts'

export interface TableNow extends LoadedNow {
  readonly evidence: TableEvidence
}

interface LookOptions {
  /** Aborts the load and the wait. */
  readonly signal?: AbortSignal
  /** Milliseconds to wait for other commits in flight on the table. Absent: none. */
  readonly othersWaitMs?: number
  /** Where the metadata log no longer reaches back to one of these bases, the audit since that time is read as well. */
  readonly reach?: { readonly bases: readonly string[]; readonly since: Date }
  /** States of the table that are known, by metadata location. */
  readonly known?: ReadonlyMap<string, JsonObject>
}

/**
 * Collects the evidence of one table. The audit is read last, after the load and the wait for other commits: then no
 * running process will still audit what the load shows.
 * @param mine commit ids of the intents that are being decided; all other intents on the table are others
 * @returns undefined if the table does not exist
 * @throws what the upstream or the store throws
 */
export async function lookAtTable(
  parts: LookParts,
  at: LookedAt,
  mine: ReadonlySet<string>,
  options: LookOptions,
): Promise<TableNow | undefined> {
  const loaded = await loadNow(at.catalog, at.table, options.signal)
  if (loaded === undefined) return undefined
  const { result } = loaded
  const others = await othersOpen(parts, at, mine, options)
  const locations = historyOf(result).map((entry) => entry.metadataLocation)
  const earlier = await earlierFiles(parts, at, locations, options)
  const audited = await auditedBodies(parts.store, at.tenant, at.table, [...earlier, ...locations])
  return {
    ...loaded,
    evidence: {
      metadataLocation: result.metadataLocation,
      metadata: result.metadata,
      earlier,
      audited,
      others,
      ...(options.known && { known: options.known }),
    },
  }
}

/**
 * Decides intents on a table by what is known of it. Where that is not enough, its metadata files are read.
 * @param stale the intents that {@link lookAtTable} was told are being decided
 */
export async function decideAt(
  parts: LookParts,
  at: LookedAt,
  stale: readonly StaleIntent[],
  now: TableNow | undefined,
): Promise<ReadonlyMap<string, IntentOutcome>> {
  const isReadable = storageRoots(at.credential.config).length > 0
  const outcomes = decideIntents(stale, now && { ...now.evidence, isReadable })
  const isOpen = [...outcomes.values()].some(({ kind }) => kind === 'undecidable')
  if (now === undefined || !isOpen) return outcomes
  const shown = await lookIntoFiles(parts, at, stale, now.evidence)
  const takesAway = await anyTakesAway(parts, at, now.evidence)
  return decideIntents(stale, { ...now.evidence, takesAway, ...(shown && { shown }) })
}

/**
 * Audited requests that are looked into at most, in one turn and in all; bytes of one, compressed and not, and of all that
 * are read. Where there is more, any may have taken something away.
 */
const requestBounds = {
  pageMax: 50,
  requestsMax: 1_000,
  compressedBytesMax: 64 * 1024,
  bytesMax: 1024 * 1024,
  allBytesMax: 16 * 1024 * 1024,
} as const

async function anyTakesAway(
  { store }: LookParts,
  { tenant, table }: LookedAt,
  { audited }: TableEvidence,
): Promise<boolean> {
  const { pageMax, requestsMax, compressedBytesMax, bytesMax, allBytesMax } = requestBounds
  if (audited.size > requestsMax) return true
  const files = [...audited.keys()]
  let leftBytes: number = allBytesMax
  for (let start = 0; start < files.length; start += pageMax) {
    const page = files.slice(start, start + pageMax)
    for (const body of await auditedRequests(store, tenant, table, page, compressedBytesMax)) {
      const request = body && inflated(body, Math.min(bytesMax, leftBytes))
      if (request === undefined || (updatesIn(request)?.some(takesAway) ?? true)) return true
      leftBytes -= request.length
    }
    // Commits come first.
    await threadTurn()
  }
  return false
}

function takesAway(update: JsonObject): boolean {
  const action = update.get('action')
  return action === 'remove-snapshots' || action === 'remove-properties'
}

/** The files before those of the metadata log, if one of the bases is not in it. */
async function earlierFiles(
  parts: LookParts,
  at: LookedAt,
  locations: readonly string[],
  { reach }: LookOptions,
): Promise<readonly string[]> {
  if (reach === undefined) return []
  const isMissing = (files: readonly string[]) =>
    reach.bases.some((base) => base !== '' && !files.includes(base) && !locations.includes(base))
  const [oldest] = locations
  if (oldest === undefined || !isMissing([])) return []
  const follow = (file: string) => auditedChain(parts.store, at.tenant, at.table, file, reach.since)
  const chain = await follow(oldest)
  return isMissing(chain) ? await readChain(parts, at, [...chain, oldest], isMissing, follow) : chain
}

const othersPollMs = 50

/** The other intents on the table that are open after those in flight had time to be audited or withdrawn. */
async function othersOpen(
  { store }: LookParts,
  { tenant, table, credential }: LookedAt,
  mine: ReadonlySet<string>,
  { signal, othersWaitMs = 0 }: LookOptions,
): Promise<readonly StaleIntent[]> {
  const catalog = catalogOf(credential)
  const open = async () =>
    (await openIntentsOnTable(store, tenant, table)).filter(
      ({ intent }) =>
        !mine.has(intent.commitId) &&
        (intent.action ?? 'update-table') === 'update-table' &&
        (intent.catalog === undefined || intent.catalog === catalog),
    )
  let found = await open()
  let waitedFor = leasedOf(found)
  const deadlineMs = performance.now() + othersWaitMs
  while (waitedFor.size > 0 && performance.now() < deadlineMs && !signal?.aborted) {
    await Bun.sleep(othersPollMs)
    found = await open()
    waitedFor = waitedFor.intersection(leasedOf(found))
  }
  // What was opened after the load shows in nothing that was loaded.
  return found
    .filter(({ intent, isLeased }) => !isLeased || waitedFor.has(intent.commitId))
    .map(({ intent, isLeased, body }) => ({ ...staleIntent(intent, body), isLeased }))
}

function leasedOf(
  found: readonly { readonly intent: IntentHead; readonly isLeased: boolean }[],
): ReadonlySet<string> {
  return new Set(found.filter(({ isLeased }) => isLeased).map(({ intent }) => intent.commitId))
}

/** @param body compressed, as the intent holds it; undefined where it was not read */
export function staleIntent(intent: IntentHead, body: Uint8Array | undefined): StaleIntent {
  const request = body && inflated(body, 2 * limits.commitBodyBytesMax)
  return { intent, updates: request && updatesIn(request) }
}

/** The request; undefined where it is damaged or has more bytes. */
function inflated(body: Uint8Array, bytesMax: number): Uint8Array | undefined {
  try {
    return zstdDecompressSync(body, { maxOutputLength: Math.max(bytesMax, 1) })
  } catch {
    return undefined
  }
}

function updatesIn(request: Uint8Array): readonly JsonObject[] | undefined {
  try {
    return parseCommitRequest(request).updates.filter(isJsonObject)
  } catch {
    return undefined
  }
}
