/** The bounds of XMLA (docs/reference/limits.md 5.5). */

const KiB = 1024
const minute = 60_000

export const xmlaBounds = {
  /** Bytes of a request: its head, and its body, also after gzip is undone. */
  headBytesMax: 60 * KiB,
  headersMax: 64,
  bodyBytesMax: 2 * KiB ** 2,
  /** Of the XML. */
  depthMax: 64,
  elementsMax: 20_000,
  /** Milliseconds until a head is complete, and a body; between two requests; without a byte that the client takes. */
  headMs: minute / 2,
  bodyMs: minute,
  idleMs: 5 * minute,
  sendMs: minute,
  /** Milliseconds of one request, and without one after which a session ends. */
  requestMs: 10 * minute,
  sessionIdleMs: 20 * minute,
  /** Sessions of the process, and of one principal. */
  sessionsMax: 10_000,
  principalSessionsMax: 200,
  /** Characters of the members and sets, as JSON, that all sessions of one principal define. */
  principalFormulaCharsMax: 5_000_000,
  /** Requests of one session at once. */
  sessionRequestsMax: 8,
  /** Connections of the process, of a tenant, of a principal, and of clients that are not authenticated yet. */
  connectionsMax: 2_000,
  tenantConnectionsMax: 1_000,
  principalConnectionsMax: 200,
  unauthenticatedMax: 500,
  /** Bytes that are written before they are sent. */
  writeBytes: 64 * KiB,
  /** Members of a level that Discover gives; a level with more is a fault. */
  membersMax: 10_000,
} as const

export type XmlaBounds = { readonly [K in keyof typeof xmlaBounds]: number }
