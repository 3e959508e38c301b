/**
 * The bounds of docs/reference/limits.md, and others that more than one file or an operator goes by; what one algorithm
 * alone needs stands beside it. Body caps are constants, not settings.
 */

const KiB = 1024
const MiB = 1024 * KiB
/** In milliseconds. */
const HOUR = 3_600_000

export const limits = {
  commitBodyBytesMax: 16 * MiB,
  /** A body of at most this declared length is read before it is known whose it is. */
  earlyBodyBytesMax: 256 * KiB,
  lineageBodyBytesMax: 1 * MiB,
  webhookBodyBytesMax: 256 * KiB,
  /** Other JSON bodies (administration, sessions). */
  apiBodyBytesMax: 1 * MiB,

  /** Milliseconds in which a client of the HTTP listener sends or takes nothing, while it is its turn. */
  httpIdleMs: 120_000,

  /** Characters in one {prefix}, {namespace} level or {table}. */
  identifierLengthMax: 255,
  jsonDepthMax: 128,

  /** Tables of one transaction, whose decisions one header of the answer names, and those that load at once. */
  transactionTablesMax: 64,
  transactionLoadsMax: 8,
  /** Characters of the header that names policies: proxies and clients refuse longer answers, accepted or not. */
  warningHeaderCharsMax: 2_048,

  graphHopsDefault: 3,
  graphHopsMax: 5,
  /** It stands in an index entry. */
  lineageProducerBytesMax: 2_000,
  /** Datasets in one event's inputs, and in its outputs. */
  lineageDatasetsMax: 2_000,
  /** Edges (inputs × outputs) of one event. */
  lineagePairsMax: 10_000,
  /** Events, their edges and their bytes in one merge transaction; an event alone may pass the last two. */
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
  /** Milliseconds after which a policy that a worker runs is cut off. */
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

  /** One SQL statement sent to the read path, and one that it sends to an engine. */
  statementBytesMax: 256 * KiB,
  compiledStatementBytesMax: 4 * MiB,
  /** Columns that the results of one query may have, as PostgreSQL has it. */
  targetsMax: 1_664,
  /** What a statement may come to stand for beyond what it spells out: columns in scope, repeated expressions. */
  statementExpansionMax: 400_000,
  /** What one text or array of a statement may come to, reckoned before it runs: an engine computes 2,048 at once. */
  statementValueBytesMax: 512 * KiB,
  /** Text of the row filters and mask expressions whose trees are kept; a tree takes some fifty times its text. */
  policyExpressionCacheBytes: 1 * MiB,
  /** Tables that one statement may name, and those of them that load from the upstream at once. */
  statementTablesMax: 64,
  statementLoadsMax: 8,
  /** Tables that they may mean, along the search path. */
  statementCandidatesMax: 1_024,
  /** Text of the statements whose names are kept. */
  namesCacheBytes: 8 * MiB,
  /** Estimated memory of parsed statements that are kept. */
  statementTreeCacheBytes: 16 * MiB,
  /** Estimated memory of the table metadata that the read path keeps parsed. */
  tableStateBytes: 64 * MiB,
  /** Compiled statements that are kept, by the bytes of what they were compiled from. */
  compiledCacheBytes: 32 * MiB,
  /** Estimated memory of what governs tables, kept by the text that it was read from. */
  governanceCacheBytes: 32 * MiB,
  /** Estimated memory of the last load of each statement, on which the next run starts speculatively. */
  lastLoadBytes: 32 * MiB,
  /** Milliseconds from a run's start to its end, waiting for its client included. */
  queryMs: 900_000,
  /** Milliseconds after which a run that was put on record is surely over, or its process gone. */
  queryLeaseMs: 1_020_000,
  /** Milliseconds after a statement was compiled in which its run by the same request may use what was loaded. */
  requestLoadMs: 1_000,
  /** Milliseconds for which nobody asks a run for its next rows, as of an open cursor. */
  queryIdleMs: 300_000,
  /** Tenants whose governance version is cached. */
  cachedVersionsCount: 10_000,
  /** Milliseconds after which a version is asked for again while rows go on, and for which rows may rest on one. */
  governanceAskMs: 1_000,
  governanceStaleMs: 2_000,
  /** Milliseconds for which an open run waits for a store that cannot say whether it may go on, and between two tries. */
  governanceWaitMs: 5_000,
  governanceRetryMs: 250,
  /** Milliseconds for which a finished run waits until its engine has let go. */
  engineCloseMs: 5_000,
  /** Statements that may wait for the embedded engine, for each that it may run. */
  engineQueueFactor: 16,
  /** Threads of the runtime's pool that the embedded engine's queries never take: all else that is native needs some. */
  engineSpareThreads: 4,

  /** Rows of one batch of a result. */
  resultBatchRows: 4_096,
  /** One answer of a Trino coordinator, and one spooled segment, compressed or not. */
  trinoAnswerBytesMax: 64 * MiB,
  /** Milliseconds for one request to a Trino; the coordinator answers each within a second or two. */
  trinoRequestMs: 30_000,
  /** Milliseconds for which a request that fails in passing is sent again. */
  trinoRetryMs: 30_000,
  /** Milliseconds for which the end of a query waits for Trino to hear of it. */
  trinoStopMs: 5_000,
  /** Answers in a row without rows: some five hours in a Trino's queue. */
  trinoEmptyAnswersMax: 20_000,

  /** Connections to the PostgreSQL wire: of this process, of one tenant, of one principal; not let in yet. */
  pgwireConnectionsMax: 5_000,
  pgwireTenantConnectionsMax: 2_000,
  pgwirePrincipalConnectionsMax: 1_000,
  pgwireStrangersMax: 1_000,
  /** Milliseconds from a connection's first byte to its credential. */
  pgwireAuthenticationMs: 30_000,
  /** Milliseconds of one statement unless the client sets another bound, and at most: no longer than a run may take. */
  pgwireStatementMs: 600_000,
  pgwireStatementMsMax: 900_000,
  /** Milliseconds without a statement. */
  pgwireIdleMs: 8 * HOUR,
  pgwireIdleInTransactionMs: 600_000,
  /** Prepared statements, and portals with cursors, of one connection. */
  pgwirePreparedMax: 1_000,
  /** What the former hold of texts, columns and parsed trees, roughly. */
  pgwirePreparedBytesMax: 64 * MiB,
  pgwirePortalsMax: 100,
  /** What the latter hold of statements, of parameters, and of answers about the catalog, which are there whole. */
  pgwirePortalBytesMax: 64 * MiB,
  /** What of one connection's rows is encoded before it is sent. */
  pgwireWriteBytes: 128 * KiB,
  /** One encoded row. */
  pgwireRowBytesMax: 64 * MiB,
  /** What a client may send ahead of what is being answered; one message may have 8 MiB. */
  pgwireAheadBytesMax: 16 * MiB,
  /** Rows of one catalog statement, held while the client reads them. */
  pgwireCatalogBytesMax: 64 * MiB,

  /** Tables of one catalog that pg_catalog shows; a tenant with more is refused, not shown a part. */
  catalogTablesMax: 5_000,
  /** Columns of one table, as PostgreSQL has it. */
  catalogColumnsMax: 1_600,
  /** What a contract declares: one description, one column's name, columns of one key, foreign keys. */
  contractDescriptionBytesMax: 4 * KiB,
  contractNameBytesMax: 1 * KiB,
  contractKeyColumnsMax: 32,
  contractRelationshipsMax: 100,
  catalogAnswerBytesMax: 64 * MiB,
  /** What one such database may work with: its memory, 400 MiB of it for 5,000 tables, and its temporary files. */
  catalogHeapBytesMax: 1024 * MiB,
  catalogTempBytesMax: 64 * MiB,
  /** Databases that hold a catalog at once; each takes about 300 MiB. */
  catalogWorkersMax: 2,
  /** Milliseconds without a statement after which one is ended. */
  catalogIdleMs: 600_000,
  /** Statements about the catalog of one tenant that wait for one of them. */
  catalogWaitingMax: 200,
  /** Milliseconds after which one of them turns to the next tenant that waits. */
  catalogTurnMs: 1_000,
  /** Tables and principals that one of them is given before it is replaced, since it grows with each. */
  catalogChangesMax: 10_000,
  /** Tables above which it is replaced rather than emptied. */
  catalogDropMax: 1_000,
  /** Milliseconds for which a catalog that could not be loaded is not tried again. */
  catalogRetryMs: 10_000,
  /** Milliseconds: one statement about the catalog; its wait; loading what it shows; starting a database. */
  catalogStatementMs: 10_000,
  catalogWaitMs: 30_000,
  catalogLoadMs: 30_000,
  catalogStartMs: 60_000,
  /** Milliseconds for which the columns that a catalog shows may be out of date. */
  catalogColumnsMs: 5_000,

  /** Milliseconds. */
  upstreamLoadMs: 30_000,
  upstreamCommitMs: 60_000,
  storeStatementMs: 10_000,
  /** How long an intent belongs to the process that wrote it. Longer than load and commit together. */
  intentLeaseMs: 120_000,
  /** A commit whose intent is older than this is no longer forwarded: its lease could run out on the way. */
  forwardWithinMs: 50_000,
  /** For looking whether a commit was made whose answer was lost, before the client is answered. */
  lostAnswerWithinMs: 5_000,
  /** Upstreams that recovery looks into at once, and milliseconds that a run has for each: less than to the next one. */
  recoveryUpstreamsMax: 8,
  recoveryUpstreamMs: 45_000,
  drainMs: 25_000,
  /** For the last answers to leave after the drain. */
  flushMs: 2_000,

  /** A session's subject, an organization's id, a provider's name of a login: they stand in index entries. */
  subjectBytesMax: 1_024,
  /** Milliseconds from a login to its end, used or not. */
  browserSessionMs: 12 * HOUR,
  /** Milliseconds without a request after which a browser session is over. */
  browserSessionIdleMs: 1 * HOUR,
  /** Milliseconds between /login and /callback. */
  loginMs: 600_000,
  accessTokenMs: 1 * HOUR,
  /** Age in milliseconds at which a key that signs access tokens is followed by a new one. */
  signingKeyMs: 30 * 24 * HOUR,
  /** Milliseconds by which a webhook's signature may be older or newer than the clock. */
  webhookToleranceMs: 300_000,
  /** Characters of a webhook's signature header: a time and a few signatures. */
  webhookSignatureCharsMax: 1_024,
  /** Milliseconds for one request to the identity provider. */
  identityProviderMs: 10_000,

  upstreamResponseBytesMax: 256 * MiB,
  /** Of a response that is no success; a longer one counts as empty. */
  upstreamErrorBytesMax: 64 * KiB,
  /** Milliseconds for which a resolved and checked upstream address is used. */
  upstreamAddressMs: 60_000,
  /** Open catalogs whose configuration and tokens are kept. */
  catalogPoolCount: 1_000,
  /** Tables whose vended storage credentials are kept. */
  vendedCredentialsCount: 1_000,
  /** Milliseconds for which they are kept at most, whatever the upstream says of their end. */
  vendedCredentialsMs: 300_000,
  /** Milliseconds before their end from which they are asked for anew: longer than a scan takes. */
  vendedMarginMs: 150_000,

  /** Milliseconds between two looks of the baseline poller (docs/reference/detection.md 1.2). */
  detectionPollMs: 30_000,
  /** Milliseconds without a request to the gateway after which what is not urgent goes on, and for which it waits at most. */
  backgroundQuietMs: 100,
  backgroundWaitMs: 10_000,
  /** Milliseconds that a worker may take for one snapshot. */
  detectionScanMs: 120_000,
  /** Milliseconds for which a claimed snapshot belongs to its claimer. */
  detectionLeaseMs: 240_000,
  /** Attempts after which a snapshot that cannot be scanned has failed. */
  detectionTriesMax: 3,
  /** Attempts after which an alert is given up. */
  detectionAlertTriesMax: 10,
  /** What one snapshot's scan reads of data files, and how many of them. */
  detectionBytesMax: 64 * MiB,
  detectionFilesMax: 64,
  /** Characters of the reason of a steward's decision. */
  decisionReasonCharsMax: 2_000,
  /** Row groups of one file. */
  detectionRowGroupsMax: 4,
  /** Values of one column. */
  detectionValuesMax: 10_000,
  /** Findings of one snapshot: they are written within its lease, some milliseconds each. */
  detectionFindingsMax: 2_000,
  /** What one scan keeps of values, roughly, and the values of one column chunk, decoded. */
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
  /** Callers of the gateway whose session and credential are kept for a speculative start of their next commit. */
  returningCallersMax: 10_000,
  cachedGovernanceBytes: 32 * MiB,

  /** One metadata, manifest-list or manifest file of a table in storage, compressed or not. */
  tableMetadataBytesMax: 64 * MiB,

  /** Manifests, and data and delete files, of one snapshot that a query reads. */
  engineManifestsMax: 10_000,
  engineFilesMax: 100_000,
  /** Rows that one deletion vector may delete. */
  engineDeletedRowsMax: 16_000_000,
  /** Bytes asked of storage at once for a data file, and files fetched at once by all queries. */
  engineFetchBytes: 8 * MiB,
  engineFetchesMax: 8,
  /** Of plans of snapshots that are kept, roughly. */
  enginePlanBytes: 256 * MiB,
  /** Connections that wait with their relations for the next statement, and characters of these relations' SQL. */
  engineKeptConnections: 64,
  engineKeptRelationsLength: 4 * MiB,
  /** Bytes of statements that are known to read their session's relations alone. */
  engineProofBytes: 16 * MiB,
  /** Memory of DuckDB that hangs on garbage before it is collected. */
  engineGarbageBytes: 16 * MiB,

  /** Errors that wait to be looked into (query/tripwire.ts); milliseconds after the answer before, and until, one is. */
  tripwireQueueMax: 8,
  tripwireDelayMs: 1_000,
  tripwireMs: 60_000,
  /** Rows, and bytes of their text, that are copied for one look. */
  tripwireRowsMax: 2_000_000,
  tripwireBytesMax: 64 * MiB,
} as const

