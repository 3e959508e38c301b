/** Lists findings of detection (docs/reference/detection.md 4), and records stewards' decisions and their graph. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { confidences, type Finding, type FindingClass } from '../../core/classification.ts'
import type { DetectionDecision, FindingStatus } from '../../core/detection.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import {
  afterPosition,
  isUuid,
  type Page,
  type PageRequest,
  pageLimit,
  positionText,
  toPage,
} from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { isReadable } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { attachedTables } from './attached-tables.ts'
import { projectClassification } from './evidence.ts'
import { tableOf } from './runs.ts'

export interface ListedFinding extends Finding {
  readonly id: string
  /** Of its column; undefined where that is not in the schema. */
  readonly fieldId: number | undefined
  /** The latest that found it. */
  readonly runId: string
  /** The latest runs that found it, the newest first. */
  readonly runs: readonly FindingRun[]
  readonly table: TableRef | undefined
  readonly status: FindingStatus
  readonly decision:
    | {
        readonly reason: string
        readonly decidedBy: string
        readonly decidedAt: Date
        /** Undefined for a decision that was made before the actor was recorded. */
        readonly actor: Actor | undefined
      }
    | undefined
  readonly firstFoundAt: Date
  readonly foundAt: Date
  /** Undefined while something stands for it, or a person decided. */
  readonly withdrawal: Withdrawal | undefined
}

/** What one run saw. */
interface FindingRun {
  readonly run: string
  readonly shape: Finding['shape']
  readonly confidence: Finding['confidence']
  readonly at: Date
  /** Since when the table no longer has the files that it read. */
  readonly goneSince: Date | undefined
}

/** `due`: its tag falls at that time, or is looked at then. `needs_sign_off`: a contract would promise less. */
type Withdrawal =
  | { readonly state: 'withdrawn'; readonly at: Date; readonly why: 'refuted' | 'gone' }
  | { readonly state: 'due' | 'needs_sign_off'; readonly at: Date }

export interface FindingFilter extends PageRequest {
  readonly table?: TableRef | undefined
  readonly runId?: string | undefined
  readonly status?: FindingStatus | undefined
  readonly class?: FindingClass | undefined
  readonly confidenceMin?: number | undefined
  /** Leaves out findings of tables that may not be read. Default: false. */
  readonly readableOnly?: boolean
}

interface FindingRow {
  readonly finding_id: string
  readonly run_id: string
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly field_id: string | null
  readonly path: string
  readonly class: FindingClass
  readonly shape: Finding['shape']
  readonly confidence: string
  readonly matched: number
  readonly sampled: number
  readonly masked_sample: string | null
  readonly status: FindingStatus
  readonly decision_reason: string | null
  readonly decided_by: string | null
  readonly decided_at: Date | null
  readonly decision_actor: Actor | null
  readonly first_found_at: Date
  readonly found_at: Date
  readonly withdrawn_at: Date | null
  readonly withdrawn_why: 'refuted' | 'gone' | null
  readonly withdraw_due: Date | null
  readonly withdraw_held: string | null
  readonly runs: readonly {
    readonly run: string
    readonly shape: Finding['shape']
    readonly confidence: number
    readonly at: string
    readonly gone_since: string | null
  }[]
  readonly position: string
}

/** What may stand in a statement's text. */
const statuses: Readonly<Record<FindingStatus, string>> = {
  open: 'open',
  withdrawn: 'withdrawn',
  confirmed: 'confirmed',
  rejected: 'rejected',
  exempt: 'exempt',
}

const listOf = (findings: string) => `
  select f.finding_id, f.run_id, r.namespace, r.table_name, f.field_id, f.path, f.class, f.shape, f.confidence, f.matched, f.sampled,
    f.masked_sample, f.status, d.reason as decision_reason, d.decided_by, d.decided_at,
    d.actor as decision_actor, f.first_found_at, f.found_at, f.withdrawn_at, f.withdrawn_why, f.withdraw_due, f.withdraw_held,
    f.classification_id,
    ${positionText('f.found_at', 'f.finding_id')} as position, r.table_id
  from ${findings} f join svc.detection_run r on r.tenant_id = f.tenant_id and r.run_id = f.run_id
  left join lateral (select * from svc.detection_decision d where d.tenant_id = f.tenant_id
    and d.classification_id = f.classification_id order by d.decision_seq desc limit 1) d on true
  where f.tenant_id = $1`

