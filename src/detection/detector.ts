/**
 * Takes queued snapshots to the workers and stores the results. It runs on every replica. The lease of a claim keeps
 * two replicas from scanning one snapshot, and returns the claims of a lost process to the queue.
 */

import { Fault } from '../base/fault.ts'
import { outsideOfRequests } from '../base/outside.ts'
import type { StandBack } from '../base/right-of-way.ts'
import { type CatalogCredential, catalogOf } from '../core/catalog.ts'
import { isBuiltInClass } from '../core/classifier.ts'
import { coverageOf } from '../core/detection.ts'
import type { ProtectedForm } from '../core/protected-form.ts'
import type { Territory } from '../core/territory.ts'
import { limits } from '../limits.ts'
import { credentialAbove } from '../storage/access.ts'
import { admitLocation, parseRoots } from '../storage/locations.ts'
import { toReadFailure } from '../storage/read-failure.ts'
import { noteOutside } from '../storage/read-territory.ts'
import type { OutsideFile } from '../storage/territory-guard.ts'
import type { TableAccess } from '../storage/vended-access.ts'
import { findCatalogCredentialById } from '../store/catalog-credential/catalog-credentials.ts'
import { type ClaimedRun, claimRuns, retryRun } from '../store/detection/claims.ts'
import { activeClassifiers } from '../store/detection/classifiers.ts'
import { finishRun } from '../store/detection/results.ts'
import { queueDepth } from '../store/detection/run-list.ts'
import type { DetectionParts } from './parts.ts'
import type { ScanResult } from './scan/scan-snapshot.ts'
import { StoreTurns } from './store-turns.ts'
import { resolveTable } from './table-of-run.ts'
import { territoryToRead } from './territory-to-read.ts'
import { withdrawTags } from './withdraw-tags.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { ScanOutcome } from './worker-protocol.ts'

/** Attempts after which the scan of a snapshot has failed. */
const detectionTriesMax = 3

interface DetectorOptions {
  readonly pool: WorkerPool
  readonly access: TableAccess
  /** Whether findings with a confidence of 0.85 or more are sent to a chat webhook. */
  readonly alerts: boolean
  /** Called when a run has stored an alert to send. */
  readonly onAlert: () => void
  /** Milliseconds; the value of limits.ts unless a test shortens it. */
  readonly leaseMs?: number
  readonly retryMs?: number
}

type FindCredential = (run: ClaimedRun) => Promise<CatalogCredential>

/** Milliseconds between two polls of the queue for runs of other replicas, due retries and expired leases. */
const lookMs = 5_000
const retryMsDefault = 10_000
const recordTriesMax = 4

export class Detector {
  readonly #running = new Set<Promise<void>>()
  readonly #timer: Timer
  readonly #standBack: StandBack
  readonly #turns: StoreTurns
  #claiming: Promise<void> | undefined
  #again = false
  #depthAtMs = -Infinity
  #stopped = false

  constructor(
    private readonly parts: DetectionParts,
    private readonly options: DetectorOptions,
  ) {
    this.#standBack = parts.commits.standBack()
    this.#turns = new StoreTurns(this.#standBack)
    this.#timer = setInterval(() => this.wake(), lookMs)
    this.#timer.unref()
  }

