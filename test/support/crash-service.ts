/** Starts the services of crash tests: one that dies in a process of its own, and one that recovers after it. */

import { type App, startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

/** Milliseconds for which a dead predecessor's intents are left alone. */
export const leaseMs = 300

/** @param journalDirectory the same for the service that dies and for the one after it */
export function startCrashService(
  store: Store,
  journalDirectory: string,
  passCrashPoint: (point: CrashPoint) => void = () => {},
): Promise<App> {
  return startApp({
    journalDirectory,
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    }),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
    jobsByTime: false,
    intentTimes: { leaseMs, upstreamMs: 0 },
    lostAnswerWaitsMs: [0, 20],
    passCrashPoint,
  })
}
