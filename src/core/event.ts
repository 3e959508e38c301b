/**
 * The events of a tenant, in one sequence (docs/reference/store.md 6.1): what consumers are told as it happens. An
 * event is named by its type; `data` depends on the type.
 */

/** Every type of event. */
export const eventTypes = [
  /** A version of a contract moved in its life cycle. Subject: the contract. */
  'contract.moved',
  /** Somebody signed a version of a contract. Subject: the contract. */
  'contract.signed_off',
  /** A change that loosens what a contract promises waits for sign-off, and has one. Subject: the contract. */
  'contract.loosening_requested',
  'contract.loosening_signed',
  /** Somebody asks for access to a table for a time, and it was decided. Subject: the table's key. */
  'access.requested',
  'access.granted',
  'access.denied',
  /** A request for access was taken back, or waited too long or for a table that is gone. Subject: the table's key. */
  'access.withdrawn',
  'access.expired',
  /**
   * Somebody took access to a table at once, which a steward must review; it was reviewed; for a day or more it was not.
   * Subject: the table's key.
   */
  'access.break_glass',
  'access.reviewed',
  'access.review_overdue',
  /** A grant of access ends within a day, and has ended. Subject: the table's key. */
  'access.ends_soon',
  'access.ended',
  /** How many tables contracts do not cover well, once a day. Subject: the day. */
  'contracts.coverage',
  /** A table was pinned to a snapshot, or its pin ended. Subject: the table's key. */
  'table.pinned',
  'table.unpinned',
  /** A table answers to a second name in its catalog, which is refused. Subject: the table's key, by its first name. */
  'table.second_name',
  /** A tag of a table or column was set, confirmed or removed, by a person or by detection. Subject: the table's key. */
  'tag.set',
  'tag.confirmed',
  'tag.removed',
  /** A change was approved or rejected. Subject: the table's key. */
  'commit.decided',
  /** An accepted change that a policy of mode `shadow` would have refused. Subject: the table's key. */
  'commit.shadow_denied',
  /** A steward attested a metric, and that an attestation no longer holds. Subject: the metric. */
  'metric.attested',
  'metric.attestation_ended',
  /** Detection found what raises an alert. Subject: the run. */
  'detection.alerted',
  /** A check run of a table ended. Subject: the run. */
  'checks.ended',
  /** The graph and the audit log differ, or do not any more. Subject: what differs. */
  'breach.found',
  'breach.resolved',
  /** A revoked session still holds storage credentials, or left files that no snapshot names. Subject: the session. */
  'session.quarantined',
  'session.files_left',
  /** A webhook was switched off, because no secrets key opens its URL and secrets. Subject: the webhook. */
  'webhook.unreadable',
] as const
export type EventType = (typeof eventTypes)[number]

export interface NewEvent {
  readonly type: EventType
  readonly subject: string
  /** Values of JSON. It holds no secret, and no value of a row. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface TenantEvent extends NewEvent {
  /** Rises by one with each event of the tenant, and never changes. */
  readonly sequence: bigint
  readonly occurredAt: Date
}
