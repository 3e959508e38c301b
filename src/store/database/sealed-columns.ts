/**
 * Every column of the database that holds what a secrets key has sealed, with the place to which each value is bound. A
 * test compares the list with the schema, so that no value is left behind when the key turns.
 */

export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** A unique key of the table, by whose columns a value is bound to its row. */
  readonly key: Readonly<Record<string, 'uuid' | 'text'>>
  /** Only these rows; undefined: all. */
  readonly where?: string
  /** The place of a value, by the values of `key`. */
  readonly place: (...key: readonly string[]) => readonly string[]
}

/** The list, without the check of the key itself. */
export const sealedColumns = {
  catalogCredential: {
    table: 'svc.catalog_credential',
    column: 'sealed',
    key: { tenant_id: 'uuid', nickname: 'text' },
    place: (tenant, nickname) => ['catalog_credential', tenant, nickname],
  },
  signingKey: {
    table: 'svc.signing_key',
    column: 'sealed',
    key: { key_id: 'uuid' },
    place: (id) => ['signing_key', id],
  },
  webhookSubscription: {
    table: 'svc.webhook_subscription',
    column: 'sealed',
    key: { tenant_id: 'uuid', subscription_id: 'uuid' },
    place: (tenant, id) => ['webhook_subscription', tenant, id],
  },
  reconciliationSource: {
    table: 'svc.reconciliation_source',
    column: 'sealed',
    key: { tenant_id: 'uuid', name: 'text' },
    where: 'sealed is not null',
    place: (tenant, name) => ['reconciliation_source', tenant, name],
  },
  transformTenantKey: {
    table: 'svc.transform_tenant_key',
    column: 'wrapped',
    key: { tenant_id: 'uuid' },
    // The others are wrapped by a key management service.
    where: `provider = 'secrets-key'`,
    place: (tenant) => ['transform_tenant_key', tenant],
  },
  idToken: {
    table: 'svc.browser_session',
    column: 'id_token',
    key: { tenant_id: 'uuid', session_id: 'uuid' },
    where: 'id_token is not null',
    place: (_tenant, id) => ['browser_session', id, 'id_token'],
  },
  setAside: {
    table: 'svc.detection_set_aside',
    column: 'sealed',
    key: { tenant_id: 'uuid', message_id: 'text' },
    place: (tenant, id) => ['detection_set_aside', tenant, id],
  },
  derivationRoot: {
    table: 'svc.derivation_root',
    column: 'sealed',
    key: { purpose: 'text' },
    place: (purpose) => ['derivation_root', purpose],
  },
} as const satisfies Readonly<Record<string, SealedColumn>>
