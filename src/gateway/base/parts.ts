/** The dependencies of the gateway, which app.ts puts together. */

import type { Logger } from 'pino'
import type { ByteBudget } from '../../base/byte-budget.ts'
import type { Clock } from '../../base/clock.ts'
import type { JsonObject } from '../../base/json.ts'
import type { RightOfWay } from '../../base/right-of-way.ts'
import type { OpenCatalogs } from '../../catalog/open-catalog.ts'
import type { IntentHead } from '../../core/commit.ts'
import type { BreakEvidence, ContractBreak } from '../../core/contract-break.ts'
import type { VersionNumber } from '../../core/policy.ts'
import type { IdentifiedPrincipal, Principal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { PolicyEngine } from '../../policy/engine.ts'
import type { BoundRules } from '../../storage/iceberg/manifest-bounds.ts'
import type { NameCases } from '../../storage/name-cases.ts'
import type { TableAccess } from '../../storage/vended-access.ts'
import type { IntentTimes } from '../../store/commit/commit-intents.ts'
import type { Tx } from '../../store/database/session.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import type { Store } from '../../store/store.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Vend } from '../../vending/vending.ts'
import type { ReadRestrictions } from '../../wire/iceberg/read-restrictions.ts'
import type { ClientFiles } from './client-files.ts'
import type { PassCrashPoint } from './crash-points.ts'
import type { FedTables } from './fed-tables.ts'
import type { RawReadRecorder } from './raw-read-recorder.ts'
import type { SendTurns } from './send-turns.ts'
import type { SpeculativeCache } from './speculative-cache.ts'
import type { TableCache } from './table-cache.ts'
import type { UnauditedChanges } from './unaudited-changes.ts'

/**
 * Whether a row filter or column mask of the table applies to the principal, and whether the table has a contract. If
 * one applies, nothing that leads to the table's files is disclosed. If it fails, the request is refused.
 */
export type SightFor = (
  tenant: TenantId,
  table: TableRef,
  identified: IdentifiedPrincipal,
  purpose?: string,
) => Promise<FileSight>

/**
 * What is hidden of a loaded table from a verified principal, as `read-restrictions`, or why it cannot be said so.
 * @param reply the upstream's LoadTableResult, whose own restrictions are joined
 */
export type RestrictionsFor = (
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
  reply: Uint8Array,
) => Promise<ReadRestrictions | { readonly untold: string }>

/**
 * Whether snapshots show present plans of the writer-side transform, and the table is set so that encrypted columns are
 * not measured.
 * @param result the table's metadata after the commit
 * @param proofs what each snapshot that it adds shows
 * @throws what the store throws
 */
type TransformCurrent = (
  tenant: TenantId,
  table: TableRef,
  result: JsonObject,
  proofs: readonly string[],
  atMs: number,
) => Promise<boolean>

/**
 * What manifests may keep of a table's protected columns.
 * @param metadata the table's after the commit
 * @throws what the store throws
 */
type BoundRulesOf = (
  tenant: TenantId,
  table: TableRef,
  metadata: JsonObject | undefined,
) => Promise<BoundRules>

/**
 * The tables that the SQL text of a view reads; undefined where it is not understood.
 * @param place what names stand for that do not say it themselves
 */
type TablesOfView = (
  text: string,
  place: { readonly namespace: readonly string[]; readonly catalogs: readonly string[] },
) => readonly TableRef[] | undefined

/** What a commit does to the contract of its table. */
export interface CommitContracts {
  /**
   * Opens a proposal for a commit that the version in force refuses, once for the same change.
   * @returns the reason that the writer reads; it names what the commit breaks, and the proposal
   * @throws what the store throws
   */
  readonly propose: (broken: ContractBreak, evidence: BreakEvidence) => Promise<string>
  /**
   * Puts the approved version in force that a commit is covered by, in the transaction of its audit. Nothing where it is
   * in force already.
   * @throws Fault where it cannot be put in force any more
   */
  readonly cover: (
    tx: Tx,
    tenant: TenantId,
    version: VersionNumber,
    intent: Pick<IntentHead, 'commitId' | 'principal' | 'principalSource' | 'requestId'>,
  ) => Promise<void>
}

export interface GatewayParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
  /** Whether catalogs fold names. */
  readonly nameCases: NameCases
  readonly policies: PolicyEngine
  readonly tables: TableCache
  readonly speculative: SpeculativeCache
  readonly fedTables: FedTables
  readonly clientFiles: ClientFiles
  /** Takes what callers may read without a filter or mask. */
  readonly rawReads: Pick<RawReadRecorder, 'note' | 'flush' | 'stop'>
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly intentTimes: IntentTimes
  /** Milliseconds to wait before each check of a commit whose reply was lost. */
  readonly lostAnswerWaitsMs: readonly number[]
  /** Of transactions on the same tables, where files cannot be read. */
  readonly sendTurns: SendTurns
  readonly sightFor: SightFor
  readonly restrictionsFor: RestrictionsFor
  readonly tablesOfView: TablesOfView
  readonly contracts: CommitContracts
  readonly transformCurrent: TransformCurrent
  readonly boundRules: BoundRulesOf
  /** What may be read of a table's files, by its catalog credential. */
  readonly tableAccess: TableAccess
  /** Issues storage credentials to clients, where the catalog credential says so. */
  readonly vend: Vend
  readonly licensed: Pick<Licensed, 'require'>
  /** The bytes of the process, of which manifests that are read take some. */
  readonly budget: ByteBudget
  readonly passCrashPoint: PassCrashPoint
  /** What this process knows to be accepted and not yet audited. */
  readonly unaudited: UnauditedChanges
  /** Counts the requests in progress, so that background work can yield to them. */
  readonly commits: RightOfWay
  /** Whether every client may see stage times; otherwise only a session with the scope `admin`. */
  readonly demo: boolean
}
