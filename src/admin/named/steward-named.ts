/** Declares the verbs by name for what a steward decides: findings, checks, metrics, terms, transform rules, settings. */

import { access } from './access-named.ts'
import { loosenings } from './loosening-named.ts'
import { listing, type NamedVerb, single } from './named-verb.ts'
import { rowsText } from './seen-text.ts'

const findings: readonly NamedVerb[] = [
  listing(
    'findings',
    'list_detection_findings',
    '[--table TABLE] [--status open|confirmed|rejected|exempt|withdrawn] [--class CLASS] [--confidence-min N] [--run ID]',
    'Lists findings of personal data',
    ['id', 'table', 'column', 'class', 'confidence', 'status', 'found_at'],
    { examples: ['findings --status open', 'findings --table sales.orders --all --json'] },
  ),
  single(
    'findings decide',
    'decide_finding',
    'ID --decision confirm|reject|exempt [--reason TEXT]',
    'Decides a finding; to confirm it tags the column',
    { examples: ['findings decide 5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11 --decision confirm'] },
  ),
  listing(
    'findings runs',
    'list_detection_runs',
    '[--table TABLE] [--state queued|running|done|partial|failed]',
    'Lists runs of detection',
    ['created_at', 'table', 'state', 'reason', 'finished_at', 'id'],
  ),
  single('findings run', 'get_detection_run', 'ID', 'Shows a run of detection'),
  single('findings rescan', 'rescan_table', 'TABLE', 'Has a table scanned again'),
  listing('classifiers', 'list_classifiers', '', 'Lists classifiers of the tenant', [
    'name',
    'state',
    'revision',
    'active_revision',
    'tried',
    'updated_at',
  ]),
  single('classifiers show', 'get_classifier', 'NAME', 'Shows a classifier'),
  single(
    'classifiers create',
    'create_classifier',
    'FILE',
    'Makes a classifier from JSON: name and definition',
  ),
  single(
    'classifiers change',
    'change_classifier',
    'NAME FILE',
    'Changes the definition of a classifier, as JSON',
  ),
  single(
    'classifiers try',
    'try_classifier',
    'NAME FILE',
    'Tries a classifier on values or a table, as JSON',
  ),
  single('classifiers activate', 'activate_classifier', 'NAME', 'Has detection use a classifier'),
  single('classifiers deactivate', 'deactivate_classifier', 'NAME', 'Has detection use it no longer'),
  single('classifiers delete', 'delete_classifier', 'NAME', 'Deletes a classifier'),
]

const checks: readonly NamedVerb[] = [
  listing(
    'checks',
    'list_check_runs',
    '[--table TABLE] [--contract ID] [--kind quality|reconciliation]',
    'Lists runs of checks, newest first',
    ['requested_at', 'contract', 'number', 'table', 'kind', 'cause', 'state', 'id'],
    { examples: ['checks --contract orders'] },
  ),
  listing(
    'checks results',
    'list_check_results',
    'TABLE [--check KEY]',
    'Lists results of checks, newest first',
    ['at', 'key', 'column', 'outcome', 'value', 'threshold', 'severity', 'run'],
  ),
  single('checks show', 'get_check_run', 'ID', 'Shows a run of checks with its progress and results'),
  single(
    'checks run',
    'request_check_run',
    'CONTRACT TABLE [--catalog NAME] [--snapshot-id ID] [--checks KEYS]',
    'Has the checks of a contract run',
    {
      examples: ['checks run orders sales.orders'],
    },
  ),
  single(
    'checks reconcile',
    'request_reconciliation',
    'CONTRACT TABLE [--catalog NAME] [--snapshot-id ID] [--engine NAME] [--source NAME] [--source-table NAME]',
    'Has a table compared with its source',
  ),
  single('checks report', 'report_check_results', 'FILE', 'Reports results that another tool found, as JSON'),
  single('checks cancel', 'cancel_check_run', 'ID', 'Cancels a run'),
  single('checks resume', 'resume_check_run', 'ID', 'Goes on with a run that was cancelled or given up'),
  single(
    'checks differences',
    'locate_differences',
    'ID [--columns COLUMNS] [--key COLUMNS] [--counterpart N]',
    'Finds the rows in which a table differs from its source',
  ),
]