/** The findings of one table, by its runs: a list in the order of time would go through those of all tables. */
const withOwn = `with own as materialized (
    select f.* from svc.detection_run r join svc.detection_finding f on f.tenant_id = r.tenant_id and f.run_id = r.run_id
    where r.tenant_id = $1 and r.table_id = $3)`

/** The classification of a finding, by its id, or one from the time when it was one of many of its column and class. */
async function classificationOf(tx: Tx, tenant: TenantId, findingId: string): Promise<string | undefined> {
  if (!isUuid(findingId)) return undefined
  const [row] = await tx.query<{ id: string | null }>(
    `select coalesce(
       (select g.classification_id from svc.detection_finding g where g.tenant_id = $1 and g.finding_id = $2::uuid),
       (select e.classification_id from svc.detection_evidence e where e.tenant_id = $1 and e.evidence_id = $2::uuid)) as id`,
    [tenant, findingId],
  )
  return row?.id ?? undefined
}

/** A look-up for each row of a page. */
const withRuns = `select x.*, coalesce((select jsonb_agg(jsonb_build_object('run', e.run_id, 'shape', e.shape,
      'confidence', e.confidence, 'at', e.found_at, 'gone_since', e.gone_since) order by e.found_at desc, e.run_id)
    from (select * from svc.detection_evidence e where e.tenant_id = $1 and e.classification_id = x.classification_id and e.holds
      order by e.found_at desc, e.run_id limit 20) e), '[]') as runs`

const readable = ` and ${isReadable('table_id')}`

function toFinding(row: FindingRow): ListedFinding {
  return {
    id: row.finding_id,
    runId: row.run_id,
    table: tableOf(row),
    fieldId: row.field_id === null ? undefined : Number(row.field_id),
    column: row.path,
    class: row.class,
    shape: row.shape,
    confidence: Number(row.confidence) as Finding['confidence'],
    matched: row.matched,
    sampled: row.sampled,
    maskedSample: row.masked_sample ?? undefined,
    status: row.status,
    decision:
      row.decided_by === null || row.decided_at === null
        ? undefined
        : {
            reason: row.decision_reason ?? '',
            decidedBy: row.decided_by,
            decidedAt: row.decided_at,
            actor: row.decision_actor ?? undefined,
          },
    firstFoundAt: row.first_found_at,
    foundAt: row.found_at,
    withdrawal: withdrawalOf(row),
    runs: row.runs.map(({ run, shape, confidence, at, gone_since }) => ({
      ...{ run, shape, confidence: confidence as Finding['confidence'], at: new Date(at) },
      goneSince: gone_since === null ? undefined : new Date(gone_since),
    })),
  }
}

function withdrawalOf(row: FindingRow): Withdrawal | undefined {
  if (row.status === 'withdrawn' && row.withdrawn_at !== null && row.withdrawn_why !== null)
    return { state: 'withdrawn', at: row.withdrawn_at, why: row.withdrawn_why }
  if (row.status !== 'open' || row.withdraw_due === null) return undefined
  return { state: row.withdraw_held === null ? 'due' : 'needs_sign_off', at: row.withdraw_due }
}

