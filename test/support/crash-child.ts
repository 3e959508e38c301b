/** A service in a process of its own, which dies by SIGKILL where it is told to. Reads its orders from CRASH_CHILD. */

import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import type { CrashPoint } from '../../src/gateway/crash-points.ts'
import { openStore } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { addTenant } from './service.ts'
import { testSecretsKey } from './store.ts'

export interface CrashChildOrders {
  readonly databaseUrl?: string
  readonly dataDirectory?: string
  readonly template?: string
  /** Set on the first start: makes the tenant. */
  readonly catalogUrl?: string
  readonly crashAt?: CrashPoint
}

export interface CrashChildReady {
  readonly url: string
  readonly owner?: Awaited<ReturnType<typeof addTenant>>
}

const orders = JSON.parse(process.env.CRASH_CHILD ?? '{}') as CrashChildOrders
const store = await openStore({ ...orders, secretsKey: testSecretsKey, migrate: true, onNotice: () => {} })
const owner = orders.catalogUrl === undefined ? undefined : await addTenant(store, 'acme', orders.catalogUrl)
const app = await startApp({
  config: parseConfig({
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
  }),
  store,
  metrics: createMetrics(),
  log: createLogger({ level: 'silent' }),
  // A restarted process may look into what its predecessor left at once.
  intentTimes: { leaseMs: 0, upstreamMs: 0 },
  passCrashPoint: (point) => {
    if (point === orders.crashAt) process.kill(process.pid, 'SIGKILL')
  },
})
console.log(JSON.stringify({ url: app.url.href, ...(owner && { owner }) } satisfies CrashChildReady))
