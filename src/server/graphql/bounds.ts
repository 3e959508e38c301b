/** The bounds of GraphQL (docs/reference/limits.md 5.4). */

const KiB = 1024

export const graphqlBounds = {
  bodyBytesMax: 256 * KiB,
  /** Of one document: nesting of fields, fields with an alias, tokens of the text. */
  depthMax: 12,
  aliasesMax: 15,
  tokensMax: 2_000,
  /** Objects that one document may give, counted with its variables. */
  costMax: 5_000,
  /** Items of one page. */
  firstMax: 100,
  /** Rows of metrics in one field, and their bytes. */
  metricRowsMax: 1_000,
  metricBytesMax: 1024 * KiB,
  /** Subscriptions of one principal, and of one tenant in a process. */
  subscriptionsMax: 8,
  tenantSubscriptionsMax: 200,
  /** Milliseconds between two looks for events, and between two checks of a subscriber's session. */
  eventsMs: 500,
  sessionMs: 15_000,
  /** Milliseconds for one operation that is no subscription. */
  operationMs: 30_000,
} as const
