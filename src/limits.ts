/**
 * The bounds of docs/reference/limits.md, and others that several files share or that bound each other. A bound that one
 * file has is defined in it. Limits of body sizes are constants, not settings.
 */

const KiB = 1024
const MiB = 1024 * KiB
/** In milliseconds. */
const HOUR = 3_600_000

/** Days from the confirmation of a tenant's removal to the removal. */
export const removalWaitDays = { min: 7, usual: 30, max: 365 } as const

export const limits = {
  commitBodyBytesMax: 16 * MiB,
  /** A body up to this declared length is read before its caller is identified. */
  earlyBodyBytesMax: 256 * KiB,
  lineageBodyBytesMax: 1 * MiB,
  /** All events of a batch together; each has the bounds of one. */
  lineageBatchBytesMax: 16 * MiB,
  lineageBatchEventsMax: 1_000,
  webhookBodyBytesMax: 256 * KiB,
  /** Other JSON bodies (administration, sessions). */
  apiBodyBytesMax: 1 * MiB,
  /** Bodies of SCIM: a whole group may name tens of thousands of members. */
  scimBodyBytesMax: 4 * MiB,

  /**
   * Estimated memory of what is parsed from one byte of a body, a response or a manifest, beside that byte itself
   * (docs/sizing.md).
   */
  parsedBytesPerByte: 6,

  /** Characters in one {prefix}, {namespace} level or {table}. */
  identifierLengthMax: 255,
  jsonDepthMax: 128,

  /** Tables of one transaction, whose decisions are named in one response header, and concurrent loads among them. */
  transactionTablesMax: 64,
  transactionLoadsMax: 8,
  /** Characters of the header that names policies, because proxies and clients refuse longer headers. */
  warningHeaderCharsMax: 2_048,

  graphHopsDefault: 3,
  graphHopsMax: 5,
  /** Datasets in one event's inputs, and in its outputs. */
  lineageDatasetsMax: 2_000,
  /** Edges (inputs × outputs) of one event. */
  lineagePairsMax: 10_000,
  /** Events of one tenant that may wait for their merge; more are refused with 503. */
  lineageQueueCount: 1_000,
  lineageQueueBytes: 64 * MiB,

  policyTextBytesMax: 8 * KiB,
  policyNestingMax: 48,
  policyNodesMax: 4_000,
  policyDepthMax: 500,
  /** Comprehension steps and size charges that one policy may spend. */
  policyTicksMax: 200_000,
  /** Milliseconds that one policy may hold the HTTP thread before a worker finishes it. */
  policyInlineMs: 5,
  /** Milliseconds after which a policy in a worker is terminated. */
  policyWorkerMs: 2_000,
  /** What policies may have read of the manifests of one commit: bytes, files, entries, files at once, milliseconds. */
  manifestFactsBytesMax: 64 * MiB,
  manifestFactsFilesMax: 256,
  manifestFactsEntriesMax: 200_000,
  manifestFactsReadsMax: 8,
  manifestFactsMs: 10_000,
  /** Snapshots between the one that a branch left and the one that it went to. */
  manifestFactsStepsMax: 32,
  /** Changes without a verdict that are on record, the newest of each tenant. */
  unjudgedChangesKept: 10_000,

  /** One SQL statement sent to the read path, and one that the read path sends to an engine. */
  statementBytesMax: 256 * KiB,
  compiledStatementBytesMax: 4 * MiB,
  /** Columns in the result of one query, as in PostgreSQL. */
  targetsMax: 1_664,
  /** Tables that one statement may name. */
  statementTablesMax: 64,
  /** Text of the statements with cached names. */
  namesCacheBytes: 8 * MiB,
  /** Estimated memory of the parsed table metadata that the read path caches. */
  tableStateBytes: 64 * MiB,
  /** Cached compiled statements, in bytes of their source. */
  compiledCacheBytes: 32 * MiB,
  /** Estimated memory of cached governance of tables, in bytes of its text. */
  governanceCacheBytes: 32 * MiB,
  /** Milliseconds from a run's start to its end, including waits for its client. */
  queryMs: 900_000,
  /** Milliseconds after which a recorded run is certainly over, or its process gone. */
  queryLeaseMs: 1_020_000,
  /** Milliseconds after compiling for which the same request's run may use what was loaded. */
  requestLoadMs: 1_000,
  /** Milliseconds without a request for the next rows of a run, as of an open cursor. */
  queryIdleMs: 300_000,
  /** Milliseconds after which a version is read again while rows are sent, and for which rows may rely on one version. */
  governanceAskMs: 1_000,
  governanceStaleMs: 2_000,
  /** Milliseconds for which an open run waits for a failing store before it ends. */
  governanceWaitMs: 5_000,
  /** Milliseconds for which a finished run waits until its engine has released it. */
  engineCloseMs: 5_000,
  /** Threads of the runtime's pool that the embedded engine's queries never use, because other native calls need some. */
  engineSpareThreads: 4,

  /** Rows of one batch of a result. */
  resultBatchRows: 4_096,
  /** One reply of a Trino coordinator, and one spooled segment, compressed or not. */
  trinoAnswerBytesMax: 64 * MiB,
  /** Milliseconds for which a request with a transient failure is retried. */
  trinoRetryMs: 30_000,
  /** Milliseconds for which ending a query waits until Trino has stopped it. */
  trinoStopMs: 5_000,

  /** Connections to the PostgreSQL wire: of this process, of one tenant, of one principal. */
  pgwireConnectionsMax: 5_000,
  pgwireTenantConnectionsMax: 2_000,
  pgwirePrincipalConnectionsMax: 1_000,
  /** Milliseconds from a connection's first byte to its credential. */
  pgwireAuthenticationMs: 30_000,
  /** Milliseconds of one statement: the default, and the most that a client may set, which is at most a run's time. */
  pgwireStatementMs: 600_000,
  pgwireStatementMsMax: 900_000,
  /** Milliseconds without a statement. */
  pgwireIdleMs: 8 * HOUR,
  pgwireIdleInTransactionMs: 600_000,
  /** Bytes of one connection's rows that are encoded before they are sent. */
  pgwireWriteBytes: 128 * KiB,
  /** One encoded row. */
  pgwireRowBytesMax: 64 * MiB,

  /** Tables of one catalog that pg_catalog shows. A tenant with more is refused, not shown a part. */
  catalogTablesMax: 25_000,
  /** Columns of one table, as in PostgreSQL. */
  catalogColumnsMax: 1_600,
  /** Bounds of a contract: one description, columns of one key, foreign keys. */
  contractDescriptionBytesMax: 4 * KiB,
  contractKeyColumnsMax: 32,
  contractRelationshipsMax: 100,
  /** Keys of all objects in a body or document: each costs its time, whatever it says. */
  documentKeysMax: 30_000,
  /** Bounds of a contract document: bytes, levels, and expansions of aliases. */
  contractDocumentBytesMax: 1 * MiB,
  contractDocumentDepthMax: 64,
  contractDocumentAliasesMax: 100,
  /** Classifications of documents that give a tag, of a tenant. */
  classificationTagsMax: 100,
  /** Milliseconds that a worker may take for one task on a document. */
  contractDocumentMs: 20_000,
  catalogAnswerBytesMax: 64 * MiB,
  /** What a catalog database takes of the memory budget, and what building the first contents takes. */
  catalogHeldBytes: 400 * MiB,
  catalogBuildHeldBytes: 900 * MiB,
  /** Milliseconds for which the columns in a catalog may be out of date. */
  catalogColumnsMs: 5_000,

  /** Milliseconds. */
  upstreamLoadMs: 30_000,
  upstreamCommitMs: 60_000,
  storeStatementMs: 10_000,
  /** The lease of an intent: how long its process owns it. Longer than load and commit together. */
  intentLeaseMs: 100_000,
  /** A commit with an older intent is not forwarded, because its lease could expire meanwhile. */
  forwardWithinMs: 34_000,
  /** For resolving a lost answer, before the client receives a response. */
  lostAnswerWithinMs: 5_000,
  /** Milliseconds of a run of recovery for each upstream: longer than a load takes. */
  recoveryUpstreamMs: 45_000,
  /** For how long recovery owns the intents that it claims: where it dies, another run takes them. */
  recoveryLeaseMs: 60_000,
  /** Milliseconds before a failed audit of an accepted change is repeated, at most. */
  auditRetryMsMax: 2_000,
  /** Milliseconds for which the start of an embedded store looks at what earlier processes left. */
  orphansMs: 10_000,
  drainMs: 25_000,
  /** For sending the last responses after the drain. */
  flushMs: 2_000,

  /** A session's subject, an organization's id, a provider's name of a login. They are parts of index entries. */
  subjectBytesMax: 1_024,
  /** Milliseconds from a login to its end, active or not. */
  browserSessionMs: 12 * HOUR,
  /** Milliseconds without a request after which a browser session expires. */
  browserSessionIdleMs: 1 * HOUR,
  /** Milliseconds between /login and /callback. */
  loginMs: 600_000,
  accessTokenMs: 1 * HOUR,
  /** Age in milliseconds at which a key that signs access tokens is rotated. */
  signingKeyMs: 30 * 24 * HOUR,
  /** Milliseconds by which a webhook's signature may be older or newer than the clock. */
  webhookToleranceMs: 300_000,
  /** Milliseconds for one request to the identity provider. */
  identityProviderMs: 10_000,

  /** Of a response other than a success; a longer one is treated as empty. */
  upstreamErrorBytesMax: 64 * KiB,
  /** Milliseconds for which a resolved and checked upstream address is used. */
  upstreamAddressMs: 60_000,
  /** Tables with cached vended storage credentials. */
  vendedCredentialsCount: 1_000,
  /** Longest time in milliseconds for which they are cached, whatever expiry the upstream names. */
  vendedCredentialsMs: 300_000,
  /** Milliseconds before their expiry from which they are requested again: longer than a scan takes. */
  vendedMarginMs: 150_000,
  /** Bytes of cached files of snapshots, for signing. */
  signFilesBytes: 64 * MiB,

  /** Milliseconds between two polls of the baseline poller (docs/reference/detection.md 1.2). */
  detectionPollMs: 30_000,
  /** Longest wait of background work for gateway requests, in milliseconds. */
  backgroundWaitMs: 10_000,
  /** Milliseconds that a worker may take for one snapshot. */
  detectionScanMs: 120_000,
  /** The lease of a claimed snapshot, in milliseconds. */
  detectionLeaseMs: 240_000,
  /** Attempts after which an alert is given up. */
  detectionAlertTriesMax: 10,
  /** Bytes and number of data files that the scan of one snapshot reads. */
  detectionBytesMax: 64 * MiB,
  detectionFilesMax: 64,
  /** Characters of the reason of a steward's decision. */
  decisionReasonCharsMax: 2_000,
  /** Row groups of one file. */
  detectionRowGroupsMax: 4,
  /** Values of one column. */
  detectionValuesMax: 10_000,
  /** Findings of one snapshot; they are written within its lease, some milliseconds each. */
  detectionFindingsMax: 2_000,
  /** Text of the decoded values of one column chunk. */
  detectionChunkTextMax: 32 * MiB,
  /** One page of a column, compressed or not. */
  detectionPageBytesMax: 32 * MiB,
  /** Columns of one table that are scanned. */
  detectionColumnsMax: 5_000,

  /** One metadata, manifest-list or manifest file of a table in storage, compressed or not. */
  tableMetadataBytesMax: 64 * MiB,

  /** Manifests of one snapshot that a query reads. Its files are bounded by the memory that they take. */
  engineManifestsMax: 10_000,
  /** Concurrent fetches of data files, of all queries. */
  engineFetchesMax: 8,
  /** Estimated memory of cached plans of snapshots. */
  enginePlanBytes: 256 * MiB,
  /** Idle connections that hold relations for the next statement, and characters of these relations' SQL. */
  engineIdleConnections: 64,
  engineIdleRelationsLength: 4 * MiB,

  /** Milliseconds from a response to the check of its error (query/run/tripwire.ts), and until its end. */
  tripwireDelayMs: 1_000,
  tripwireMs: 60_000,
} as const

