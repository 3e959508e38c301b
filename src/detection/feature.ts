/** Findings, runs and classifiers, and the job that looks for new snapshots. Detection itself is started apart. */

import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { limits } from '../limits.ts'
import { classifierOperations } from './classifier-operations.ts'
import { detectionOperations } from './operations.ts'
import type { Detection } from './start-detection.ts'

interface DetectionNeeds {
  readonly catalogs: OpenCatalogs
  readonly detection: Detection
  /** Whether upstream catalogs of the kind alpha may announce commits. */
  readonly alphaWebhookEnabled: boolean
}

/** Detection's operations and its poll. @param needs detection, which was started */
export function detectionFeature(
  { store }: Core,
  { catalogs, detection, alphaWebhookEnabled }: DetectionNeeds,
): Feature {
  return {
    operations: [
      ...bind(detectionOperations, {
        store,
        catalogs,
        queue: detection.queue,
        enabled: alphaWebhookEnabled,
        wake: () => detection.detector.wake(),
      }),
      ...bind(classifierOperations, { store, catalogs, ...detection.trials }),
    ],
    jobs: [
      {
        name: 'poll-snapshots',
        schedule: `*/${limits.detectionPollMs / 1_000} * * * * *`,
        run: async (signal) => {
          await detection.poller.poll(signal)
          await detection.withdrawDue(signal)
        },
      },
    ],
  }
}
