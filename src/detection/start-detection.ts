/** Starts detection: queue, workers, detector, poller, storage events and alerts (docs/reference/detection.md). */

import type { Secret } from '../base/secret.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { tableAccess } from '../storage/vended-access.ts'
import { AlertSender } from './alert.ts'
import { Detector } from './detector.ts'
import { HitQueue } from './hit-queue.ts'
import type { DetectionParts } from './parts.ts'
import { SnapshotPoller } from './poll-snapshots.ts'
import { StorageEventListener } from './storage-events.ts'
import { trialsInTurn } from './trials-in-turn.ts'
import type { TrialParts } from './try-classifier.ts'
import { withdrawDue } from './withdraw-tags.ts'
import { WorkerPool } from './worker-pool.ts'

interface DetectionOptions {
  readonly parts: DetectionParts
  /** Maximum number of worker threads (SVC_L3_WORKERS). */
  readonly workers: number
  /** Without it, alerts do nothing. */
  readonly chatWebhookUrl: Secret | undefined
  readonly s3Events:
    | { readonly queueUrl: string; readonly tenantId: TenantId; readonly region: string }
    | undefined
  /** The public address of this service, for links in alerts. */
  readonly baseUrl: () => URL
}

export interface Detection {
  readonly queue: HitQueue
  readonly poller: SnapshotPoller
  readonly detector: Detector
  /** What trials of classifiers on tables need. */
  readonly trials: Pick<TrialParts, 'access' | 'scan'>
  /** Takes tags away whose time has come. */
  withdrawDue(signal: AbortSignal): Promise<void>
  /** Whether the pool has started (docs/reference/operations.md 1.2). */
  ready(): boolean
  stop(): Promise<void>
}

/** Starts everything but the poller: the caller schedules it and elects the replica that runs it. */
export function startDetection(options: DetectionOptions): Detection {
  const { parts, chatWebhookUrl, s3Events } = options
  const pool = new WorkerPool({
    workerUrl: new URL('./worker.ts', import.meta.url),
    size: options.workers,
    taskMs: limits.detectionScanMs,
    onRestart: () => parts.metrics.detectionWorkerRestarts.inc(),
  })
  const alerts =
    chatWebhookUrl === undefined
      ? undefined
      : new AlertSender(parts, { webhookUrl: chatWebhookUrl, baseUrl: options.baseUrl })
  const access = tableAccess(parts)
  const detector = new Detector(parts, {
    pool,
    access,
    alerts: alerts !== undefined,
    onAlert: () => alerts?.wake(),
  })
  const wake = () => detector.wake()
  const queue = new HitQueue(parts.store, parts.metrics, wake)
  const listener =
    s3Events === undefined
      ? undefined
      : new StorageEventListener(
          { ...parts, queue },
          { queueUrl: s3Events.queueUrl, region: s3Events.region, tenant: s3Events.tenantId },
        )
  return {
    queue,
    poller: new SnapshotPoller(parts, queue, wake),
    detector,
    trials: { access, scan: trialsInTurn((task) => pool.run(task)) },
    withdrawDue: (signal) => withdrawDue(parts, wake, signal),
    ready: () => pool.ready,
    async stop() {
      await listener?.stop()
      const stopped = detector.stop()
      pool.close()
      await stopped
      await alerts?.stop()
    },
  }
}
