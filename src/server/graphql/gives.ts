/**
 * What each field tells of tables, by type (docs/reference/visibility.md 3). A schema with a field that is not here is
 * not made. Connections, edges and pages hold nothing of their own.
 */

import { type GraphQLSchema, isObjectType } from 'graphql'
import type { GivesOfTables, Silence } from '../../core/gives.ts'
import { givesWritten } from '../../store/governance/written-values.ts'

const visible = {
  existence: { visible: ['existence'] },
  description: { visible: ['description'] },
  columns: { visible: ['columns'] },
  values: { visible: ['values'] },
  counts: { visible: ['counts'] },
} as const satisfies Readonly<Record<string, GivesOfTables>>
const overseers = ['steward', 'administrator', 'owner', 'auditor'] as const
const more = {
  overseen: {
    own: ['existence', 'columns', 'counts'],
    overseen: ['existence', 'columns', 'counts'],
    overseers,
  },
  written: { own: ['existence', 'columns', 'counts'], ...givesWritten },
  ofMetrics: { visible: ['existence', 'columns', 'values', 'counts'] },
  ofPolicies: { overseen: ['existence'], overseers },
  ofContracts: { overseen: ['existence', 'description', 'columns'], overseers },
  ofCoverage: {
    overseen: ['existence', 'description'],
    overseers: ['steward', 'administrator', 'auditor'],
  },
  ofReaders: {
    overseen: ['existence', 'description', 'columns'],
    overseers: ['steward', 'administrator', 'auditor'],
  },
  ofAccess: {
    own: ['existence', 'columns'],
    overseen: ['existence', 'columns'],
    overseers: ['steward', 'administrator', 'auditor'],
  },
  ownUsage: {
    own: ['existence', 'counts'],
    overseen: ['existence', 'counts'],
    overseers: ['steward', 'administrator', 'auditor'],
  },
} as const satisfies Readonly<Record<string, GivesOfTables>>
const kinds = { ...visible, ...more }

type Kind = keyof typeof kinds
/** Field names, with blanks between, by what they give; or why none gives anything. */
type TypeGives = { readonly [K in Kind]?: string } | Silence

