/** Stores what stewards attested of metrics. An attestation is never changed; ending it adds a record. */

import { Fault } from '../../base/fault.ts'
import type { Attestation } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { changeSigned } from '../contract/change-signed.ts'
import { lockContracts } from '../contract/changes.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import { upsertEdge, upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'

interface NewAttestation extends Omit<Attestation, 'id' | 'untilMs'> {
  readonly number: number
  readonly reason: string
  readonly evidence: string
  readonly until: Date
}

export interface StoredAttestation extends NewAttestation {
  readonly id: string
  readonly at: Date
  /** Subject of the steward. */
  readonly by: string
  readonly ended:
    | { readonly at: Date; readonly by: string; readonly reason: string; readonly cause: EndCause }
    | undefined
}

/** A steward ended it, its time was over, or another version took the place of the one that it was bound to. */
export const endCauses = ['ended', 'expired', 'replaced'] as const
type EndCause = (typeof endCauses)[number]

/**
 * Saves an attestation of the version in force.
 * @param table that the metric reads
 * @throws Fault `conflict` where that version is no longer in force, or where a contract with a life cycle governs the
 * table and nobody has signed
 */
export function saveAttestation(
  on: SemanticChange,
  attestation: NewAttestation,
  table: TableRef,
): Promise<StoredAttestation> {
  const { metric, number, sha256, reason, evidence, until, tags, minGroupSize } = attestation
  const { masks, anonymity, dimensions, of, queriesPerDay } = attestation
  const asked = { action: 'attest-metric', subject: { metric }, value: attestation }
  const concern = {
    tables: async () => [table],
    alsoLoosens: async () => [
      `The metric ${metric} is computed from behind the masks of ${minGroupSize} rows or more`,
    ],
  }
  return changeSigned(on, asked, concern, async (tx) => {
    const id = crypto.randomUUID()
    const rows = await tx.query(
      `insert into svc.metric_attestation (tenant_id, attestation_id, metric, number, sha256, definition, reason, evidence,
         valid_until, actor, actor_sub)
       select m.tenant_id, $1::uuid, m.metric, m.number, m.sha256, $2::text::jsonb, $3, $4, $5::timestamptz, $6::text::jsonb, $7
       from svc.metric_version m where m.tenant_id = svc.current_tenant() and m.metric = $8 and m.number = $9::int
         and m.sha256 = $10 and m.state in ('active', 'deprecated') returning 1`,
      [
        id,
        storableJson({ tags, masks, minGroupSize, anonymity, dimensions, of, queriesPerDay }),
        reason,
        evidence,
        until.toISOString(),
        storableJson(on.actor),
        on.actor.sub,
        metric,
        number,
        sha256,
      ],
    )
    if (rows.length === 0)
      throw new Fault('conflict', 'The metric has changed. Read it again before you attest it.')
    const properties = { decision: 'declassify', reason, attested_by: on.actor.sub, sha256, number }
    await upsertNode(tx, on.tenant, { label: 'Attestation', id, properties })
    const ends = { from: { label: 'Attestation', id }, to: { label: 'Metric', id: nodeId(metric) } } as const
    await upsertEdge(tx, on.tenant, { label: 'ATTESTS', id, ...ends, properties: { sha256 } })
    await recordSemantics(
      tx,
      on,
      'attest-metric',
      { metric, number, attestation: id },
      { tags, minGroupSize, anonymity, dimensions, queriesPerDay, reason, until },
    )
    await appendEvent(tx, {
      type: 'metric.attested',
      subject: metric,
      data: { attestation: id, version: number, tags, by: on.actor.sub, valid_until: until.toISOString() },
    })
    const [found] = await attestationsIn(tx, metric, id)
    if (found === undefined)
      throw new Fault('internal', 'Internal error.', { detail: 'the attestation was not saved' })
    return found
  })
}

/** Ends an attestation. @returns whether there was one that had not ended */
export function endAttestation(
  on: SemanticChange,
  metric: string,
  id: string,
  reason: string,
): Promise<boolean> {
  return changeSemantics(on, async (tx) => {
    const rows = await tx.query<EndRow>(
      `insert into svc.metric_attestation_end (tenant_id, attestation_id, reason, actor, actor_sub)
       select a.tenant_id, a.attestation_id, $3, $4::text::jsonb, $5 from svc.metric_attestation a
       where a.tenant_id = svc.current_tenant() and a.metric = $1 and a.attestation_id = $2::uuid
       on conflict do nothing returning attestation_id, $1 as metric, cause, actor_sub`,
      [metric, id, reason, storableJson(on.actor), on.actor.sub],
    )
    if (rows.length > 0)
      await recordSemantics(tx, on, 'end-attestation', { metric, attestation: id }, { reason })
    await tellEnds(tx, rows)
    return rows.length > 0
  })
}

interface EndRow {
  readonly attestation_id: string
  readonly metric: string
  readonly cause: EndCause
  readonly actor_sub: string
}

async function tellEnds(tx: Tx, rows: readonly EndRow[]): Promise<void> {
  for (const { attestation_id: attestation, metric, cause, actor_sub: by } of rows)
    await appendEvent(tx, {
      type: 'metric.attestation_ended',
      subject: metric,
      data: { attestation, cause, by },
    })
}

/**
 * Ends the attestations of a metric's version in force, which another one replaces or nothing does, and those of metrics
 * that add it up over periods.
 */
