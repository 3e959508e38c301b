/** One commit on one table, as the gateway, the store and recovery share it (docs/reference/gateway.md 1.6, 7.1, 7.4). */

import type { Decision, PolicyErrorCode, PolicyOutcome } from './decision.ts'
import type { KeyClaim } from './idempotency.ts'
import type { NamespaceScope, Policy, PolicyKind, PolicyMode, TagScope, VersionNumber } from './policy.ts'
import type { Principal, PrincipalSource } from './principal.ts'
import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

/**
 * The actions that change a catalog: operations of the Iceberg REST specification, named like its update actions.
 * `update-table` is a commit; policies see the others as a commit whose one update has this action.
 */
export type CatalogAction =
  | 'update-table'
  | 'create-table'
  | 'register-table'
  | 'rename-table'
  | 'drop-table'
  | 'unregister-table'
  | 'create-view'
  | 'replace-view'
  | 'register-view'
  | 'rename-view'
  | 'drop-view'
  | 'create-namespace'
  | 'drop-namespace'
  | 'update-properties'

/** Whether an accepted action writes new metadata, whose location the audit then records. */
export function writesMetadata(action: CatalogAction): boolean {
  return action === 'update-table' || action === 'create-table' || action === 'register-table'
}

/** A table and its snapshot after an accepted commit, read from the upstream's reply. */
export interface CommittedTable {
  readonly metadataLocation: string
  /** The metadata file that it replaced; absent where the table's metadata log does not show it. */
  readonly previousLocation?: string | undefined
  readonly tableUuid: string | undefined
  /** Absent where the table has no current snapshot. */
  readonly snapshot:
    | {
        readonly snapshotId: bigint
        readonly parentSnapshotId: bigint | undefined
        readonly sequenceNumber: bigint | undefined
        /** Milliseconds since the Unix epoch. */
        readonly timestampMs: bigint
        readonly operation: string | undefined
        readonly manifestList: string | undefined
      }
    | undefined
  readonly schemaId: bigint | undefined
  readonly columns: readonly Column[]
}

/** A top-level or nested column of the current schema; nested names joined by dots. */
export interface Column {
  readonly fieldId: bigint
  readonly name: string
  /** The Iceberg type: a primitive's text, or `struct`, `list`, `map`. */
  readonly type: string
  readonly required: boolean
  /** Whether it is one of the schema's identifier fields, which tell rows apart; absent where that was not asked. */
  readonly isIdentifier?: boolean
}

/** How a commit's verdict held the table: loaded for it, or pinned by requirements that the commit carried. */
export const baseHolds = ['loaded', 'pinned'] as const

/** Through what a change came, beside its principal. What the client says of itself is not verified. */
export interface ChangeOrigin {
  /** The session of the request; its name is the subject for which it was made. */
  readonly session?: { readonly id: string; readonly name: string }
  /** `User-Agent`. */
  readonly client?: string
  /** The application or query that the snapshot's summary names. */
  readonly applicationId?: string
  /** The branch that the commit moves; of several, the last. */
  readonly branch?: string
}

