/** Assembles the read path: table states, engines, the tripwire and the query service. Surfaces are added later. */

import type { Logger } from 'pino'
import type { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import { TableStates } from '../catalog/table-states.ts'
import type { Config } from '../config.ts'
import type { RequestPage } from '../core/access-hint.ts'
import type { SeenRows } from '../core/seen-rows.ts'
import type { EngineKinds } from '../engine/engine-kinds.ts'
import { openEngines } from '../engine/open-engines.ts'
import { limits } from '../limits.ts'
import { awsKmsProvider } from '../protection/aws-kms.ts'
import { revealer } from '../protection/reveal-values.ts'
import { type KeyProvider, secretsKeyProvider } from '../protection/tenant-keys.ts'
import type { QueryService } from '../query/query-service.ts'
import { seenRows } from '../query/run/count-seen.ts'
import { LineageRecorder } from '../query/run/record/lineage-recorder.ts'
import { queryService } from '../query/run/run.ts'
import { Tripwire } from '../query/run/tripwire.ts'
import type { Store } from '../store/store.ts'
import { exchangeObserver } from '../telemetry/exchange.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface Shared {
  readonly config: Config
  readonly store: Store
  readonly catalogs: OpenCatalogs
  readonly addressRules: AddressRules
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly budget: ByteBudget
  /** Memory of the embedded engine. */
  readonly engineBytes: number
}

/** Parts that a test replaces. */
interface Overrides {
  readonly engines?: EngineKinds | undefined
  readonly queries?: QueryService | undefined
}

export interface ReadPath {
  readonly states: TableStates
  readonly engines: EngineKinds
  readonly tripwire: Tripwire
  readonly queries: QueryService
  readonly lineageRecorder: LineageRecorder
  /** For who decides about access. */
  readonly seenRows: SeenRows
  /** Where browsers find the page that helps to ask for access. */
  readonly requestPage: RequestPage
  /** Wraps the tenants' keys of the transform. */
  readonly keys: KeyProvider
}

/** Assembles the read path over a store; an engine opens when it is first used. */
export function assembleReadPath(shared: Shared, overrides: Overrides): ReadPath {
  const { config, store, catalogs, addressRules, metrics, log, clock, budget, engineBytes } = shared
  const keys =
    config.transformKmsKey === undefined ? secretsKeyProvider(store) : awsKmsProvider(config.transformKmsKey)
  const states = new TableStates(catalogs, limits.tableStateBytes)
  const engines =
    overrides.engines ??
    openEngines({
      ...{ addressRules, catalogs, ...config.readEngine, memoryBytes: engineBytes, budget },
      observeTrino: exchangeObserver(metrics, 'trino'),
    })
  const requestPage = () => (config.publicUrl === undefined ? undefined : new URL(config.publicUrl))
  const tripwire = new Tripwire({ engines, log, metrics })
  const lineageRecorder = new LineageRecorder({ store, clock, log })
  const queries =
    overrides.queries ??
    queryService({
      ...{ store, states, engines, clock, log, tripwire, requestPage },
      lineage: lineageRecorder,
      revealer: revealer(store, keys),
    })
  return {
    ...{ states, engines, tripwire, queries, lineageRecorder, keys, requestPage },
    seenRows: seenRows({ store, states, clock, engines, log }),
  }
}