export async function endReplaced(tx: Tx, { actor }: SemanticChange, metric: string): Promise<void> {
  const rows = await tx.query<EndRow>(
    `insert into svc.metric_attestation_end (tenant_id, attestation_id, reason, actor, actor_sub, cause)
     select a.tenant_id, a.attestation_id, 'The version that it was bound to is no longer in force.', $2::text::jsonb, $3,
       'replaced'
     from svc.metric_attestation a join svc.metric_version m
       on m.tenant_id = a.tenant_id and m.metric = a.metric and m.number = a.number and m.state in ('active', 'deprecated')
     where a.tenant_id = svc.current_tenant() and (a.metric = $1 or a.definition #>> '{of,metric}' = $1)
     on conflict do nothing returning attestation_id, cause, actor_sub,
       (select o.metric from svc.metric_attestation o where o.tenant_id = metric_attestation_end.tenant_id
          and o.attestation_id = metric_attestation_end.attestation_id) as metric`,
    [metric, storableJson(actor), actor.sub],
  )
  await tellEnds(tx, rows)
}

const expiredText = `
  from svc.metric_attestation a where a.tenant_id = svc.current_tenant() and a.valid_until <= now()
    and not exists (select from svc.metric_attestation_end e
      where e.tenant_id = a.tenant_id and e.attestation_id = a.attestation_id)`

/**
 * Records the end of what has expired. Nothing reads by it from that moment on, whether it is recorded or not.
 * @returns how many
 */
export async function endExpired(store: Store, tenant: TenantId): Promise<number> {
  const found = await store.tenantTransaction(tenant, (tx) => tx.query(`select ${expiredText} limit 1`), {
    readOnly: true,
  })
  if (found.length === 0) return 0
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    // By who said when it ends.
    const rows = await tx.query<EndRow>(
      `with ended as (
         insert into svc.metric_attestation_end (tenant_id, attestation_id, reason, actor, actor_sub, cause)
         select a.tenant_id, a.attestation_id, 'Its time is over.', a.actor, a.actor_sub, 'expired' ${expiredText}
         on conflict do nothing returning tenant_id, attestation_id, cause, actor_sub)
       select e.attestation_id, a.metric, e.cause, e.actor_sub from ended e join svc.metric_attestation a
         on a.tenant_id = e.tenant_id and a.attestation_id = e.attestation_id order by a.valid_until, e.attestation_id`,
    )
    await tellEnds(tx, rows)
    return rows.length
  })
}

interface Row {
  readonly attestation_id: string
  readonly metric: string
  readonly number: number
  readonly sha256: string
  readonly definition: Omit<Attestation, 'id' | 'metric' | 'sha256' | 'untilMs'>
  readonly reason: string
  readonly evidence: string
  readonly valid_until: Date
  readonly at: Date
  readonly actor_sub: string
  readonly ended_at: Date | null
  readonly ended_by: string | null
  readonly ended_reason: string | null
  readonly ended_cause: EndCause | null
}

const attestationsText = `
  select a.attestation_id, a.metric, a.number, a.sha256, a.definition, a.reason, a.evidence, a.valid_until, a.at, a.actor_sub,
    e.at as ended_at, e.actor_sub as ended_by, e.reason as ended_reason, e.cause as ended_cause
  from svc.metric_attestation a left join svc.metric_attestation_end e
    on e.tenant_id = a.tenant_id and e.attestation_id = a.attestation_id
  where a.tenant_id = svc.current_tenant() and a.metric = $1 and ($2::uuid is null or a.attestation_id = $2::uuid)
  order by a.at desc, a.attestation_id limit 1000`

async function attestationsIn(tx: Pick<Tx, 'query'>, metric: string, id: string | null) {
  return (await tx.query<Row>(attestationsText, [metric, id])).map(toAttestation)
}

function toAttestation(row: Row): StoredAttestation {
  const { attestation_id: id, definition, valid_until: until, actor_sub: by } = row
  const { metric, number, sha256, reason, evidence, at, ended_at, ended_by, ended_reason, ended_cause } = row
  const ended =
    ended_at === null
      ? undefined
      : { at: ended_at, by: ended_by ?? '', reason: ended_reason ?? '', cause: ended_cause ?? 'ended' }
  return { ...definition, id, metric, number, sha256, reason, evidence, until, at, by, ended }
}

/** The attestations of a metric, newest first, those that ended among them; at most 1,000. */
export function listAttestations(
  store: Store,
  tenant: TenantId,
  metric: string,
): Promise<readonly StoredAttestation[]> {
  return store.tenantTransaction(tenant, (tx) => attestationsIn(tx, metric, null), { readOnly: true })
}

/** Who made attestations, when and why, by their ids. */
export async function attestationsNamed(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<StoredAttestation, 'at' | 'by' | 'reason'>>> {
  if (ids.length === 0) return new Map()
  const rows = await store.tenantQuery<Pick<Row, 'attestation_id' | 'at' | 'actor_sub' | 'reason'>>(
    tenant,
    `select attestation_id, at, actor_sub, reason from svc.metric_attestation
     where tenant_id = $1 and attestation_id in (select jsonb_array_elements_text($2::text::jsonb)::uuid)`,
    [tenant, JSON.stringify(ids)],
    { readOnly: true },
  )
  return new Map(
    rows.map(({ attestation_id: id, actor_sub: by, at, reason }) => [id, { at, by, reason }] as const),
  )
}