if (limits.intentLeaseMs <= limits.upstreamLoadMs + limits.upstreamCommitMs)
  throw new Error('limits: an intent must outlive the upstream calls it covers')
if (limits.forwardWithinMs + limits.upstreamCommitMs + limits.lostAnswerWithinMs >= limits.intentLeaseMs)
  throw new Error(
    'limits: a forward must end, and its lost answer be resolved, within the lease of its intent',
  )
if (limits.graphHopsDefault > limits.graphHopsMax) throw new Error('limits: hop bounds')
if (limits.vendedMarginMs <= limits.detectionScanMs)
  throw new Error('limits: vended credentials would expire while a scan runs')
if (limits.detectionScanMs * 1.5 > limits.detectionLeaseMs)
  throw new Error('limits: a scan must end well within the lease of its snapshot')
if (limits.detectionScanMs + limits.backgroundWaitMs * 2 >= limits.detectionLeaseMs)
  throw new Error('limits: a scan that waits for commits must end within its lease, too')
if (limits.policyInlineMs >= limits.policyWorkerMs) throw new Error('limits: policy time bounds')
if (limits.browserSessionIdleMs > limits.browserSessionMs || limits.accessTokenMs >= limits.signingKeyMs)
  throw new Error('limits: session and token times')
if (limits.pgwirePrincipalConnectionsMax > limits.pgwireTenantConnectionsMax)
  throw new Error('limits: one principal must not hold more connections than its tenant')
if (limits.pgwireTenantConnectionsMax > limits.pgwireConnectionsMax)
  throw new Error('limits: one tenant must not hold more connections than the process')
if (limits.queryMs + limits.engineCloseMs + 2 * limits.storeStatementMs >= limits.queryLeaseMs)
  throw new Error('limits: a run must end, and be recorded, within its lease')
if (limits.tripwireDelayMs * 10 > limits.tripwireMs)
  throw new Error('limits: most of the time for a check must be left for the check')
if (limits.queryIdleMs >= limits.queryMs)
  throw new Error('limits: an idle run would reach its time limit first')
if (limits.governanceAskMs >= limits.governanceStaleMs)
  throw new Error('limits: a version must be read again before rows may no longer rely on it')
if (limits.pgwireStatementMs > limits.pgwireStatementMsMax || limits.pgwireStatementMsMax > limits.queryMs)
  throw new Error('limits: statement times')
