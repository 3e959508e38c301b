-- Drift between the graph's WriteEvents and snapshots and their relational projection, the audit log,
-- both ways. PL/pgSQL, since SQL functions are checked against tables that only a tenant has. Runs with the caller's rights and search_path.
create function svc.drift() returns table (kind text, subject text, detail jsonb)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with edge as (
    select 'INTENDED_WRITE' as label, e.properties, p.id is not null as source, t.id is not null as target
      from "INTENDED_WRITE" e left join "Principal" p on p.id = e.start_id left join "Table" t on t.id = e.end_id
    union all
    select 'ACTUAL_WRITE', e.properties, s.id is not null, t.id is not null
      from "ACTUAL_WRITE" e left join "Snapshot" s on s.id = e.start_id left join "Table" t on t.id = e.end_id),
  event as (
    select label, source, target, j ->> 'id' as commit_id,
      j - 'id' - 'created_at' as told, (j ->> 'created_at')::timestamptz as created_at
    from edge, lateral (select properties::text::jsonb as j) parsed),
  wanted as (
    select 'INTENDED_WRITE' as label, a.* from svc.audit_log a
    union all
    select 'ACTUAL_WRITE', a.* from svc.audit_log a where a.decision = 'APPROVED'),
  pair as (
    select coalesce(w.label, e.label) as label, coalesce(w.commit_id::text, e.commit_id) as commit_id,
      w.commit_id is not null as logged, e.commit_id is not null as drawn, e.source and e.target as joined,
      e.created_at = w.created_at and e.told = jsonb_build_object('commit_id', w.commit_id, 'committer', w.committer,
        'decision', w.decision, 'reason', w.reason, 'tenant_id', w.tenant_id) as agree
    from wanted w full join event e on e.label = w.label and e.commit_id = w.commit_id::text),
  snapshot as (
    select j ->> 'commit_id' as commit_id, j ->> 'metadata_location' as metadata_location
    from "Snapshot" s, lateral (select s.properties::text::jsonb as j) parsed
    where j ->> 'commit_id' is not null)
  select 'edge_without_audit', label || ' ' || commit_id, '{}'::jsonb from pair where not logged
  union all
  select 'audit_without_edge', label || ' ' || commit_id, '{}' from pair where not drawn
  union all
  select 'edge_without_node', label || ' ' || commit_id, '{}' from pair where drawn and not joined
  union all
  select 'edge_differs', label || ' ' || commit_id, '{}' from pair where logged and drawn and not coalesce(agree, false)
  union all
  select 'snapshot_without_audit', s.metadata_location, jsonb_build_object('commit_id', s.commit_id)
    from snapshot s
    where not exists (select from svc.audit_log a
      where a.commit_id::text = s.commit_id and a.metadata_location = s.metadata_location)
  union all
  select 'audit_without_snapshot', a.metadata_location, jsonb_build_object('commit_id', a.commit_id)
    from svc.audit_log a
    where a.decision = 'APPROVED'
      and not exists (select from snapshot s where s.metadata_location = a.metadata_location);
end $$;

-- Writes what drifts and closes what no longer does; gives every breach that is open now.
create function svc.reconcile() returns setof svc.breach
language sql volatile as $$
  with drifting as materialized (select distinct on (kind, subject) * from svc.drift()),
  closed as (
    update svc.breach b set resolved_at = now()
    where b.resolved_at is null
      and not exists (select from drifting d where d.kind = b.kind and d.subject = b.subject))
  insert into svc.breach as b (tenant_id, kind, subject, detail)
    select svc.current_tenant(), d.kind, d.subject, d.detail from drifting d
    on conflict (tenant_id, kind, md5(subject)) where resolved_at is null
    do update set last_seen_at = now(), detail = excluded.detail
    returning b.*
$$;

revoke all on function svc.drift, svc.reconcile from public;
grant execute on function svc.drift, svc.reconcile to svc_tenant;
