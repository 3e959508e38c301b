/**
 * Advances the replays of all tenants, a batch of each in turn. It holds one batch in memory, keeps what that came to
 * before it takes the next, and so goes on where a process stopped. Policies run in a worker of its own.
 */

import type { Logger } from 'pino'
import type { ByteBudget } from '../../base/byte-budget.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { inParallel } from '../../base/in-parallel.ts'
import { asOwner } from '../../base/owner.ts'
import type { RightOfWay } from '../../base/right-of-way.ts'
import { SingleWorker } from '../../base/single-worker.ts'
import { type Replayed, replayBounds, type StoredChange } from '../../core/policy-replay.ts'
import { tableKey } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import type { ManifestFacts } from '../../policy/manifest-facts.ts'
import type { TableAccess } from '../../storage/vended-access.ts'
import {
  advanceReplay,
  endReplay,
  nextChanges,
  nextReplay,
  type OpenReplay,
} from '../../store/commit/replays.ts'
import type { Store } from '../../store/store.ts'
import { isJudgedOnTable } from '../stages/action-subjects.ts'
import { hiddenTables } from './hidden-tables.ts'
import { unavailable } from './judge-stored.ts'
import { type MetadataFiles, metadataFiles } from './metadata-files.ts'
import type { WorkerOutcome, WorkerTask } from './replay-worker.ts'

export interface ReplayParts {
  readonly store: Store
  readonly tableAccess: TableAccess
  readonly budget: ByteBudget
  readonly commits: RightOfWay
  readonly log: Logger
  readonly clock: Clock
  readonly replayWorker: SingleWorker<WorkerTask, WorkerOutcome>
}

/** Changes of one task, so that the time of a task is bounded by the time of a policy. */
const taskChanges = 10
/** Milliseconds that a replay may take from its start. */
const replayMsMax = 60 * 60_000

/** The worker in which replays evaluate policies. It starts with the first task. */
export function replayWorker(): ReplayParts['replayWorker'] {
  return new SingleWorker({
    url: new URL('./replay-worker.ts', import.meta.url),
    taskMs: taskChanges * 2 * limits.policyWorkerMs + 10_000,
    waitingMax: replayBounds.batchChanges,
    busy: 'Too many commits wait to be replayed.',
    crashed: 'Judging the commits crashed.',
    late: 'Judging the commits takes too long.',
  })
}

/** Advances replays until none is running. */
export async function advanceReplays(parts: ReplayParts, signal: AbortSignal): Promise<void> {
  const { store, log, commits } = parts
  const standBack = commits.standBack()
  for (;;) {
    await standBack.clear()
    standBack.renew()
    signal.throwIfAborted()
    const replay = await nextReplay(store)
    if (replay === undefined) return
    try {
      await advance(parts, replay, signal)
    } catch (err) {
      signal.throwIfAborted()
      // The database or the memory is short now; the next run goes on.
      if (err instanceof Fault && (err.kind === 'unavailable' || err.kind === 'overloaded')) throw err
      log.error({ err, replay: replay.id }, 'a replay of a policy failed')
      const problem = err instanceof Fault ? err.publicMessage : 'The replay failed; the log says why.'
      await endReplay(store, replay.tenant, replay.id, 'failed', { problem })
    }
  }
}

async function advance(parts: ReplayParts, replay: OpenReplay, signal: AbortSignal): Promise<void> {
  if (parts.clock.now() - replay.createdAt.getTime() > replayMsMax)
    throw new Fault('unprocessable', 'The replay took more than an hour. Replay fewer commits.')
  const changes = await nextChanges(parts.store, replay, {
    changesMax: replayBounds.batchChanges,
    bytesMax: replayBounds.batchBytes,
  })
  await advanceReplay(parts.store, replay, await replayBatch(parts, replay, changes, signal))
}

/** Replays a batch: each metadata file is read once, and judged with all changes that were based on it. */
async function replayBatch(
  parts: ReplayParts,
  replay: OpenReplay,
  changes: readonly StoredChange[],
  signal: AbortSignal,
): Promise<readonly (readonly [StoredChange, Replayed])[]> {
  const files = metadataFiles(parts, replay.tenant)
  const tables = changes.map(({ table }) => table)
  const hidden = await hiddenTables(parts.store, replay.tenant, tables, replay.startedBy)
  const hiddenKeys = new Set(hidden.map(tableKey))
  const isHidden = ({ table }: StoredChange) => hiddenKeys.has(tableKey(table))
  const shown = changes.filter((change) => !isHidden(change))
  const tasks = [...Map.groupBy(shown, fileOf).values()].flatMap((same) =>
    Array.from({ length: Math.ceil(same.length / taskChanges) }, (_, index) =>
      same.slice(index * taskChanges, (index + 1) * taskChanges),
    ),
  )
  const results = new Map<StoredChange, Replayed>()
  await inParallel(tasks, replayBounds.readsMax, async (task) => {
    signal.throwIfAborted()
    await asOwner(replay.tenant, () =>
      parts.budget.during(async () => {
        const judged = await judgeTask(parts, replay, files, task)
        for (const [index, change] of task.entries())
          results.set(change, judged[index] ?? unavailable('request'))
      }),
    )
  })
  return changes.map((change) => [
    change,
    isHidden(change) ? unavailable('hidden') : (results.get(change) ?? unavailable('request')),
  ])
}

const fileOf = ({ credentialId, table, action, baseMetadataLocation }: StoredChange) =>
  JSON.stringify([credentialId, tableKey(table), isJudgedOnTable(action), baseMetadataLocation])

async function judgeTask(
  parts: ReplayParts,
  replay: OpenReplay,
  files: MetadataFiles,
  changes: readonly StoredChange[],
): Promise<readonly Replayed[]> {
  const [first] = changes
  if (first === undefined) return []
  if (changes.every(({ body }) => body.length === 0)) return changes.map(() => unavailable('body'))
  const metadata = await files.read(first)
  if (metadata !== undefined && 'outcome' in metadata) return changes.map(() => metadata)
  const { draft } = replay.request
  const judge = async (some: readonly StoredChange[], facts?: ManifestFacts) => {
    try {
      const task = { kind: 'replay', draft, metadata, changes: some, ...(facts && { facts }) } as const
      const done = await parts.replayWorker.perform(replay.tenant, task)
      return done.kind === 'replay' ? done.results : []
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.kind !== 'unprocessable') throw thrown
      return some.map(() => unavailable('judging'))
    }
  }
  const results = await judge(changes)
  const whole: Replayed[] = []
  for (const [index, change] of changes.entries()) {
    const result = results[index] ?? unavailable('request')
    if (result.outcome !== 'asks_manifests') whole.push(result)
    else {
      const facts = await files.facts(change, metadata)
      const [again] = facts === undefined ? [] : await judge([change], facts)
      whole.push(again === undefined || again.outcome === 'asks_manifests' ? unavailable('manifests') : again)
    }
  }
  return whole
}