/**
 * The tenant's findings, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listFindings(
  store: Store,
  tenant: TenantId,
  filter: FindingFilter = {},
): Promise<Page<ListedFinding>> {
  const limit = pageLimit(filter)
  if (filter.runId !== undefined && !isUuid(filter.runId)) return { items: [] }
  const { confidenceMin = 0 } = filter
  const confident = confidences.filter((confidence) => confidence >= confidenceMin)
  if (confident.length === 0) return { items: [] }
  const isAny = confident.length === confidences.length
  const ofTable = filter.table !== undefined
  const { text, params } = given(
    [tenant, limit + 1, ...(filter.table === undefined ? [] : [nodeId(tableKey(filter.table))])],
    // Written out, because the database's kept plan cannot know which status is rare.
    [
      `status = '${filter.status === undefined ? '' : statuses[filter.status]}' and ?::boolean`,
      filter.status === undefined ? undefined : true,
    ],
    ['class = ?::text', filter.class],
    [`confidence in (${confident.join(', ')}) and ?::boolean`, isAny ? undefined : true],
    // What the run itself was so sure of.
    [
      `classification_id in (select e.classification_id from svc.detection_evidence e where e.tenant_id = $1 and e.holds
         ${isAny ? '' : `and e.confidence in (${confident.join(', ')})`} and e.run_id = ?::uuid)`,
      filter.runId,
    ],
    ['(found_at, finding_id) < (?::timestamptz, ?::uuid)', ...afterPosition(filter)],
  )
  const rows = await store.tenantQuery<FindingRow>(
    tenant,
    `${ofTable ? withOwn : ''} ${withRuns} from (
       select * from (${listOf(ofTable ? 'own' : 'svc.detection_finding')}) x where true${text}${filter.readableOnly === true ? readable : ''}
       order by found_at desc, finding_id desc limit $2::int) x order by found_at desc, finding_id desc`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.position)
  return { ...page, items: page.items.map(toFinding) }
}

interface NewDecision {
  readonly decision: DetectionDecision
  readonly reason: string
  readonly actor: Actor
  /** Whether only a finding of a table that may be read is found. Default: false. */
  readonly readableOnly?: boolean
}

/**
 * Records a decision about a finding's column and class. It holds for later scans until the next decision.
 * Rejecting and exempting write an Attestation and remove the Tag.
 * @returns the updated finding, or undefined where there is none
 */
export async function decideFinding(
  tx: Tx,
  tenant: TenantId,
  findingId: string,
  { decision, reason, actor, readableOnly = false }: NewDecision,
): Promise<ListedFinding | undefined> {
  const classification = await classificationOf(tx, tenant, findingId)
  if (classification === undefined) return undefined
  const [made] = await tx.query<{ classification_id: string }>(
    `insert into svc.detection_decision (tenant_id, classification_id, finding_id, decision, reason, decided_by, actor)
     select f.tenant_id, f.classification_id, f.finding_id, $3, $4, $5, $6::text::jsonb
     from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id)
     where f.tenant_id = $1 and f.classification_id = $2${readableOnly ? readable : ''} returning classification_id`,
    [tenant, classification, decision, storableText(reason), actor.sub, storableJson(actor)],
  )
  if (made === undefined) return undefined
  await projectClassification(tx, classification)
  const value = { decision, reason }
  await recordAdministration(tx, actor, { action: 'decide-finding', subject: { finding: findingId }, value })
  const rows = await tx.query<FindingRow>(
    `${withRuns} from (${listOf('svc.detection_finding')} and f.classification_id = $2) x`,
    [tenant, classification],
  )
  return rows.map(toFinding)[0]
}

/**
 * The tables that have a finding's tag: none where there is no such finding, or its table is not known.
 * @throws Fault `conflict` where the tag is on a column whose table cannot be told
 */
export async function tablesOfFinding(
  tx: Tx,
  tenant: TenantId,
  findingId: string,
): Promise<readonly TableRef[]> {
  const classification = await classificationOf(tx, tenant, findingId)
  if (classification === undefined) return []
  const tables = await attachedTables(tx, tenant, classification)
  if (tables === undefined) throw new Fault('conflict', 'It cannot be told which table has the column.')
  return tables
}

/** Updates the graph of these runs' findings after the runs' tables were found. */
export async function linkFindings(tx: Tx, tenant: TenantId, runIds: readonly string[]): Promise<void> {
  // In the order of finishRun, so that the two wait for each other instead of deadlocking.
  const rows = await tx.query<{
    readonly classification_id: string
    readonly field_id: string
    readonly table_id: string
  }>(
    `select f.classification_id, f.field_id, r.table_id
     from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id)
     where f.tenant_id = $1 and f.run_id in (select id::uuid from jsonb_array_elements_text($2::text::jsonb) id)
       and f.field_id is not null and r.table_id is not null
     order by f.classification_id collate "C"`,
    [tenant, JSON.stringify(runIds)],
  )
  for (const { classification_id, field_id, table_id } of rows) {
    await tx.query(
      `update svc.detection_finding set column_id = $3 where tenant_id = $1 and classification_id = $2`,
      [tenant, classification_id, nodeId(`${table_id}\u001f${field_id}`)],
    )
    await projectClassification(tx, classification_id)
  }
}
