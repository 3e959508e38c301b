/**
 * What a capability adds to the service, as a value: operations and jobs. Each part below `src` has one `feature.ts` that
 * makes it; `app.ts` lists the parts and mounts what they give. GraphQL types and MCP tools stand in `server`, because
 * each is one schema over all capabilities.
 */

import type { Logger } from 'pino'
import type { Gauge } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { BoundOperation } from './declare.ts'

/** What every capability is made with. */
export interface Core {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Which addresses the service may call. */
  readonly addressRules: AddressRules
}

/** Work on a schedule. It runs on one replica at a time, or on each. */
export interface Job {
  /** Also the name of the lock that replicas compete for. */
  readonly name: string
  /** A cron pattern. */
  readonly schedule: string
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Runs on each replica, and holds no lock: it only reads. */
  readonly everyReplica?: true
  /** Set by a run. Replicas that did not run the job copy the values from the store, by their places in the list. */
  readonly gauge?: Gauge | readonly Gauge[]
}

export interface Feature {
  readonly operations: readonly BoundOperation[]
  readonly jobs: readonly Job[]
}
