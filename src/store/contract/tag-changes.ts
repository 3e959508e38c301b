/** Records and lists who set and removed tags, when, how and on what evidence; and the tags of a table as they stand. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TagAction, TagEvidence, TagSource } from '../../core/tag.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** A table, or a column of it. */
export interface TagPlace {
  readonly table: TableRef
  readonly column?: string | undefined
}

interface TagChange extends TagPlace {
  readonly action: TagAction
  readonly tag: string
  readonly source: TagSource
  readonly evidence: TagEvidence
}

export interface RecordedTagChange extends TagChange {
  readonly at: Date
  /** Subject; undefined where the classifier did it. */
  readonly by: string | undefined
  /** Undefined where the classifier did it, and for a change that was made before the actor was recorded. */
  readonly actor: Actor | undefined
}

/** Records a change in the transaction that makes it. */
export async function recordTagChange(tx: Tx, actor: Actor, change: TagChange): Promise<void> {
  const { action, tag, table, column, source, evidence } = change
  await tx.query(
    `insert into svc.tag_change (tenant_id, action, tag_id, tag, table_id, namespace, table_name, column_name, source, actor,
       actor_sub, evidence)
     values (svc.current_tenant(), $1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9::text::jsonb, $10, $11::text::jsonb)`,
    [
      action,
      nodeId(tag),
      tag,
      nodeId(tableKey(table)),
      storableJson(table.namespace),
      table.name,
      column ?? null,
      source,
      storableJson(actor),
      actor.sub,
      storableJson(storedEvidence(evidence)),
    ],
  )
}

function storedEvidence({ finding, contract, contractVersion, classification, note }: TagEvidence) {
  return { finding, contract, contract_version: contractVersion, classification, note }
}

/**
 * Refuses evidence that is not there.
 * @throws Fault `unprocessable` for a finding, or a version of a contract, that the tenant does not have
 */
export async function requireEvidence(
  tx: Tx,
  { finding, contract, contractVersion }: TagEvidence,
): Promise<void> {
  const [row] = await tx.query<{ readonly finding: boolean; readonly version: boolean }>(
    `select exists (select from svc.detection_finding f
         where f.tenant_id = svc.current_tenant() and f.finding_id = $1::uuid)
         or exists (select from svc.detection_evidence e
         where e.tenant_id = svc.current_tenant() and e.evidence_id = $1::uuid) as finding,
       exists (select from svc.contract_version v
         where v.tenant_id = svc.current_tenant() and v.contract_id = $2 and v.number = $3::int) as version`,
    [finding ?? null, contract ?? null, contractVersion ?? null],
  )
  if (finding !== undefined && row?.finding !== true)
    throw new Fault('unprocessable', '`finding`: the tenant has no such finding.')
  if (contract !== undefined && row?.version !== true)
    throw new Fault('unprocessable', '`contract`: the tenant has no such version of the contract.')
}

interface Row {
  readonly tag_seq: string
  readonly at: Date
  readonly action: TagAction
  readonly tag: string
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly column_name: string | null
  readonly source: TagSource
  readonly actor: Actor | null
  readonly actor_sub: string | null
  readonly evidence: Readonly<Record<string, unknown>>
}

interface TagChangeFilter extends PageRequest {
  readonly tag?: string | undefined
  readonly table?: TableRef | undefined
  readonly column?: string | undefined
}