const meaning: readonly NamedVerb[] = [
  listing(
    'metrics',
    'list_metrics',
    '[--all-versions]',
    'Lists metrics',
    ['name', 'label', 'kind', 'version', 'state', 'tables', 'owner'],
    { members: { 'all-versions': 'all' }, examples: ['metrics --all'] },
  ),
  single('metrics show', 'show_metric', 'METRIC', 'Shows a metric', { examples: ['metrics show revenue'] }),
  listing('metrics versions', 'list_metric_versions', 'METRIC', 'Lists the versions of a metric', [
    'version',
    'state',
    'kind',
    'created_at',
    'created_by',
    'sha256',
  ]),
  single('metrics put', 'put_metric', 'METRIC FILE', 'Defines a metric, as JSON'),
  single(
    'metrics move',
    'move_metric',
    'METRIC VERSION TO',
    'Moves a version of a metric on: active, deprecated or retired',
  ),
  single(
    'metrics query',
    'query_metrics',
    'FILE',
    'Asks for metrics, as JSON: catalog, metrics, dimensions',
    {
      text: rowsText,
    },
  ),
  single('metrics attestations', 'list_attestations', 'METRIC', 'Lists attestations of a metric', {
    lists: 'whole',
    columns: ['id', 'version', 'tags', 'min_group_size', 'valid_until', 'attested_by', 'ended=ended.cause'],
  }),
  single(
    'metrics attest',
    'attest_metric',
    'METRIC FILE',
    'Attests that a metric gives nothing protected away, as JSON',
  ),
  single(
    'metrics end-attestation',
    'end_attestation',
    'METRIC ATTESTATION --reason TEXT',
    'Ends an attestation',
  ),
  single('metrics cubes', 'list_cubes', 'CATALOG', 'Lists the cubes that spreadsheets see', {
    lists: 'whole',
    columns: ['name', 'measures=measures.name', 'hierarchies=hierarchies.name'],
  }),
  single(
    'metrics connection',
    'download_connection_file',
    'CATALOG [--cube NAME]',
    'Prints the connection file for Excel',
  ),
  listing('glossary', 'list_terms', '[--query TEXT]', 'Lists terms', ['name', 'definition']),
  single('glossary show', 'show_term', 'TERM', 'Shows a term'),
  single(
    'glossary put',
    'put_term',
    'TERM --definition TEXT [--synonyms TERMS] [--owner SUB] [--broader TERM] [--links URLS]',
    'Defines a term',
  ),
  single('glossary delete', 'delete_term', 'TERM', 'Deletes a term'),
  listing(
    'models',
    'list_table_models',
    '',
    'Lists tables that metrics know: keys, dimensions, relationships',
    ['table', 'version', 'key', 'dimensions=dimensions.name', 'entity'],
  ),
  single('models show', 'show_table_model', 'TABLE', 'Shows the model of a table'),
  single('models put', 'put_table_model', 'TABLE FILE', 'Puts the model of a table, as JSON'),
]

const rule =
  '--action mask|redact|tokenize|encrypt [--mask MASK] [--method METHOD] [--scope SCOPE] [--alphabet digits|base36|base62] [--subject-key-of COLUMN] [--subject-kind KIND]'

const transforms: readonly NamedVerb[] = [
  single('transform status', 'get_transform_status', '', 'Shows scopes of keys, and subjects'),
  listing('transform rules', 'list_transform_rules', '', 'Lists what is protected before it is written', [
    'tag',
    'table',
    'field_id',
    'action',
    'mask',
    'method',
    'scope',
  ]),
  single(
    'transform rules set',
    'put_column_transform_rule',
    `TABLE COLUMN ${rule}`,
    'Protects a column before it is written',
  ),
  single(
    'transform rules remove',
    'delete_column_transform_rule',
    'TABLE COLUMN',
    'Takes the rule from a column',
  ),
  single(
    'transform rules set-tag',
    'put_tag_transform_rule',
    `TAG ${rule}`,
    'Protects columns with a tag before they are written',
  ),
  single('transform rules remove-tag', 'delete_tag_transform_rule', 'TAG', 'Takes the rule from a tag'),
  listing('transform reveals', 'list_transform_reveals', '', 'Lists who sees protected values in clear', [
    'table',
    'field_id',
    'roles',
    'method',
    'scope',
  ]),
  single(
    'transform reveals set',
    'put_column_transform_reveal',
    'TABLE COLUMN --roles ROLES',
    'Lets roles see the protected values of a column',
  ),
  single(
    'transform reveals remove',
    'delete_column_transform_reveal',
    'TABLE COLUMN',
    'Lets nobody see them',
  ),
  listing(
    'transform subjects',
    'list_transform_subjects',
    '[--kind KIND] [--shredded true|false]',
    'Lists subjects that have keys',
    ['kind', 'ref', 'created_at', 'shredded_at'],
  ),
  single(
    'transform shred',
    'shred_transform_subject',
    'KIND [FILE] [--ref REF]',
    'Destroys the key of a subject for ever',
    {
      details:
        'Name it by --ref, or by FILE with {"subject": …}: a subject is personal, so it is no argument.',
    },
  ),
  single('transform rotate', 'rotate_transform_scope', 'SCOPE', 'Gives a scope a new key'),
]

const settings: readonly NamedVerb[] = [
  single('settings reads', 'get_read_settings', '', 'Shows the settings of reads and findings'),
  single(
    'settings reads put',
    'put_read_settings',
    '[--uncontracted denied|to_writers|readable] [--finding-samples stewards|nobody] [--withdraw-gone never|history|current] [--withdraw-days N]',
    'Changes them',
  ),
  single(
    'settings classifications',
    'get_classification_tags',
    '',
    'Shows which tag each classification in documents gives',
  ),
  single(
    'settings classifications put',
    'put_classification_tags',
    'FILE',
    'Saves which tag each classification gives, as JSON: items of classification and tag',
  ),
  single(
    'settings life-cycle',
    'get_life_cycle_settings',
    '',
    'Shows the settings of the life cycle of contracts',
  ),
  single(
    'settings life-cycle put',
    'put_life_cycle_settings',
    '--deploy-unverified true|false [--notice-days N] [--quiet-days N]',
    'Changes them',
  ),
  single('settings graphql', 'get_graphql_settings', '', 'Shows the settings of GraphQL'),
  single(
    'settings graphql put',
    'put_graphql_settings',
    '--stored-operations-only true|false',
    'Changes them',
  ),
]

export const stewardNamed: readonly NamedVerb[] = [
  ...findings,
  ...checks,
  ...meaning,
  ...loosenings,
  ...access,
  ...transforms,
  ...settings,
]
