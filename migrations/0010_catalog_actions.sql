-- What an audit row is about, beside commits: creations, renames, drops, views, namespaces. Only actions on
-- tables are drawn in the graph, and only those that write metadata name its location.

create function svc.is_table_action(action text) returns boolean
  language sql immutable parallel safe
  return action like '%-table';

alter table svc.audit_log add column action text not null default 'update-table';

do $$
declare
  name text;
begin
  select conname into strict name from pg_constraint
    where conrelid = 'svc.audit_log'::regclass and contype = 'c'
      and pg_get_constraintdef(oid) like '%metadata_location IS NOT NULL%';
  execute format('alter table svc.audit_log drop constraint %I', name);
end $$;
alter table svc.audit_log add constraint audit_log_metadata_location check (
  (metadata_location is not null)
    = (decision = 'APPROVED' and action in ('update-table', 'create-table', 'register-table')));

create or replace function svc.record_verdict(v jsonb, body bytea, out recorded boolean, out ingested boolean, out ingest_error text)
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  this_commit uuid := (v ->> 'commit_id')::uuid;
  this_action text := v ->> 'action';
  made timestamptz;
  event jsonb;
  principal_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;

  insert into svc.audit_log as a (tenant_id, commit_id, action, committer, decision, reason, principal_source, principal, table_id,
      namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
      policies, outcomes, received_at)
    values (tenant, this_commit, this_action, v ->> 'committer', v ->> 'decision', v ->> 'reason', v ->> 'principal_source',
      v -> 'principal', v ->> 'table_id', v -> 'namespace', v ->> 'table_name', (v ->> 'credential_id')::uuid,
      v ->> 'body_sha256', record_verdict.body, v ->> 'base_metadata_location', v ->> 'metadata_location',
      v -> 'policies', v -> 'outcomes', to_timestamp((v ->> 'received_at_ms')::numeric / 1000))
    on conflict on constraint audit_log_pkey do nothing
    returning a.created_at into made;
  recorded := made is not null;
  if not recorded then
    select a.created_at into made from svc.audit_log a
      where a.tenant_id = tenant and a.commit_id = this_commit
        and a.action = this_action and a.decision = v ->> 'decision' and a.metadata_location is not distinct from v ->> 'metadata_location';
    if made is null then
      raise exception 'commit % has another verdict already', this_commit using errcode = 'unique_violation';
    end if;
  end if;

  if svc.is_table_action(this_action) then
    event := jsonb_build_object('commit_id', this_commit, 'committer', v ->> 'committer', 'decision', v ->> 'decision',
      'reason', v ->> 'reason', 'created_at', made);
    principal_node := svc.ensure_node('Principal', v ->> 'principal_id', jsonb_build_object('sub', v ->> 'committer'));
    table_node := svc.ensure_node('Table', v ->> 'table_id',
      jsonb_build_object('namespace', v -> 'namespace', 'name', v ->> 'table_name'));
    perform svc.ensure_edge('INTENDED_WRITE', this_commit::text, principal_node, table_node, event);
    if v ->> 'metadata_location' is not null then
      snapshot_node := svc.ensure_node('Snapshot', v ->> 'snapshot_id', jsonb_build_object(
        'metadata_location', v ->> 'metadata_location', 'table_id', v ->> 'table_id', 'commit_id', this_commit));
      perform svc.ensure_edge('ACTUAL_WRITE', this_commit::text, snapshot_node, table_node, event);
    end if;
  end if;

  delete from svc.commit_intent i where i.tenant_id = tenant and i.commit_id = this_commit;

  ingested := false;
  if snapshot_node is not null then
    begin
      perform svc.ingest_snapshot(v, table_node, snapshot_node);
      ingested := true;
    exception when others then
      ingest_error := sqlstate || ' ' || sqlerrm;
    end;
  end if;
end $$;

create or replace function svc.drift() returns table (kind text, subject text, detail jsonb)
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
    select 'INTENDED_WRITE' as label, a.* from svc.audit_log a where svc.is_table_action(a.action)
    union all
    select 'ACTUAL_WRITE', a.* from svc.audit_log a where a.metadata_location is not null),
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
    where a.metadata_location is not null
      and not exists (select from snapshot s where s.metadata_location = a.metadata_location);
end $$;

revoke all on function svc.is_table_action from public;
grant execute on function svc.is_table_action to svc_tenant;