const byType: Readonly<Record<string, TypeGives>> = {
  Query: {
    existence: 'contract contracts metric metrics node qualityRun table tables',
    description: 'glossaryTerm glossaryTerms',
    ofMetrics: 'metricValues',
    overseen: 'decision writeEvents',
    ofContracts: 'contractVersion',
    ofCoverage: 'contractCoverage uncoveredTables',
    ofPolicies: 'policies',
    ofAccess: 'myAccess myAccessRequests',
    ownUsage: 'usageTotals',
  },
  Mutation: { existence: 'attest pinTable', ofContracts: 'deploy proposeContractVersion signOff' },
  Subscription: { existence: 'pinEvents', overseen: 'decisions', ofContracts: 'lifecycle' },
  Table: {
    existence: 'id name namespace lineage metrics pins',
    description: 'commits contract contractVersion description pinnedSnapshotId',
    columns: 'columns kpis namedSets primaryKey rowFilters qualityChecks qualityRuns',
    overseen: 'writeEvents',
    ofReaders: 'readers',
    ofAccess: 'accessGrants accessRequests',
  },
  AccessGrant: {
    ofAccess:
      'endReason endedAt from grantId grantedBy namespace purpose requestId role sub tableName ticket until',
  },
  AccessRequest: {
    ofAccess:
      'columns endedAt filters namespace policies purpose requestId requestedAt requestedBy role seconds state sub tableName ticket',
  },
  TableReader: {
    ofReaders:
      'by clear hidden kind lastSeenAt masked name reasons roles rows sessionId since sub surface until',
  },
  Column: { existence: 'table', description: 'description', columns: 'id mask name required tags type' },
  ColumnMask: { columns: 'action' },
  RowFilter: { columns: 'columns expression id' },
  Tag: { columns: 'name' },
  Contract: {
    existence: 'id name tables',
    description: 'documentVersion limitations purpose serviceLevels state unverified usage whomToAsk',
    ofContracts: 'moves versions',
  },
  ContractVersion: {
    ofContracts:
      'author breaking commits contract createdAt findings id loosensAccess number sha256 signOffs state unverified version',
  },
  ContractCoverage: {
    ofCoverage: 'inShadow tables uncontracted unprotectedFindings unread withoutOwner',
  },
  UncoveredTable: { ofCoverage: 'contractName namespace tableName' },
  WhomToAsk: { description: 'channels people team' },
  Person: { description: 'name role username' },
  SupportChannel: { description: 'channel tool url' },
  ServiceLevel: { description: 'element property unit value' },
  CommitRules: { description: 'enforcedFrom mode' },
  VersionCommitRules: { ofContracts: 'enforcedAfterDays enforcedFrom mode namespace tableName' },
  ContractFinding: { ofContracts: 'access at change consumer message producer' },
  ContractMove: { ofContracts: 'at auto by from move number reason to' },
  Attestation: { ofContracts: 'at by comment level sha256' },
  LifecycleNotice: { ofContracts: 'at by contract from move number reason sequence to' },
  ContractVersionPayload: { ofContracts: 'number userErrors version' },
  AttestPayload: { existence: 'finding status userErrors' },
  PinTablePayload: { existence: 'sequence snapshotId userErrors' },
  PinEvent: { existence: 'at by catalog kind sequence snapshotId' },
  PinNotice: { existence: 'at by catalog kind sequence snapshotId table' },
  UserError: 'own input',
  GlossaryTerm: {
    existence: 'metrics',
    description: 'broader definition id links name owner synonyms version',
  },
  Metric: {
    existence: 'id name kind label state tables version madeOf',
    description: 'createdAt createdBy defaultGrain description folder format owner sha256 term unit',
    columns: 'currency dimensions expression filter masked problems tags',
  },
  Kpi: {
    columns: 'description folder goal label name parent status statusGraphic trend trendGraphic value weight',
  },
  NamedSet: { columns: 'description dynamic expression folder label name' },
  MetricDimension: { columns: 'description kind label name' },
  MetricProblem: { columns: 'column detail kind' },
  MetricCurrency: { columns: 'column rate to' },
  MetricColumn: { columns: 'kind name type unit' },
  MetricValues: {
    columns: 'columns masked restrictedBy',
    values: 'rows warnings',
    counts: 'truncated queryId',
  },
  LineageEdge: { existence: 'from hops inPlace label stale state to' },
  LineageNode: { existence: 'kind name namespace state table' },
  QualityRun: {
    existence:
      'id catalog cause contract currentSnapshotId kind number reason requestedAt requestedBy runId snapshotId state table',
    columns: 'checks',
    counts: 'bytes finishedAt ms rows startedAt steps stepsDone',
  },
  QualityCheck: {
    existence: 'id run',
    columns: 'at column custom engine key metric operator severity threshold unit',
    counts: 'outcome reason value',
  },
  UsageTotal: { ownUsage: 'bytesOut bytesScanned key queries rowsOut runMs' },
  Policy: { ofPolicies: 'definitionCel id kind message mode name policyId' },
  WriteEvent: {
    overseen:
      'action applicationId branch client commitId committer createdAt decision explanation id metadataLocation namespace reason requestId table tableName',
  },
  Decision: { overseen: 'outcomes policies' },
  PolicyOutcome: { overseen: 'error mode name policyId value', written: 'explanation' },
  DecisionNotice: { overseen: 'action at commitId committer decision namespace reason sequence tableName' },
}

const isStructure = (name: string) => name === 'PageInfo' || /(?:Connection|Edge)$/.test(name)

/** What each field gives, as `Type.field`. */
export function fieldGives(schema: GraphQLSchema): readonly (readonly [string, GivesOfTables])[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (
      !isObjectType(type) ||
      type.name.startsWith('__') ||
      (isStructure(type.name) && type.name !== 'LineageEdge')
    )
      return []
    const declared = byType[type.name] ?? {}
    return Object.keys(type.getFields()).map(
      (field) => [`${type.name}.${field}`, givesOf(declared, type.name, field)] as const,
    )
  })
}

/** @throws Error where none or several are declared */
function givesOf(declared: TypeGives, type: string, field: string): GivesOfTables {
  if (typeof declared === 'string') return { nothing: declared }
  const found = Object.entries(declared).flatMap(([kind, names]) =>
    names.split(' ').includes(field) ? [kind] : [],
  )
  if (found.length !== 1)
    throw new Error(`${type}.${field} is not served: it declares ${found.length} times what it gives.`)
  return kinds[found[0] as Kind]
}
