/** Declares the verbs by name that an auditor has most use for: who reads what and who can, what a person sees, what was changed. */

import { listing, type NamedVerb, single } from './named-verb.ts'
import { seenText } from './seen-text.ts'

const times = '[--from TIME] [--to TIME]'
const reads =
  '[--table TABLE] [--column COLUMN] [--principal SUB] [--outcome completed|refused|failed|cancelled]'
const outcomes = '[--outcome completed|refused|failed|cancelled]'
const person = { principal: 'principal.sub', roles: 'principal.roles', email: 'principal.email' }

export const auditorNamed: readonly NamedVerb[] = [
  listing(
    'usage',
    'list_usage',
    `${reads} ${times}`,
    'Lists reads, newest first',
    [
      'started_at',
      'principal',
      'surface',
      'contracts=contracts.id',
      'rows_out',
      'run_ms',
      'outcome',
      'query_id',
    ],
    { examples: ['usage --principal ann@example.com --from 2026-03-01T00:00:00Z --all'] },
  ),
  listing(
    'usage totals',
    'total_usage',
    `--by principal|outcome|day|table|contract [--principal SUB] ${outcomes} ${times}`,
    'Sums reads up',
    ['key', 'queries', 'rows_out', 'bytes_out', 'bytes_scanned', 'run_ms'],
    { examples: ['usage totals --by contract'] },
  ),
  single(
    'usage export',
    'export_usage',
    `${reads} ${times} [--format csv|jsonl]`,
    'Prints reads as CSV or one JSON object a line',
    { examples: ['usage export --table sales.orders --column email --format csv'] },
  ),
  single(
    'explain',
    'explain_query',
    'STATEMENT [--catalog NAME] [--dialect duckdb|trino] [--search-path NAMESPACES] [--principal SUB] [--roles ROLES]',
    'Shows the statement that would run, what it reads and which policies apply; runs nothing',
    {
      members: { principal: person.principal, roles: person.roles },
      details:
        'STATEMENT is - for standard input. One of --catalog and --dialect says which engine it is for. Another principal than your own takes the role steward.',
      examples: [
        `explain 'select email from sales.orders' --catalog lake --principal ann@example.com --roles analyst`,
      ],
    },
  ),
  single('explain mdx', 'explain_mdx', 'CATALOG STATEMENT', 'Shows what a statement of MDX would read'),
  single(
    'as-seen-by',
    'show_as_seen_by',
    'CATALOG.TABLE [--principal SUB] [--email EMAIL] [--roles ROLES] [--rows N]',
    'Shows a table as a person or role sees it: rows filtered, columns masked or hidden, and with --rows some rows',
    {
      members: person,
      fixed: { principal: {} },
      text: seenText,
      examples: ['as-seen-by lake.sales.orders --principal ann@example.com --roles analyst --rows 5'],
    },
  ),
  listing(
    'who-can-read',
    'list_readers',
    'TABLE [--column NAME]',
    'Lists who can read a table, each with the reasons',
    ['kind', 'name', 'rows', 'clear', 'masked', 'last_seen_at', 'until', 'reasons'],
    {
      details:
        'Anyone, roles, versions approved by break-glass, grants of access, attestations, live service sessions, and people seen in the last 90 days. With --json all members.',
      examples: ['who-can-read sales.orders --column email --all'],
    },
  ),
  listing(
    'who-read',
    'who_read',
    'TABLE --from TIME --to TIME [--column NAME] [--saw whole|filtered|masked|told]',
    'Lists who read a table between two times, over all surfaces',
    ['principal', 'surface', 'session=session.name', 'given', 'saw', 'reads', 'first_at', 'last_at'],
    {
      examples: [
        'who-read sales.orders --column email --from 2026-03-01T00:00:00Z --to 2026-04-01T00:00:00Z --all',
      ],
    },
  ),
  listing(
    'changes',
    'list_contract_changes',
    '',
    'Lists changes of contracts, masks, filters, tags, pins, metrics and settings, newest first',
    ['at', 'actor', 'action', 'subject'],
    { examples: ['changes --limit 500', 'changes --all --json'] },
  ),
  single(
    'decisions export',
    'export_decisions',
    `[--table TABLE] [--decision APPROVED|REJECTED] [--principal SUB] [--policy ID] [--request-id ID] [--session ID] [--client TEXT] [--application-id ID] [--branch NAME] ${times} [--format csv|jsonl]`,
    'Prints decisions on commits, as CSV or one JSON object a line',
  ),
  single('audit checkpoint', 'get_audit_checkpoint', '', 'Shows the last signed checkpoint of the audit', {
    details: 'Keep it outside of the service: a later one must be proven to begin with it.',
    examples: ['audit checkpoint'],
  }),
  single(
    'audit proof',
    'get_audit_proof',
    '[--commit ID] [--query ID] [--change NUMBER] [--index N]',
    'Proves that a commit, query or change is in the audit of the last checkpoint',
    { details: 'Name one of the four.', examples: ['audit proof --change 42'] },
  ),
  single(
    'audit consistency',
    'get_audit_consistency',
    '--from N [--to N]',
    'Proves that the audit of one size begins with that of a smaller one',
    { examples: ['audit consistency --from 1000'] },
  ),
  listing('lineage datasets', 'list_lineage_datasets', '', 'Lists datasets of lineage', [
    'node',
    'table',
    'same_as',
    'jobs=jobs.name',
  ]),
  listing('lineage jobs', 'list_lineage_jobs', '', 'Lists jobs of lineage', [
    'node',
    'last_run=last_run.run_id',
    'state=last_run.state',
    'started_at=last_run.started_at',
  ]),
  listing(
    'lineage runs',
    'list_lineage_runs',
    '[--job-namespace TEXT] [--job NAME] [--parent-run-id ID] [--root-run-id ID]',
    'Lists runs of jobs, newest first',
    ['started_at', 'ended_at', 'state', 'job=job.name', 'run_id', 'producer'],
  ),
  listing('lineage run', 'list_lineage_run_events', 'PRODUCER RUN_ID', 'Lists the events of a run', [
    'event_time',
    'kind',
    'event_type',
    'state',
    'principal',
    'received_at',
  ]),
  listing(
    'lineage refused',
    'list_refused_lineage',
    '',
    'Lists events of lineage that were refused, and why',
    ['received_at', 'job=job.name', 'run_id', 'reason=refusal.reason'],
  ),
  listing(
    'lineage reads',
    'list_read_lineage',
    '[--table TABLE] [--column COLUMN] [--principal SUB]',
    'Lists which columns were read together, by whom',
    ['principal', 'reads', 'first_read_at', 'last_read_at', 'columns'],
  ),
]