/**
 * The changes of tags, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listTagChanges(
  store: Store,
  tenant: TenantId,
  filter: TagChangeFilter,
): Promise<Page<RecordedTagChange>> {
  const limit = pageLimit(filter)
  const params: (string | number)[] = [tenant, limit + 1]
  const wanted = (condition: (place: string) => string, value: string | undefined) =>
    value === undefined ? '' : ` and ${condition(`$${params.push(value)}`)}`
  const { tag, table, column } = filter
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select tag_seq, at, action, tag, namespace, table_name, column_name, source, actor, actor_sub, evidence
     from svc.tag_change
     where tenant_id = $1${wanted((place) => `tag_seq < ${place}::int8`, afterCount(filter))}${wanted((place) => `tag_id = ${place}`, tag && nodeId(tag))}${wanted((place) => `table_id = ${place}`, table && nodeId(tableKey(table)))}${wanted((place) => `md5(column_name) = md5(${place}) and column_name = ${place}`, column)}
     order by tag_seq desc limit $2::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.tag_seq)
  return { ...page, items: page.items.map(toChange) }
}

function toChange(row: Row): RecordedTagChange {
  return {
    at: row.at,
    action: row.action,
    tag: row.tag,
    table: { namespace: row.namespace, name: row.table_name },
    column: row.column_name ?? undefined,
    source: row.source,
    by: row.actor_sub ?? undefined,
    actor: row.actor ?? undefined,
    evidence: readEvidence(row.evidence),
  }
}

function readEvidence({
  finding,
  contract,
  contract_version,
  classification,
  note,
}: Readonly<Record<string, unknown>>) {
  return {
    finding: finding === undefined ? undefined : String(finding),
    contract: contract === undefined ? undefined : String(contract),
    contractVersion: contract_version === undefined ? undefined : Number(contract_version),
    classification: classification === undefined ? undefined : String(classification),
    note: note === undefined ? undefined : String(note),
  }
}

/** A tag that a table or a column carries itself. */
interface CarriedTag {
  readonly tag: string
  /** Undefined for the table's own, which all its columns inherit. */
  readonly column: string | undefined
  readonly isDropped: boolean
  /** The change that set it, the newest where several did; undefined where none is on record. */
  readonly setBy: RecordedTagChange | undefined
}

/** The change is null where none is on record. */
type CarriedRow = {
  readonly carried: string
  readonly on_column: string | null
  readonly dropped: boolean
} & (Row | { readonly tag_seq: null })

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

/**
 * The tags that a table and its columns carry, with what set each: those of the table first, then by column and tag.
 * Dropped columns are among them.
 */
export async function listTableTags(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<readonly CarriedTag[]> {
  const rows = await store.tenantQuery<CarriedRow>(
    tenant,
    `with t as materialized (
       select t.id from "Table" t where ${property('t', 'id')} = to_jsonb($2::text)::text::agtype),
     c as materialized (
       select c.id, c.properties::text::jsonb ->> 'name' as name,
         not exists (select from "HAS_COLUMN" h where h.end_id = c.id) as dropped
       from (
         select h.end_id as id from "HAS_COLUMN" h where h.start_id in (select id from t)
         union
         select d.id from "Column" d where ${property('d', 'table_id')} = to_jsonb($2::text)::text::agtype) ids
       join "Column" c on c.id = ids.id),
     carried as (
       select distinct g.properties::text::jsonb ->> 'name' as carried, g.properties::text::jsonb ->> 'id' as tag_id,
         s.name as on_column, s.dropped
       from (select id, null as name, false as dropped from t union all select id, name, dropped from c) s
       join "TAGGED" e on e.start_id = s.id join "Tag" g on g.id = e.end_id)
     select k.carried, k.on_column, k.dropped, x.*
     from carried k left join lateral (
       select x.tag_seq, x.at, x.action, x.tag, x.namespace, x.table_name, x.column_name, x.source, x.actor, x.actor_sub,
         x.evidence
       from svc.tag_change x
       where x.tenant_id = $1 and x.table_id = $2 and x.tag_id = k.tag_id and x.action <> 'removed'
         and x.column_name is not distinct from k.on_column
       order by x.tag_seq desc limit 1) x on true
     order by k.on_column nulls first, k.carried, k.dropped`,
    [tenant, nodeId(tableKey(table))],
  )
  return rows.map((row) => ({
    tag: row.carried,
    column: row.on_column ?? undefined,
    isDropped: row.dropped,
    setBy: row.tag_seq === null ? undefined : toChange(row),
  }))
}
