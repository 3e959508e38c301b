/**
 * What a graph query may name: labels and types, which of them join what, and the properties of each with who sees
 * them (docs/reference/graph.md 2.2). A property that is not listed here cannot be read, filtered or returned.
 */

import type { EdgeLabel, VertexLabel } from '../store/database/names.ts'

/** Who sees a label, a type or a property: each reader, or stewards only. */
export type Audience = 'reader' | 'steward'

export interface PropertyDeclaration {
  readonly type: 'text' | 'number' | 'boolean'
  readonly audience: Audience
  /** Whether the store has a list of texts, which is shown joined by dots. */
  readonly levels?: true
  /** Of a property that no node or edge holds: its JSON in SQL, made of what it holds. */
  readonly computed?: (held: string) => string
}

export interface Declared {
  readonly audience: Audience
  readonly properties: Readonly<Record<string, PropertyDeclaration>>
}

const text: PropertyDeclaration = { type: 'text', audience: 'reader' }
const number: PropertyDeclaration = { type: 'number', audience: 'reader' }
const flag: PropertyDeclaration = { type: 'boolean', audience: 'reader' }
const levels: PropertyDeclaration = { ...text, levels: true }
const forStewards: PropertyDeclaration = { type: 'text', audience: 'steward' }

/** Of the latest run of a job. */
const jobState: PropertyDeclaration = {
  ...text,
  computed: (held) => `to_jsonb(svc.job_state(${held} ->> 'namespace', ${held} ->> 'name'))`,
}
/** Of the latest run with datasets of the job that an edge names. */
const edgeState: PropertyDeclaration = {
  ...text,
  computed: (held) => `(select to_jsonb(c.state) from lineage_claim c
    where c.job_id = ${held} ->> 'job_id' order by c.said desc limit 1)`,
}

const reader = (properties: Declared['properties']): Declared => ({ audience: 'reader', properties })
const steward = (properties: Declared['properties']): Declared => ({ audience: 'steward', properties })

/** The vertex labels. A reserved one has no properties, and no node of it is ever seen. */
export const labels: Readonly<Record<VertexLabel, Declared>> = {
  Contract: reader({ id: text, version: number, state: text }),
  ContractVersion: reader({ contract: text, number, sha256: text }),
  Catalog: reader({}),
  Namespace: reader({ name: text }),
  Table: reader({ namespace: levels, name: text, table_uuid: text, schema_id: text }),
  Column: reader({ name: text, type: text, required: flag, field_id: number }),
  Snapshot: reader({
    snapshot_id: text,
    parent_snapshot_id: text,
    sequence_number: number,
    timestamp_ms: number,
    operation: text,
    metadata_location: forStewards,
  }),
  Branch: reader({}),
  Policy: steward({ id: text, name: text, kind: text, mode: text, message: text, definition_cel: text }),
  RetentionPolicy: steward({
    id: text,
    name: text,
    kind: text,
    mode: text,
    message: text,
    definition_cel: text,
  }),
  RowFilter: steward({ policy_id: text, expression: text }),
  ColumnMask: steward({ policy_id: text, action: text, expression: text }),
  Tag: reader({ name: text }),
  Classification: steward({ class: text, column: text, confidence: number, shape: text, status: text }),
  Attestation: steward({ decision: text, level: text, reason: text, attested_by: text, attested_at: text }),
  GlossaryTerm: reader({}),
  Metric: reader({}),
  Principal: steward({ sub: text }),
  Role: reader({}),
  Dataset: reader({ namespace: text, name: text }),
  Job: reader({ namespace: text, name: text, state: jobState }),
  PinEvent: reader({ kind: text, seq: number, snapshot_id: text, catalog: text, at: text, by: forStewards }),
  QualityCheck: reader({}),
}

const writeEvent = { commit_id: text, committer: text, decision: text, reason: text, created_at: text }