  /** Polls the queue at once. */
  wake(): void {
    if (this.#stopped) return
    this.#again = true
    this.#claiming ??= outsideOfRequests(() => this.#claim()).finally(() => {
      this.#claiming = undefined
    })
  }

  /** Resolves when nothing is due and nothing runs; for tests and shutdown. */
  async idle(): Promise<void> {
    this.wake()
    while (this.#claiming !== undefined || this.#running.size > 0)
      await Promise.all([this.#claiming, ...this.#running])
  }

  /** Stops claiming. The pool ends the scans that run, and another process claims them when their leases expire. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#claiming
    await Promise.all(this.#running)
  }

  async #claim(): Promise<void> {
    while (this.#again && !this.#stopped) {
      if (this.#freeCount === 0) return
      try {
        const isDrained = await this.#turns.take(() => this.#claimFree())
        if (isDrained && this.#running.size === 0) this.#standBack.renew()
        if (isDrained || performance.now() - this.#depthAtMs >= lookMs) await this.#measureQueue()
      } catch (err) {
        this.parts.log.error({ err }, 'the detection queue could not be read')
      }
    }
  }

  /** Claims one run for each free worker, in one transaction. @returns whether the queue had no more */
  async #claimFree(): Promise<boolean> {
    this.#again = false
    const limit = this.#freeCount
    if (limit === 0 || this.#stopped) return false
    const claimed = await claimRuns(this.parts.store, {
      limit,
      leaseMs: this.options.leaseMs ?? limits.detectionLeaseMs,
      triesMax: detectionTriesMax,
    })
    const credentials = this.#credentialsOfClaim()
    for (const run of claimed) this.#start(run, credentials)
    return claimed.length < limit
  }

  /** Looks up credentials after the claim, each once for all runs of the claim that name it. */
  #credentialsOfClaim(): FindCredential {
    const { store } = this.parts
    const found = new Map<string, Promise<CatalogCredential | undefined>>()
    const named = ({ tenant, credentialId }: ClaimedRun) => {
      if (credentialId === undefined) return undefined
      const key = `${tenant} ${credentialId}`
      const credential =
        found.get(key) ?? this.#turns.take(() => findCatalogCredentialById(store, tenant, credentialId))
      found.set(key, credential)
      return credential
    }
    return async (run) => (await named(run)) ?? (await this.#turns.take(() => credentialAbove(store, run)))
  }

  /** The queue is not measured at every claim, because counting a backlog takes longer than claiming from it. */
  async #measureQueue(): Promise<void> {
    const { store, metrics } = this.parts
    this.#depthAtMs = performance.now()
    const { queued, oldestSeconds } = await this.#turns.take(() => queueDepth(store))
    metrics.detectionQueued.set(queued)
    metrics.detectionOldestSeconds.set(oldestSeconds)
  }

  /** A run holds its worker from its claim to its end, so no more runs are claimed than can start. */
  get #freeCount(): number {
    return Math.max(this.options.pool.size - this.#running.size, 0)
  }

  #start(run: ClaimedRun, credentials: FindCredential): void {
    const work = this.#scan(run, credentials)
      .catch((err: unknown) =>
        this.parts.log.error({ err, runId: run.runId }, 'the result of a detection run could not be stored'),
      )
      .finally(() => {
        this.#running.delete(work)
        this.wake()
      })
    this.#running.add(work)
  }

  async #scan(claimed: ClaimedRun, credentials: FindCredential): Promise<void> {
    const { store, metrics } = this.parts
    const started = performance.now()
    const { run, outcome } = await this.#perform(claimed, credentials)
    if (this.#stopped && outcome.kind === 'failed') {
      await this.#turns.take(() => retryRun(store, run, outcome.reason, 0, { counts: false }))
      return
    }
    const mayPass = outcome.kind === 'failed' && outcome.passing && run.tries < detectionTriesMax
    if (mayPass) {
      await this.#turns.take(() => retryRun(store, run, outcome.reason, this.#retryMs(run.tries)))
      metrics.detectionRuns.inc({ outcome: 'retried' })
      return
    }
    const result: ScanResult =
      outcome.kind === 'scanned'
        ? outcome.result
        : { findings: [], report: emptyReport, reason: outcome.reason }
    await this.#record(run, result)
    metrics.detectionScanSeconds.observe((performance.now() - started) / 1_000)
  }

  async #perform(
    claimed: ClaimedRun,
    credentials: FindCredential,
  ): Promise<{ readonly run: ClaimedRun; readonly outcome: ScanOutcome }> {
    let run = claimed
    try {
      const credential = await credentials(claimed)
      run = await resolveTable(this.parts, run, credential)
      const access = await this.options.access(run.tenant, credential, run.table, run.tries > 1)
      // The location is checked first, so that no worker starts for a location that it would refuse.
      admitLocation(run.metadataLocation, parseRoots(access.roots))
      await this.#standBack.clear()
      const { metadataLocation, isLast, isRescan } = run
      const territory = await this.#territoryOf(run, credential)
      const forms = await this.#formsOf(run)
      const classifiers = await this.#turns.take(() => activeClassifiers(this.parts.store, run.tenant))
      const { table } = run
      const task = { metadataLocation, access, territory, isLast, isRescan, forms, classifiers, table }
      const outcome = await this.options.pool.run(task)
      const { outside = [] } = outcome.kind === 'scanned' ? outcome.result : outcome
      await this.#noteOutside(run, credential, outside)
      return { run, outcome }
    } catch (thrown) {
      if (thrown instanceof Fault) {
        this.parts.log.warn({ err: thrown, runId: run.runId }, 'a detection run could not be started')
        return {
          run,
          outcome: { kind: 'failed', reason: thrown.publicMessage, passing: thrown.kind !== 'misconfigured' },
        }
      }
      const { reason, passing } = toReadFailure(thrown, 'the snapshot')
      return { run, outcome: { kind: 'failed', reason, passing } }
    }
  }

  /** What values of the table's protected columns look like. A failure fails the attempt, which is made again. */
  async #formsOf({ tenant, table }: ClaimedRun): Promise<readonly ProtectedForm[]> {
    const { protectedForms } = this.parts
    if (table === undefined || protectedForms === undefined) return []
    return await this.#turns.take(() => protectedForms(tenant, table))
  }

  /** Undefined where the table is not known, or the index does not know it yet. */
  async #territoryOf(
    { tenant, table }: ClaimedRun,
    credential: CatalogCredential,
  ): Promise<Territory | undefined> {
    if (table === undefined) return undefined
    return await this.#turns.take(() => territoryToRead(this.parts.store, tenant, table, credential))
  }

  /** Lists files outside the table's territory as conflicts. A failure costs the list, not the scan. */
  async #noteOutside(
    { tenant, table, runId }: ClaimedRun,
    credential: CatalogCredential,
    outside: readonly OutsideFile[],
  ): Promise<void> {
    if (table === undefined || outside.length === 0) return
    const { id: credentialId } = credential
    const owner = { catalog: catalogOf(credential), credentialId, table, tableUuid: undefined }
    try {
      await this.#turns.take(() => noteOutside(this.parts.store, tenant, owner, outside))
    } catch (err) {
      this.parts.log.warn({ err, runId }, 'files outside the territory of a table could not be listed')
    }
  }

  async #record(run: ClaimedRun, result: ScanResult): Promise<void> {
    const { store, metrics, log } = this.parts
    const scan = { ...result, alert: this.options.alerts }
    for (let tries = 1; ; tries++) {
      try {
        const {
          recorded,
          alertDue,
          withdrawable = [],
        } = await finishRun(store, run, scan, (work) => this.#turns.take(work))
        if (!recorded) {
          log.warn(
            { runId: run.runId },
            'a detection run was claimed by another process because its lease had expired',
          )
          return
        }
        metrics.detectionRuns.inc({
          outcome: result.reason !== '' ? 'failed' : coverageOf(result.report).isPartial ? 'partial' : 'done',
        })
        for (const { finding } of result.findings)
          metrics.detectionFindings.inc({
            // The names of tenants' classifiers would be labels without end.
            class: isBuiltInClass(finding.class) ? finding.class : 'custom',
            confidence: String(finding.confidence),
          })
        metrics.detectionFiles.inc({ outcome: 'scanned' }, result.report.filesScanned)
        metrics.detectionFiles.inc({ outcome: 'unsupported' }, result.report.filesUnsupported)
        metrics.detectionFiles.inc({ outcome: 'failed' }, result.report.filesFailed)
        metrics.detectionFiles.inc({ outcome: 'left_out' }, result.report.filesLeftOut)
        if (result.reason !== '')
          log.warn({ runId: run.runId, reason: result.reason }, 'a snapshot could not be scanned')
        if (alertDue) this.options.onAlert()
        await withdrawTags(this.parts, run.tenant, withdrawable, (work) => this.#turns.take(work))
        return
      } catch (err) {
        const passing = err instanceof Fault && err.kind === 'unavailable'
        if (!passing || tries >= recordTriesMax) throw err
        await Bun.sleep(50 * 2 ** tries)
      }
    }
  }

  #retryMs(tries: number): number {
    return (this.options.retryMs ?? retryMsDefault) * 2 ** (tries - 1)
  }
}

const emptyReport: ScanResult['report'] = {
  snapshotIds: [],
  tableUuid: undefined,
  filesAdded: 0,
  filesScanned: 0,
  filesLeftOut: 0,
  filesUnsupported: 0,
  filesFailed: 0,
  bytesRead: 0,
  valuesSampled: 0,
  columns: 0,
  findingsLeftOut: 0,
  problems: [],
}