/** The durable row written before anything is forwarded. The transaction that writes the verdict removes it. */
export interface CommitIntent {
  /** UUID; also the id of the WriteEvent and its edges. */
  readonly commitId: string
  /** The table; for other actions a view, or a namespace with the name ''. */
  readonly table: TableRef
  /** `update-table` where absent. */
  readonly action?: CatalogAction
  /** The catalog credential that names the upstream. */
  readonly credentialId: string
  /** The catalog at that time, from `catalogOf`, because the credential may have changed since. Older intents lack it. */
  readonly catalog?: string
  /** The service reads no storage of that catalog, so the manifests of the change are not checked afterwards. */
  readonly storageUnread?: true
  readonly principal: Principal
  readonly principalSource: PrincipalSource
  /** Hex SHA-256 of `body` before its compression. */
  readonly bodySha256: string
  /**
   * The commit request as judged, compressed with zstd; for `update-table` the request body. Replay and recovery read
   * it.
   */
  readonly body: Uint8Array
  /** Empty for a table that did not exist. */
  readonly baseMetadataLocation: string
  /**
   * Set where the commit was judged on a known table that was not loaded for it, and carries requirements for what its
   * policies read. The catalog may apply it to a later state, in which all that is the same.
   */
  readonly baseHeld?: Exclude<(typeof baseHolds)[number], 'loaded'>
  /** The table's UUID, for an action on an existing table. It stays the same while metadata files come and go. */
  readonly baseTableUuid?: string
  /** Snapshot ids in the body's `add-snapshot` updates. */
  readonly snapshotIds: readonly bigint[]
  /**
   * The manifest lists of these snapshots, in their order; '' where one names none. A client that sends an append again
   * keeps the id and writes another list. Absent where they are very many, and in older intents.
   */
  readonly manifestLists?: readonly string[]
  /** Milliseconds since the Unix epoch, by this process's clock; `commit.received_at`. */
  readonly receivedAtMs: number
  /** Commit ids of all tables of a transaction that is forwarded as one, this one's included: all were made, or none. */
  readonly transaction?: readonly string[]
  /** `X-Request-Id` of the request. Absent where it came through no listener. */
  readonly requestId?: string
  /** Set once the request has ended, where it is unknown whether the change was made. */
  readonly ended?: true
  /** Set beside `ended` where the upstream itself answered, so that it works on the change no longer. */
  readonly answered?: true
  readonly origin?: ChangeOrigin
  /** Set for a request that may be repeated by its Idempotency-Key. */
  readonly claim?: KeyClaim
  /** Set once the upstream is known to have accepted, where the audit is left to recovery. */
  readonly accepted?: true
}

/** An intent without its body, which may be megabytes long. */
export type IntentHead = Omit<CommitIntent, 'body'>

/** A policy at the time of its decision, so that the decision can be replayed. */
export interface AppliedPolicy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  readonly definitionCel: string
  /** As {@link Policy.scope}. */
  readonly scope?: NamespaceScope | TagScope
}

/** The parts of a policy that are stored with its decision. */
export function appliedPolicy({ id, kind, mode, definitionCel, scope }: Policy): AppliedPolicy {
  return { id, kind, mode, definitionCel, ...(scope && { scope }) }
}

/** A change that got no verdict, for stewards. It leaves no audit row, so this is all that is kept of it. */
export interface UnjudgedChange {
  readonly intent: Omit<CommitIntent, 'body' | 'baseMetadataLocation'>
  readonly error: PolicyErrorCode
  /** The policy that gave none; undefined where it was not one policy's doing. */
  readonly policy: { readonly id: string; readonly name: string } | undefined
  /** What failed; may hold values of the table. */
  readonly explanation: string | undefined
}

/**
 * A change that the upstream accepted, with all that its audit needs. Its body is left out, because the intent holds it.
 */
export interface AcceptedChange {
  readonly tenant: TenantId
  readonly intent: IntentHead
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly PolicyOutcome[]
  /** Undefined if the action writes no metadata, or it is not known yet which file it wrote. */
  readonly committed: CommittedTable | undefined
  /** The new name, for a rename of a table. */
  readonly renamedTo?: TableRef | undefined
  /** The approved version of a contract that the change puts in force. */
  readonly covers?: VersionNumber | undefined
  /** Whether the reply may repeat that to an earlier request with the same Idempotency-Key. */
  readonly mayRepeat: boolean
}

/** Everything that is written with one verdict: WriteEvent, edges, audit_log row and, if approved, the snapshot. */
export interface VerdictRecord {
  readonly intent: CommitIntent
  readonly decision: Decision
  /** The denial reason for REJECTED, '' for APPROVED (docs/reference/gateway.md 7.1). */
  readonly reason: string
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly PolicyOutcome[]
  /** Set for APPROVED where the action writes metadata. With the location alone, nothing is ingested. */
  readonly committed?: CommittedTable | Pick<CommittedTable, 'metadataLocation'>
  /** Set for an APPROVED rename of a table: its territory follows it. */
  readonly renamedTo?: TableRef
}