/** The edge labels. */
export const types: Readonly<Record<EdgeLabel, Declared>> = {
  GOVERNS: reader({}),
  VERSION_OF: reader({}),
  IN_NAMESPACE: reader({}),
  IN_CATALOG: reader({}),
  HAS_COLUMN: reader({}),
  PARENT_OF: reader({}),
  HAS_BRANCH: reader({}),
  POINTS_AT: reader({}),
  SCHEMA_GOVERNS: steward({}),
  WRITE_GOVERNS: steward({}),
  RETAINS: steward({}),
  FILTERS: steward({}),
  MASKS: steward({}),
  APPLIES_TO: steward({}),
  TAGGED: reader({ confidence: { type: 'number', audience: 'steward' }, status: forStewards }),
  CLASSIFIED_AS: steward({}),
  EVIDENCED_BY: steward({}),
  ATTESTS: steward({}),
  MEANS: reader({}),
  COMPUTED_OVER: reader({}),
  DEFINES: reader({}),
  HAS_ROLE: steward({}),
  INTENDED_WRITE: steward(writeEvent),
  ACTUAL_WRITE: steward(writeEvent),
  LINEAGE_OF: reader({ producer: text, run_id: text, state: edgeState }),
  STORED_AS: reader({}),
  PRODUCED_BY: reader({ in_place: flag }),
  CONSUMED_BY: reader({}),
  PINS: reader({}),
  CHECKS: reader({}),
}

/** What each type joins, from → to (docs/reference/graph.md 1.2). Reserved types join nothing yet. */
export const ends: Readonly<Record<EdgeLabel, readonly (readonly [VertexLabel, VertexLabel])[]>> = {
  GOVERNS: [['Contract', 'Table']],
  VERSION_OF: [],
  IN_NAMESPACE: [
    ['Table', 'Namespace'],
    ['Namespace', 'Namespace'],
  ],
  IN_CATALOG: [],
  HAS_COLUMN: [['Table', 'Column']],
  PARENT_OF: [
    ['Snapshot', 'Snapshot'],
    ['Job', 'Job'],
  ],
  HAS_BRANCH: [],
  POINTS_AT: [],
  SCHEMA_GOVERNS: [
    ['Policy', 'Table'],
    ['Policy', 'Namespace'],
    ['Policy', 'Tag'],
  ],
  WRITE_GOVERNS: [
    ['Policy', 'Table'],
    ['Policy', 'Namespace'],
    ['Policy', 'Tag'],
  ],
  RETAINS: [
    ['RetentionPolicy', 'Table'],
    ['RetentionPolicy', 'Namespace'],
    ['RetentionPolicy', 'Tag'],
  ],
  FILTERS: [
    ['RowFilter', 'Table'],
    ['RowFilter', 'Column'],
  ],
  MASKS: [['ColumnMask', 'Column']],
  APPLIES_TO: [
    ['RowFilter', 'Tag'],
    ['ColumnMask', 'Tag'],
  ],
  TAGGED: [
    ['Column', 'Tag'],
    ['Table', 'Tag'],
  ],
  CLASSIFIED_AS: [['Column', 'Classification']],
  EVIDENCED_BY: [['Classification', 'Snapshot']],
  ATTESTS: [
    ['Attestation', 'Classification'],
    ['Attestation', 'ContractVersion'],
  ],
  MEANS: [],
  COMPUTED_OVER: [],
  DEFINES: [],
  HAS_ROLE: [],
  INTENDED_WRITE: [['Principal', 'Table']],
  ACTUAL_WRITE: [['Snapshot', 'Table']],
  LINEAGE_OF: [['Dataset', 'Dataset']],
  STORED_AS: [['Dataset', 'Table']],
  PRODUCED_BY: [['Dataset', 'Job']],
  CONSUMED_BY: [['Dataset', 'Job']],
  PINS: [['PinEvent', 'Table']],
  CHECKS: [],
}

/** Whether somebody of `as` sees what is for `audience`. */
export function sees(as: Audience, audience: Audience): boolean {
  return as === 'steward' || audience === 'reader'
}

/** The properties of a label or type that somebody of `as` sees. */
export function visibleProperties(
  { properties }: Declared,
  as: Audience,
): readonly (readonly [string, PropertyDeclaration])[] {
  return Object.entries(properties).filter(([, { audience }]) => sees(as, audience))
}
