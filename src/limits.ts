/**
 * The bounds of docs/reference/limits.md, and others that several files or an operator use. A bound of one algorithm is
 * defined beside it. Limits of body sizes are constants, not settings.
 */

const KiB = 1024
const MiB = 1024 * KiB
/** In milliseconds. */
const HOUR = 3_600_000

export const limits = {
  commitBodyBytesMax: 16 * MiB,
  /** A body up to this declared length is read before its caller is identified. */
  earlyBodyBytesMax: 256 * KiB,
  lineageBodyBytesMax: 1 * MiB,
  webhookBodyBytesMax: 256 * KiB,
  /** Other JSON bodies (administration, sessions). */
  apiBodyBytesMax: 1 * MiB,

  /**
   * Estimated memory of what is parsed from one byte of a body, a response or a manifest, beside that byte itself
   * (docs/sizing.md).
   */
  parsedBytesPerByte: 6,
  /** Bytes of a request from which they are held until its response was sent. */
  heldUntilSentBytesMin: 1 * MiB,
  /** Memory of one thread of the embedded engine, beside that of the engine itself. */
  engineThreadBytes: 16 * MiB,

  /** Longest idle time in milliseconds of a client of the HTTP listener that must send or receive. */
  httpIdleMs: 120_000,

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
  /** Bounded because it is part of an index entry. */
  lineageProducerBytesMax: 2_000,
  /** Datasets in one event's inputs, and in its outputs. */
  lineageDatasetsMax: 2_000,
  /** Edges (inputs × outputs) of one event. */
  lineagePairsMax: 10_000,
  /** Events, their edges and their bytes in one merge transaction. A single event may exceed the last two. */
  lineageBatchCount: 64,
  lineageBatchPairs: 2_000,
  lineageBatchBytes: 4 * MiB,
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
  policyCacheCount: 10_000,
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
  /** What a statement may expand to beyond its text: columns in scope, repeated expressions. */
  statementExpansionMax: 400_000,
  /**
   * Estimated size of one text or array in a statement, checked before it runs, because an engine computes 2,048 at
   * once.
   */
  statementValueBytesMax: 512 * KiB,
  /** Text of the row filters and mask expressions with cached trees; a tree takes about fifty times its text. */
  policyExpressionCacheBytes: 1 * MiB,
  /** Tables that one statement may name, and concurrent loads from the upstream among them. */
  statementTablesMax: 64,
  statementLoadsMax: 8,
  /** Tables that these names may resolve to, along the search path. */
  statementCandidatesMax: 1_024,
  /** Text of the statements with cached names. */
  namesCacheBytes: 8 * MiB,
  /** Estimated memory of cached parsed statements. */
  statementTreeCacheBytes: 16 * MiB,
  /** Estimated memory of the parsed table metadata that the read path caches. */
  tableStateBytes: 64 * MiB,
  /** Cached compiled statements, in bytes of their source. */
  compiledCacheBytes: 32 * MiB,
  /** Estimated memory of cached governance of tables, in bytes of its text. */
  governanceCacheBytes: 32 * MiB,
  /** Estimated memory of the last load of each statement, on which the next run starts speculatively. */
  lastLoadBytes: 32 * MiB,
  /** Milliseconds from a run's start to its end, including waits for its client. */
  queryMs: 900_000,
  /** Milliseconds after which a recorded run is certainly over, or its process gone. */
  queryLeaseMs: 1_020_000,
  /** Milliseconds after compiling for which the same request's run may use what was loaded. */
  requestLoadMs: 1_000,
  /** Milliseconds without a request for the next rows of a run, as of an open cursor. */
  queryIdleMs: 300_000,
  /** Tenants whose governance version is cached. */
  cachedVersionsCount: 10_000,
  /** Milliseconds after which a version is read again while rows are sent, and for which rows may rely on one version. */
  governanceAskMs: 1_000,
  governanceStaleMs: 2_000,
  /** Milliseconds for which an open run waits for a failing store before it ends, and between two retries. */
  governanceWaitMs: 5_000,
  governanceRetryMs: 250,
  /** Milliseconds for which a finished run waits until its engine has released it. */
  engineCloseMs: 5_000,
  /** Waiting statements of the embedded engine for each running one. */
  engineQueueFactor: 16,
  /** Threads of the runtime's pool that the embedded engine's queries never use, because other native calls need some. */
  engineSpareThreads: 4,

  /** Rows of one batch of a result. */
  resultBatchRows: 4_096,
  /** One reply of a Trino coordinator, and one spooled segment, compressed or not. */
  trinoAnswerBytesMax: 64 * MiB,
  /** Milliseconds for one request to Trino; the coordinator replies to each within a second or two. */
  trinoRequestMs: 30_000,
  /** Milliseconds for which a request with a transient failure is retried. */
  trinoRetryMs: 30_000,
  /** Milliseconds for which ending a query waits until Trino has stopped it. */
  trinoStopMs: 5_000,
  /** Consecutive replies without rows: about five hours in a Trino queue. */
  trinoEmptyAnswersMax: 20_000,

  /** Connections to the PostgreSQL wire: of this process, of one tenant, of one principal; not authenticated yet. */
  pgwireConnectionsMax: 5_000,
  pgwireTenantConnectionsMax: 2_000,
  pgwirePrincipalConnectionsMax: 1_000,
  pgwireUnauthenticatedMax: 1_000,
  /** Milliseconds from a connection's first byte to its credential. */
  pgwireAuthenticationMs: 30_000,
  /** Milliseconds of one statement: the default, and the most that a client may set, which is at most a run's time. */
  pgwireStatementMs: 600_000,
  pgwireStatementMsMax: 900_000,
  /** Milliseconds without a statement. */
  pgwireIdleMs: 8 * HOUR,
  pgwireIdleInTransactionMs: 600_000,
  /** Prepared statements, and portals with cursors, of one connection. */
  pgwirePreparedMax: 1_000,
  /** Estimated memory of a connection's prepared statements: texts, columns and parsed trees. */
  pgwirePreparedBytesMax: 64 * MiB,
  pgwirePortalsMax: 100,
  /** Estimated memory of a connection's portals: statements, parameters, and catalog results, which are held whole. */
  pgwirePortalBytesMax: 64 * MiB,
  /** Bytes of one connection's rows that are encoded before they are sent. */
  pgwireWriteBytes: 128 * KiB,
  /** One encoded row. */
  pgwireRowBytesMax: 64 * MiB,
  /** Bytes that a client may pipeline; one message may have 8 MiB. */
  pgwireAheadBytesMax: 16 * MiB,
  /** Bytes of rows of one catalog statement, held while the client reads them. */
  pgwireCatalogBytesMax: 64 * MiB,

  /** Tables of one catalog that pg_catalog shows. A tenant with more is refused, not shown a part. */
  catalogTablesMax: 25_000,
  /** Columns of one table, as in PostgreSQL. */
  catalogColumnsMax: 1_600,
  /** Bounds of a contract: one description, one column's name, columns of one key, foreign keys. */
  contractDescriptionBytesMax: 4 * KiB,
  contractNameBytesMax: 1 * KiB,
  contractKeyColumnsMax: 32,
  contractRelationshipsMax: 100,
  /** Keys of all objects in a body or document: each costs its time, whatever it says. */
  documentKeysMax: 30_000,
  /** Bounds of a contract document: bytes, levels, and expansions of aliases. */
  contractDocumentBytesMax: 1 * MiB,
  /** Documents that are proposed together, and bytes of that request. */
  contractProposalsMax: 500,
  contractProposalsBytesMax: 16 * MiB,
  contractDocumentDepthMax: 64,
  contractDocumentAliasesMax: 100,
  /** Milliseconds that a worker may take for one task on a document. */
  contractDocumentMs: 20_000,
  catalogAnswerBytesMax: 64 * MiB,
  /** Memory of one catalog database, of which 5,000 tables with keys take 400 MiB, and its temporary files. */
  catalogHeapBytesMax: 1024 * MiB,
  catalogTempBytesMax: 64 * MiB,
  /** Concurrent catalog databases; what each takes of the memory budget, and what building the first contents takes. */
  catalogWorkersMax: 2,
  catalogHeldBytes: 400 * MiB,
  catalogBuildHeldBytes: 900 * MiB,
  /** Milliseconds without a statement after which a catalog database is stopped. */
  catalogIdleMs: 600_000,
  /** Statements about the catalog of one tenant that wait for a catalog database. */
  catalogWaitingMax: 200,
  /** Milliseconds after which a catalog database switches to the next waiting tenant. */
  catalogTurnMs: 1_000,
  /** Tables and principals that a catalog database loads before it is replaced, because it grows with each. */
  catalogChangesMax: 10_000,
  /** Tables above which a catalog database is replaced instead of emptied. */
  catalogDropMax: 1_000,
  /** Milliseconds after which a catalog that could not be loaded is retried. */
  catalogRetryMs: 10_000,
  /** Milliseconds: one statement about the catalog; its wait; loading its tables; starting a database. */
  catalogStatementMs: 10_000,
  catalogWaitMs: 30_000,
  catalogLoadMs: 60_000,
  catalogStartMs: 60_000,
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
  /** Upstreams that recovery handles concurrently, and milliseconds of a run for each: longer than a load takes. */
  recoveryUpstreamsMax: 8,
  recoveryUpstreamMs: 45_000,
  /** For how long recovery owns the intents that it claims: where it dies, another run takes them. */
  recoveryLeaseMs: 60_000,
  /** Milliseconds before a failed audit of an accepted change is repeated: after the first repetition, and at most. */
  auditRetryMs: 100,
  auditRetryMsMax: 2_000,
  /** Milliseconds after its request for which a change is looked for whose reply did not say what it wrote. */
  acceptedLookMs: 30_000,
  /** Milliseconds for which the answer to a change whose audit failed waits for the journal's disk. */
  journalFlushMs: 1_000,
  /** Milliseconds for which the start of an embedded store looks at what earlier processes left. */
  orphansMs: 10_000,
  drainMs: 25_000,
  /** Milliseconds after which a probe's check of the database has failed, and for which the check of writes holds. */
  probeMs: 1_500,
  writeProbeMs: 1_000,
  /** Milliseconds between two looks at the clocks. */
  clockLookMs: 10_000,
  /** The least step backwards; correcting a clock by slowing it down stays far below. */
  clockStepMs: 100,
  /** Milliseconds by which a replica's clock may differ from the database's. */
  clockOffsetMs: 5_000,
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
  /** Characters of a webhook's signature header: a time and a few signatures. */
  webhookSignatureCharsMax: 1_024,
  /** Milliseconds for one request to the identity provider. */
  identityProviderMs: 10_000,

  upstreamResponseBytesMax: 256 * MiB,
  /** Of a response other than a success; a longer one is treated as empty. */
  upstreamErrorBytesMax: 64 * KiB,
  /** Milliseconds for which a resolved and checked upstream address is used. */
  upstreamAddressMs: 60_000,
  /** Cached open catalogs with their configuration and tokens. */
  catalogPoolCount: 1_000,
  /** Tables with cached vended storage credentials. */
  vendedCredentialsCount: 1_000,
  /** Longest time in milliseconds for which they are cached, whatever expiry the upstream names. */
  vendedCredentialsMs: 300_000,
  /** Milliseconds before their expiry from which they are requested again: longer than a scan takes. */
  vendedMarginMs: 150_000,
  /** Milliseconds for which a sign ticket is valid at most, body of a request to sign, and cached files of snapshots. */
  signTicketMs: 24 * HOUR,
  signBodyBytesMax: 64 * KiB,
  signFilesBytes: 64 * MiB,

  /** Milliseconds between two polls of the baseline poller (docs/reference/detection.md 1.2). */
  detectionPollMs: 30_000,
  /** Milliseconds of one run of the sweep over catalogs for territory; the next run goes on. */
  territorySweepMs: 10 * 60_000,
  /** Milliseconds from the end of a catalog's sweep to its next. */
  territorySweepEveryMs: 24 * 3_600_000,
  /** Milliseconds without a gateway request after which background work continues, and its longest wait. */
  backgroundQuietMs: 100,
  backgroundWaitMs: 10_000,
  /** Milliseconds that a worker may take for one snapshot. */
  detectionScanMs: 120_000,
  /** The lease of a claimed snapshot, in milliseconds. */
  detectionLeaseMs: 240_000,
  /** Attempts after which the scan of a snapshot has failed. */
  detectionTriesMax: 3,
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
  /** Estimated memory of values in one scan, and text of the decoded values of one column chunk. */
  detectionSampleBytesMax: 256 * MiB,
  detectionChunkTextMax: 32 * MiB,
  /** One page of a column, compressed or not. */
  detectionPageBytesMax: 32 * MiB,
  /** One Parquet footer. */
  detectionFooterBytesMax: 64 * MiB,
  /** Manifests and manifest entries of one snapshot. */
  detectionManifestsMax: 10_000,
  detectionColumnsMax: 5_000,
  metadataCacheBytes: 128 * MiB,
  /** Returning callers of the gateway whose session and credential are cached for a speculative start. */
  returningCallersMax: 10_000,
  cachedGovernanceBytes: 32 * MiB,

  /** One metadata, manifest-list or manifest file of a table in storage, compressed or not. */
  tableMetadataBytesMax: 64 * MiB,

  /** Manifests of one snapshot that a query reads. Its files are bounded by the memory that they take. */
  engineManifestsMax: 10_000,
  /** Rows that one deletion vector may delete. */
  engineDeletedRowsMax: 16_000_000,
  /** Bytes requested at once for a data file, and concurrent fetches of all queries. */
  engineFetchBytes: 8 * MiB,
  engineFetchesMax: 8,
  /** Estimated memory of cached plans of snapshots. */
  enginePlanBytes: 256 * MiB,
  /** Idle connections that hold relations for the next statement, and characters of these relations' SQL. */
  engineIdleConnections: 64,
  engineIdleRelationsLength: 4 * MiB,
  /** Cached bytes of statements that are proved to read only their session's relations. */
  engineProofBytes: 16 * MiB,
  /** Memory of DuckDB that garbage holds before it is collected. */
  engineGarbageBytes: 16 * MiB,

  /** Errors that wait to be checked (query/run/tripwire.ts); milliseconds from the response to the check, and until its end. */
  tripwireQueueMax: 8,
  tripwireDelayMs: 1_000,
  tripwireMs: 60_000,
  /** Rows, and bytes of their text, that are copied for one check. */
  tripwireRowsMax: 2_000_000,
  tripwireBytesMax: 64 * MiB,
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
