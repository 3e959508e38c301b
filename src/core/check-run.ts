/** The nouns of check runs: the measurement of one snapshot of one table, in steps, for a version of a contract. */

import type { Actor } from './administration.ts'
import {
  choice,
  from,
  int64,
  maybe,
  nested,
  number,
  type Static,
  text,
  texts,
  time,
  uuid,
  whole,
} from './record.ts'
import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

export const checkKinds = ['quality', 'reconciliation'] as const
export type CheckKind = (typeof checkKinds)[number]

/** `external`: another tool measured it. */
export const checkCauses = ['deploy', 'request', 'schedule', 'commit', 'external'] as const
export type CheckCause = (typeof checkCauses)[number]

/** `error`: a check could not be measured, so nothing is known; it never counts as passed. */
export const checkRunStates = ['queued', 'running', 'passed', 'failed', 'error', 'cancelled'] as const
export type CheckRunState = (typeof checkRunStates)[number]

export const severities = ['info', 'warning', 'error'] as const
/** What a failed check means: nothing, a warning, or that the run fails. */
export type Severity = (typeof severities)[number]

export const checkOutcomes = ['passed', 'failed', 'warned', 'error', 'not_run'] as const
/** `warned`: it failed, and its severity is less than `error`. `not_run`: it is not for us to measure. */
export type CheckOutcome = (typeof checkOutcomes)[number]

/** What a run measures, and for which version. */
export interface CheckSubject {
  readonly kind: CheckKind
  readonly contract: string
  /** Of the contract's version. */
  readonly number: number
  readonly table: TableRef
  /** Nickname of the catalog credential. */
  readonly catalog: string
  /** Undefined where the table had no snapshot. */
  readonly snapshotId: bigint | undefined
  /** The table's snapshot at the time of the request. */
  readonly currentSnapshotId: bigint | undefined
}

/** A run as it is stored. */
export const checkRun = {
  /** A page of runs after this one begins here. */
  sequence: from(text, 'run_seq::text'),
  runId: uuid,
  kind: choice(checkKinds),
  contract: from(text, 'contract_id'),
  number: whole,
  table: nested(
    { namespace: texts, name: text },
    "jsonb_build_object('namespace', namespace, 'name', table_name)",
  ),
  catalog: text,
  snapshotId: maybe(int64),
  currentSnapshotId: maybe(int64),
  cause: choice(checkCauses),
  state: choice(checkRunStates),
  requestedAt: time,
  requestedBy: from(text, "requested_by->>'sub'"),
  startedAt: maybe(time),
  finishedAt: maybe(time),
  spentMs: number,
  stepsDone: from(whole, 'jsonb_array_length(done)'),
  steps: maybe(whole),
  rowsRead: int64,
  bytesRead: int64,
  reason: text,
}
export type StoredCheckRun = Static<typeof checkRun>

/** A run that is requested. */
export interface NewCheckRun extends CheckSubject {
  readonly cause: CheckCause
  /** A second request with the same key finds the first run. */
  readonly onceKey?: string
  /** What the kind needs besides, as JSON; holds no data. */
  readonly input: Readonly<Record<string, unknown>>
  readonly by: Actor
}

/** A run that this process works on, under a lease. */
export interface ClaimedCheckRun extends CheckSubject {
  readonly tenant: TenantId
  readonly runId: string
  /** Fences the writes: under another lease nothing is written. */
  readonly leaseId: string
  readonly cause: CheckCause
  readonly input: Readonly<Record<string, unknown>>
  readonly by: Actor
  /** Attempts, this one included. */
  readonly tries: number
  /** Milliseconds that earlier attempts took. */
  readonly spentMs: number
  /** Keys of the steps that are done. */
  readonly done: ReadonlySet<string>
  readonly bytesRead: number
}

/** What a step found of one check. */
export interface CheckFinding {
  readonly key: string
  /** The column; '' for the table. */
  readonly element: string
  readonly metric: string
  readonly severity: Severity
  readonly outcome: CheckOutcome
  /** A number or boolean in text form. */
  readonly value?: string | undefined
  readonly unit?: string | undefined
  readonly expected?: { readonly operator: string; readonly threshold: unknown } | undefined
  readonly engine?: string | undefined
  /** Field ids of the columns that it reads. */
  readonly fieldIds: readonly number[]
  /** Whether the author of the contract wrote the statement. */
  readonly custom: boolean
  /** A SQLSTATE or a word of ours; holds no data. */
  readonly reason?: string | undefined
  /** Further numbers. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined
}

/** What a step gives: findings, and what it read. */
export interface StepResult {
  readonly findings: readonly CheckFinding[]
  /** Rows of the table, where the step counted them. */
  readonly rows?: number
  readonly bytes?: number
}

/** How a run ends by its findings: an unmeasured check of severity `error` is worse than a failed one. */
export function stateOfFindings(
  findings: readonly Pick<CheckFinding, 'outcome' | 'severity'>[],
): 'passed' | 'failed' | 'error' {
  const severe = findings.filter(({ severity }) => severity === 'error')
  if (severe.some(({ outcome }) => outcome === 'error')) return 'error'
  return severe.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'passed'
}