if (limits.intentLeaseMs <= limits.upstreamLoadMs + limits.upstreamCommitMs)
  throw new Error('limits: an intent must outlive the upstream calls it covers')
if (limits.forwardWithinMs + limits.upstreamCommitMs + limits.lostAnswerWithinMs >= limits.intentLeaseMs)
  throw new Error('limits: a forward must end, and be settled, within the lease of its intent')
if (limits.graphHopsDefault > limits.graphHopsMax) throw new Error('limits: hop bounds')
if (limits.vendedMarginMs <= limits.detectionScanMs)
  throw new Error('limits: vended credentials would end while a scan runs')
if (limits.detectionScanMs * 1.5 > limits.detectionLeaseMs)
  throw new Error('limits: a scan must end well within the lease of its snapshot')
if (limits.detectionScanMs + limits.backgroundWaitMs * 2 >= limits.detectionLeaseMs)
  throw new Error('limits: a scan that stands back for commits must end within its lease, too')
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
  throw new Error('limits: most of the time for a look must be left for the look')
if (limits.queryIdleMs >= limits.queryMs) throw new Error('limits: an idle run would end by its time first')
if (limits.governanceAskMs >= limits.governanceStaleMs)
  throw new Error('limits: a version must be asked for before rows may no longer rest on it')
if (limits.pgwireStatementMs > limits.pgwireStatementMsMax || limits.pgwireStatementMsMax > limits.queryMs)
  throw new Error('limits: statement times')
