/** A replay: a draft policy, or the policies of then, against stored commits (docs/replay.md). */

import type { AppliedPolicy, CatalogAction, ChangeOrigin } from './commit.ts'
import type { PolicyErrorCode } from './decision.ts'
import type { PolicyKind, PolicyScope } from './policy.ts'
import type { Principal } from './principal.ts'
import type { TableRef } from './table-ref.ts'

/** The bounds of replays. */
export const replayBounds = {
  /** Commits that one looks at. */
  commitsMax: 10_000,
  /** Replays of a tenant that run at once, and that are kept, with their findings. */
  runningMax: 2,
  kept: 20,
  /** Commits, and bytes of their compressed bodies, that are in memory at once. */
  batchChanges: 200,
  batchBytes: 16 * 1024 * 1024,
  /** Metadata files that are read at once. */
  readsMax: 8,
} as const

export const replayStates = ['running', 'done', 'cancelled', 'failed'] as const
export type ReplayState = (typeof replayStates)[number]

/** The policy to try. */
export interface ReplayDraft {
  readonly kind: PolicyKind
  readonly definitionCel: string
  /** For a denial: `<name>: <message>`. */
  readonly name: string
  readonly message: string
  /** What it would be bound to; it is tried on commits of these tables only. */
  readonly scope: PolicyScope
  /** The policy whose place it would take: a change that only this one denied would be allowed. */
  readonly replaces?: string | undefined
}

/** Outcomes that a replay keeps a finding of; `allowed` and `confirmed` are only counted. */
export const replayFindings = [
  'newly_denied',
  'still_denied',
  'newly_allowed',
  'no_verdict',
  'differs',
  'unavailable',
] as const
export type ReplayFinding = (typeof replayFindings)[number]

/**
 * `newly_denied`: it was accepted. `still_denied`: it was refused then, too. `newly_allowed`: only the replaced policy
 * denied it. `no_verdict`: the draft fails on it, and so would refuse it with 503. `confirmed` and `differs`: the
 * policies of then come to the same, or not. `unaffected`: the draft does not apply to such a change.
 */
export const replayOutcomes = [...replayFindings, 'allowed', 'confirmed', 'unaffected'] as const
export type ReplayOutcome = (typeof replayOutcomes)[number]

/** Why a commit could not be replayed. */
export const unavailableReasons = {
  body: 'the body of the request is not kept any more',
  base: 'the metadata file that the change was based on is gone',
  storage: 'the metadata file that the change was based on cannot be read',
  catalog: 'the catalog credential is gone, names another catalog now, or has no storage roots',
  request: 'the request cannot be applied to the metadata file that it names',
  judging: 'judging it again took too long, or failed',
  manifests: 'the manifests of the commit cannot be read any more',
  hidden: 'who started the replay may not read all values of the table',
} as const
export type UnavailableReason = keyof typeof unavailableReasons

/** One stored change, as a replay needs it. */
export interface StoredChange {
  readonly auditSeq: string
  readonly commitId: string
  readonly action: CatalogAction
  readonly table: TableRef
  readonly principal: Principal
  readonly origin?: ChangeOrigin
  readonly decision: 'APPROVED' | 'REJECTED'
  readonly receivedAtMs: number
  readonly createdAt: Date
  readonly credentialId: string
  readonly baseMetadataLocation: string
  /** Compressed by zstd; empty where it is past its retention. */
  readonly body: Uint8Array
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly StoredOutcome[]
}

/** An outcome of then, as far as a replay compares it. */
export interface StoredOutcome {
  readonly policyId: string
  readonly mode: string
  readonly value?: boolean
  readonly error?: PolicyErrorCode
  readonly raced?: boolean
}

/** What the replay of one change came to. */
export interface Replayed {
  readonly outcome: ReplayOutcome
  readonly reason?: string
  /** For stewards: the failing part of the policy with its values. */
  readonly explanation?: string
}
