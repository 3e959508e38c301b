/** Defines one change of one table, and the verdict on it. */

import type { ChangeOrigin } from '../../core/commit.ts'
import type { ContractBreak } from '../../core/contract-break.ts'
import type { Verdict } from '../../core/decision.ts'
import type { Policy, VersionNumber } from '../../core/policy.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import type { StageTimes } from '../base/stage-times.ts'
import type { CachedTable } from '../base/table-cache.ts'

export interface Change {
  readonly tenant: TenantId
  readonly table: TableRef
  readonly request: CommitRequest
  readonly identified: IdentifiedPrincipal
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
  readonly signal: AbortSignal
  readonly stages: StageTimes
  /** `X-Request-Id`; undefined where the request came through no listener. */
  readonly requestId: string | undefined
  readonly origin: ChangeOrigin
}

export interface Judged {
  /** The table before the change; undefined if the change creates it or loads no table. */
  readonly base: CachedTable | undefined
  /** The name that the verdict is about. */
  readonly table: TableRef
  /** The policies that applied to this change, in id order. */
  readonly policies: readonly Policy[]
  readonly verdict: Verdict
  /** The approved version of a contract that the change puts in force. */
  readonly covers?: VersionNumber
  /** What the change would break of a contract, where that denies it. */
  readonly breaks?: ContractBreak
}
