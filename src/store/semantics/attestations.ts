/** Stores what stewards attested of metrics. An attestation is never changed; ending it adds a record. */

import { Fault } from '../../base/fault.ts'
import type { Attestation } from '../../core/metric.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { upsertEdge, upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'

export interface NewAttestation extends Omit<Attestation, 'id' | 'untilMs'> {
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
  readonly ended: { readonly at: Date; readonly by: string; readonly reason: string } | undefined
}

/**
 * Saves an attestation of the version in force.
 * @throws Fault `conflict` where that version is no longer in force
 */
export function saveAttestation(on: SemanticChange, attestation: NewAttestation): Promise<StoredAttestation> {
  return changeSemantics(on, async (tx) => {
    const { metric, number, sha256, reason, evidence, until, tags, masks, minGroupSize, anonymity } =
      attestation
    const id = crypto.randomUUID()
    const rows = await tx.query(
      `insert into svc.metric_attestation (tenant_id, attestation_id, metric, number, sha256, definition, reason, evidence,
         valid_until, actor, actor_sub)
       select m.tenant_id, $1::uuid, m.metric, m.number, m.sha256, $2::text::jsonb, $3, $4, $5::timestamptz, $6::text::jsonb, $7
       from svc.metric_version m where m.tenant_id = svc.current_tenant() and m.metric = $8 and m.number = $9::int
         and m.sha256 = $10 and m.state in ('active', 'deprecated') returning 1`,
      [
        id,
        storableJson({ tags, masks, minGroupSize, anonymity }),
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
      { tags, minGroupSize, anonymity, reason, until },
    )
    const [found] = await attestationsIn(tx, metric, id)
    if (found === undefined)
      throw new Fault('internal', 'Internal error.', { detail: 'the attestation was not saved' })
    return found
  })
}

/** Ends an attestation. @returns whether there was one that had not been ended */
export function endAttestation(
  on: SemanticChange,
  metric: string,
  id: string,
  reason: string,
): Promise<boolean> {
  return changeSemantics(on, async (tx) => {
    const rows = await tx.query(
      `insert into svc.metric_attestation_end (tenant_id, attestation_id, reason, actor, actor_sub)
       select a.tenant_id, a.attestation_id, $3, $4::text::jsonb, $5 from svc.metric_attestation a
       where a.tenant_id = svc.current_tenant() and a.metric = $1 and a.attestation_id = $2::uuid
       on conflict do nothing returning 1`,
      [metric, id, reason, storableJson(on.actor), on.actor.sub],
    )
    if (rows.length > 0)
      await recordSemantics(tx, on, 'end-attestation', { metric, attestation: id }, { reason })
    return rows.length > 0
  })
}

interface Row {
  readonly attestation_id: string
  readonly metric: string
  readonly number: number
  readonly sha256: string
  readonly definition: Pick<Attestation, 'tags' | 'masks' | 'minGroupSize' | 'anonymity'>
  readonly reason: string
  readonly evidence: string
  readonly valid_until: Date
  readonly at: Date
  readonly actor_sub: string
  readonly ended_at: Date | null
  readonly ended_by: string | null
  readonly ended_reason: string | null
}

const attestationsText = `
  select a.attestation_id, a.metric, a.number, a.sha256, a.definition, a.reason, a.evidence, a.valid_until, a.at, a.actor_sub,
    e.at as ended_at, e.actor_sub as ended_by, e.reason as ended_reason
  from svc.metric_attestation a left join svc.metric_attestation_end e
    on e.tenant_id = a.tenant_id and e.attestation_id = a.attestation_id
  where a.tenant_id = svc.current_tenant() and a.metric = $1 and ($2::uuid is null or a.attestation_id = $2::uuid)
  order by a.at desc, a.attestation_id limit 1000`

async function attestationsIn(tx: Pick<Tx, 'query'>, metric: string, id: string | null) {
  return (await tx.query<Row>(attestationsText, [metric, id])).map(toAttestation)
}

function toAttestation(row: Row): StoredAttestation {
  const { attestation_id: id, definition, valid_until: until, actor_sub: by } = row
  const { metric, number, sha256, reason, evidence, at, ended_at, ended_by, ended_reason } = row
  const ended =
    ended_at === null ? undefined : { at: ended_at, by: ended_by ?? '', reason: ended_reason ?? '' }
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
