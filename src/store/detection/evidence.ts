/**
 * Writes what a run saw for and against the class of a column, and lets the findings follow (docs/adr/0034). Every write is
 * in the transaction of the caller, who holds the run.
 */

import type { LiveFiles } from '../../core/detection.ts'
import { storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { ClaimedRun } from './claims.ts'

interface Attempt {
  readonly attempt: number
}

/** What a run says against classes, or of what the table still holds. */
export interface Verdicts {
  readonly owner: string
  readonly snapshotIds: readonly string[]
  /** Classes that values of the column were seen not to be of. */
  readonly refuted: readonly { readonly classification_id: string; readonly named: boolean }[]
  /** Classifications of whose class the files hold a value. */
  readonly traces: readonly string[]
  readonly live: LiveFiles | undefined
  /** Whether every added file was read. */
  readonly isWhole: boolean
}

/** Verdicts against one classification that are kept. More say no more. */
const refutationsMax = 8

/** Snapshots through which the values of one run are followed. After that they are never taken to be gone. */
const carriedMax = 200

/** Writes evidence for classes, and the findings that it makes. */
export async function writeEvidence(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { attempt }: Attempt,
  rows: readonly { readonly classification_id: string }[],
): Promise<void> {
  if (rows.length === 0) return
  const params = [tenant, runId, attempt, storableJson(rows)]
  await tx.query(
    `insert into svc.detection_evidence as e (tenant_id, run_id, attempt, classification_id, owner, holds, seen, shape, confidence,
       matched, sampled, masked_sample, snapshot_ids)
     select $1, $2, $3::int, j ->> 'classification_id', j ->> 'owner', true, (j ->> 'seen')::boolean, j ->> 'shape',
       (j ->> 'confidence')::numeric, (j ->> 'matched')::int, (j ->> 'sampled')::int, j ->> 'masked_sample',
       array(select jsonb_array_elements_text(j -> 'snapshot_ids'))
     from jsonb_array_elements($4::text::jsonb) j
     on conflict (tenant_id, classification_id, run_id) do update set attempt = excluded.attempt, holds = true, seen = excluded.seen,
       shape = excluded.shape, confidence = excluded.confidence, matched = excluded.matched, sampled = excluded.sampled,
       masked_sample = excluded.masked_sample, found_at = clock_timestamp(), gone_since = null, gone_checked_at = null,
       gone_snapshot_ms = null, gone_expired = false,
       snapshot_ids = array(select distinct unnest(e.snapshot_ids || excluded.snapshot_ids))`,
    params,
  )
  await tx.query(
    `insert into svc.detection_finding as f (tenant_id, run_id, attempt, classification_id, field_id, column_id, column_name, path,
       class, shape, confidence, matched, sampled, masked_sample)
     select $1, $2, $3::int, j ->> 'classification_id', (j ->> 'field_id')::bigint, j ->> 'column_id', j ->> 'column_name', j ->> 'path',
       j ->> 'class', j ->> 'shape', (j ->> 'confidence')::numeric, (j ->> 'matched')::int, (j ->> 'sampled')::int, j ->> 'masked_sample'
     from jsonb_array_elements($4::text::jsonb) j
     on conflict (tenant_id, classification_id) do update set field_id = excluded.field_id,
       column_id = coalesce(excluded.column_id, f.column_id), column_name = excluded.column_name, path = excluded.path`,
    params,
  )
  for (const { classification_id } of rows) await followEvidence(tx, classification_id)
}

/**
 * Writes what a run says against classes, and takes evidence back whose values are gone.
 * @returns the classifications for which nothing stands any more
 */
export async function writeVerdicts(
  tx: Tx,
  claim: ClaimedRun,
  run: Attempt,
  verdicts: Verdicts,
): Promise<readonly string[]> {
  if (await isShared(tx, claim, verdicts)) return []
  const touched = new Set([
    ...(await writeRefutations(tx, claim, run, verdicts)),
    ...(await carryOver(tx, claim, verdicts)),
    ...(await markGone(tx, claim, verdicts)),
  ])
  const due: string[] = []
  for (const id of [...touched].sort()) if (await followEvidence(tx, id)) due.push(id)
  return due
}

/** Where metadata files lie stays as it is when a table is renamed. */
const folderOf = (run: string) => `regexp_replace(${run}.snapshot_metadata_location, '[^/]*$', '')`

/** Other runs of the same table in these states. */
const otherRuns = (run: string, states: string) =>
  `select from svc.detection_run r join svc.detection_run mine on mine.tenant_id = r.tenant_id
     and mine.run_id = ${run} and (mine.table_id = r.table_id or ${folderOf('mine')} = ${folderOf('r')})
   where r.tenant_id = $1 and r.run_id <> ${run} and r.state in (${states})`

interface Touched {
  readonly classification_id: string
}

const idsOf = (rows: readonly Touched[]) => rows.map(({ classification_id }) => classification_id)

/**
 * A class that the name says, or said when there were no values. An earlier attempt of the same run that saw the same
 * files and no others is overruled: others would dilute a sample. A scan that failed may have missed values that bear the
 * name out.
 */
async function writeRefutations(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { attempt }: Attempt,
  { owner, snapshotIds, refuted }: Verdicts,
): Promise<readonly string[]> {
  if (refuted.length === 0) return []
  const rows = await tx.query<Touched>(
    `insert into svc.detection_evidence as e (tenant_id, run_id, attempt, classification_id, owner, holds, seen, snapshot_ids)
     select $1, $2, $3::int, c.id, $4, false, true, array(select jsonb_array_elements_text($5::text::jsonb))
     from (select j ->> 'classification_id' as id, (j ->> 'named')::boolean as named from jsonb_array_elements($6::text::jsonb) j) c
     where exists (select from svc.detection_evidence o where o.tenant_id = $1 and o.classification_id = c.id and o.run_id = $2)
       or (c.named or exists (select from svc.detection_evidence o
           where o.tenant_id = $1 and o.classification_id = c.id and o.holds and not o.seen))
         and not exists (${otherRuns('$2', "'failed'")})
         and (select count(*) from (select from svc.detection_evidence o where o.tenant_id = $1 and o.classification_id = c.id
           and not o.holds and o.gone_since is null limit ${refutationsMax}) kept) < ${refutationsMax}
     order by c.id
     on conflict (tenant_id, classification_id, run_id) do update set attempt = excluded.attempt, holds = false, seen = true,
       shape = null, confidence = null, matched = null, sampled = null, masked_sample = null, found_at = clock_timestamp(),
       gone_since = null, gone_checked_at = null, gone_snapshot_ms = null, gone_expired = false, snapshot_ids = excluded.snapshot_ids
     where e.attempt < excluded.attempt and e.snapshot_ids <@ excluded.snapshot_ids and e.snapshot_ids @> excluded.snapshot_ids
     returning e.classification_id`,
    [tenant, runId, attempt, owner, storableJson(snapshotIds), storableJson(refuted)],
  )
  return idsOf(rows)
}

/**
 * What rewrites files may carry values over. Where the new files hold some, or not all of them were read, older evidence
 * stands as long as they do.
 */
async function carryOver(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { owner, snapshotIds, traces, live, isWhole }: Verdicts,
): Promise<readonly string[]> {
  if (live === undefined || snapshotIds.length === 0) return []
  const rows = await tx.query<Touched>(
    `update svc.detection_evidence e set gone_since = null, gone_checked_at = null, gone_snapshot_ms = null, gone_expired = false,
       snapshot_ids = case when cardinality(e.snapshot_ids) < ${carriedMax}
         then e.snapshot_ids || array(select jsonb_array_elements_text($4::text::jsonb)) else '{}' end
     where e.tenant_id = $1 and e.owner = $2 and e.seen and e.holds and e.run_id <> $3 and e.snapshot_ids <> '{}'
       and ($6::boolean or e.classification_id in (select jsonb_array_elements_text($5::text::jsonb)))
       and not e.snapshot_ids @> array(select jsonb_array_elements_text($4::text::jsonb))
     returning e.classification_id`,
    [tenant, owner, runId, storableJson(snapshotIds), storableJson(traces), !isWhole],
  )
  return idsOf(rows)
}

/**
 * Notes of evidence whether the table has its files. Nothing is gone while a scan that may show values waits, runs or has
 * failed.
 */
async function markGone(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { owner, live }: Verdicts,
): Promise<readonly string[]> {
  if (live === undefined) return []
  const rows = await tx.query<Touched>(
    `with held as materialized (
       select array(select jsonb_array_elements_text($3::text::jsonb)) as ids,
         exists (${otherRuns('$7', "'queued', 'running', 'failed'")}) as is_open)
     update svc.detection_evidence e set
       gone_since = case when e.snapshot_ids && h.ids then null else coalesce(e.gone_since, clock_timestamp()) end,
       gone_checked_at = case when e.snapshot_ids && h.ids then null else clock_timestamp() end,
       gone_snapshot_ms = case when e.snapshot_ids && h.ids then null else coalesce(e.gone_snapshot_ms, $5::bigint) end,
       gone_expired = not e.snapshot_ids && h.ids and $6::bigint >= coalesce(e.gone_snapshot_ms, $5::bigint),
       judged_as_of_ms = $4::bigint
     from held h
     where e.tenant_id = $1 and e.owner = $2 and e.seen and e.snapshot_ids <> '{}'
       and coalesce(e.judged_as_of_ms, 0) <= $4::bigint
       and (e.snapshot_ids && h.ids and e.gone_since is not null
         or not e.snapshot_ids && h.ids and not h.is_open and (e.gone_since is null
           or e.gone_checked_at < clock_timestamp() - interval '1 hour'
           or exists (select from svc.detection_finding f where f.tenant_id = $1
             and f.classification_id = e.classification_id and f.withdraw_due is not null)))
     returning e.classification_id`,
    [tenant, owner, storableJson(live.snapshotIds), live.asOfMs, live.goneMs, live.oldestMs, runId],
  )
  return idsOf(rows)
}

/**
 * Whether another table that is there has evidence under the same UUID. What a writer puts into metadata, or a copy, says
 * nothing of the other table's values.
 */
async function isShared(
  tx: Tx,
  { tenant, runId }: ClaimedRun,
  { owner, refuted }: Verdicts,
): Promise<boolean> {
  const ids = refuted.map(({ classification_id }) => classification_id)
  const rows = await tx.query(
    `select from (
       select run_id from svc.detection_evidence where tenant_id = $1 and owner = $3 and seen
       union select run_id from svc.detection_evidence
         where tenant_id = $1 and classification_id in (select jsonb_array_elements_text($4::text::jsonb))) e
     join svc.detection_run r on r.tenant_id = $1 and r.run_id = e.run_id
     join svc.detection_run mine on mine.tenant_id = $1 and mine.run_id = $2
     join svc.territory t on t.tenant_id = $1 and t.table_id = r.table_id and t.released_at is null
     where r.table_id is distinct from mine.table_id limit 1`,
    [tenant, runId, owner, storableJson(ids)],
  )
  return rows.length > 0
}

/** Lets a finding follow its evidence, and draws it. @returns whether nothing stands for it any more */
async function followEvidence(tx: Tx, classificationId: string): Promise<boolean> {
  const [row] = await tx.query<{ due: boolean }>('select svc.follow_evidence($1) as due', [classificationId])
  return row?.due === true
}

/** Updates a classification in the graph from its finding and decision. */
export function projectClassification(tx: Tx, classificationId: string): Promise<unknown> {
  return tx.query('select svc.project_classification($1)', [classificationId])
}
