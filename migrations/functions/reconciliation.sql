-- Drift between the graph and its relational projection, the audit log, both ways. Pages and plans are as in
-- detection.sql.

-- Drift that shows in the audit log: rows from `after` on, in their order. One statement sees a row and what the same
-- transaction wrote with it at one moment, so a commit in progress is no drift. An edge whose time cannot be read is
-- one that differs; it does not end the comparison.
create or replace function svc.drift_of_audit(page int, inout after bigint, out drift jsonb)
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  looked int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  with logged as materialized (
    select a.audit_seq, a.commit_id, a.created_at, a.metadata_location, svc.is_table_action(a.action) as intended,
      to_jsonb(a.commit_id)::text::ag_catalog.agtype as edge_key,
      -- The id of the location's node.
      to_jsonb(case when octet_length(a.metadata_location) <= 1024 then a.metadata_location
        else 'sha256:' || encode(sha256(convert_to(a.metadata_location, 'UTF8')), 'hex') end)::text::ag_catalog.agtype as snapshot_key,
      jsonb_build_object('commit_id', a.commit_id, 'committer', a.committer, 'decision', a.decision, 'reason', a.reason,
        'tenant_id', a.tenant_id) as told
    from svc.audit_log a where a.tenant_id = tenant and a.audit_seq > coalesce(after, 0)
    order by a.audit_seq limit page),
  pair as materialized (
    select 'INTENDED_WRITE' as label, l.*, e.*
      from logged l left join lateral (
        select x.properties::text::jsonb as j, exists (select from "Principal" p where p.id = x.start_id)
          and exists (select from "Table" t where t.id = x.end_id) as joined
        from "INTENDED_WRITE" x
        where ag_catalog.agtype_access_operator(variadic array[x.properties, '"id"'::ag_catalog.agtype]) = l.edge_key) e on true
      where l.intended
    union all
    select 'ACTUAL_WRITE', l.*, e.*
      from logged l left join lateral (
        select x.properties::text::jsonb as j, exists (select from "Snapshot" s where s.id = x.start_id)
          and exists (select from "Table" t where t.id = x.end_id) as joined
        from "ACTUAL_WRITE" x
        where ag_catalog.agtype_access_operator(variadic array[x.properties, '"id"'::ag_catalog.agtype]) = l.edge_key) e on true
      where l.metadata_location is not null),
  found as (
    select 'audit_without_edge' as kind, p.label || ' ' || p.commit_id as subject, '{}'::jsonb as detail from pair p where p.j is null
    union all
    select 'edge_without_node', p.label || ' ' || p.commit_id, '{}' from pair p where not p.joined
    union all
    select 'edge_differs', p.label || ' ' || p.commit_id, '{}' from pair p
      where p.j is not null and not coalesce(p.j - 'id' - 'created_at' = p.told and case
        when pg_input_is_valid(p.j ->> 'created_at', 'timestamptz') then (p.j ->> 'created_at')::timestamptz = p.created_at end, false)
    union all
    select 'audit_without_snapshot', l.metadata_location, jsonb_build_object('commit_id', l.commit_id) from logged l
      where l.metadata_location is not null and coalesce((
        select s.properties::text::jsonb from "Snapshot" s
          where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype]) = l.snapshot_key)
        @> jsonb_build_object('metadata_location', l.metadata_location), false) is false)
  select (select coalesce(jsonb_agg(f), '[]') from found f), count(*), max(l.audit_seq) into drift, looked, after from logged l;
  if looked < page then after := null; end if;
end $$;

-- Drift that shows in the graph: what a label holds and the audit log does not. It goes by the blocks of the label's
-- table, the one order in which every row of a label can be looked up.
create or replace function svc.drift_of_graph(label text, blocks int, inout after bigint, out drift jsonb)
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  source text;
  first bigint := coalesce(after, 0);
  ends bigint := pg_relation_size(format('%I', label)::regclass) / current_setting('block_size')::int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  source := case label when 'INTENDED_WRITE' then 'Principal' when 'ACTUAL_WRITE' then 'Snapshot' end;
  execute format($q$
    with item as materialized (
      select %1$s as joined, x.properties::text::jsonb as j from %2$I x where x.ctid >= $1 and x.ctid < $2),
    named as materialized (
      select i.*, j ->> '%3$s' as commit_id,
        case when j ->> '%3$s' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (j ->> '%3$s')::uuid end as commit_uuid
      from item i where j ->> '%3$s' is not null),
    checked as materialized (
      select n.*, (select jsonb_build_array(a.metadata_location, svc.is_table_action(a.action)) from svc.audit_log a
        where a.tenant_id = $3 and a.commit_id = n.commit_uuid) as logged
      from named n),
    found as (%4$s)
    select coalesce(jsonb_agg(f), '[]') from found f $q$,
    case when source is null then 'true' else format('exists (select from %I s where s.id = x.start_id)
      and exists (select from "Table" t where t.id = x.end_id)', source) end,
    label,
    case when source is null then 'commit_id' else 'id' end,
    case when source is null then $s$
      select 'snapshot_without_audit' as kind, coalesce(j ->> 'metadata_location', '') as subject, jsonb_build_object('commit_id', commit_id) as detail
        from checked where logged -> 0 is distinct from j -> 'metadata_location' $s$
    else format($e$
      select k.kind, %1$L || ' ' || commit_id as subject, '{}'::jsonb as detail
        from checked, lateral (values ('edge_without_audit', true), ('edge_without_node', not joined)) k (kind, holds)
        where k.holds and not coalesce(%2$s, false) $e$, label,
        case label when 'INTENDED_WRITE' then '(logged -> 1)::boolean' else $l$logged -> 0 <> 'null'$l$ end) end)
    into drift using format('(%s,0)', first)::tid, format('(%s,0)', first + blocks)::tid, tenant;
  after := case when first + blocks < ends then first + blocks end;
end $$;

-- Writes what drifts and closes what no longer does. Returns every breach that is open now.
create or replace function svc.record_drift(drift jsonb) returns setof svc.breach
language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  tenant uuid := svc.current_tenant();
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  insert into svc.breach as b (tenant_id, kind, subject, detail)
    select distinct on (d ->> 'kind', d ->> 'subject') tenant, d ->> 'kind', d ->> 'subject', d -> 'detail'
    from jsonb_array_elements(drift) d
    on conflict (tenant_id, kind, md5(subject)) where resolved_at is null
    do update set last_seen_at = now(), detail = excluded.detail;
  update svc.breach b set resolved_at = now()
    where b.tenant_id = tenant and b.resolved_at is null and b.last_seen_at < now();
  insert into svc.event (tenant_id, type, subject, data)
    select tenant, case when b.resolved_at is null then 'breach.found' else 'breach.resolved' end, b.subject,
      jsonb_build_object('breach_id', b.breach_id, 'kind', b.kind)
    from svc.breach b
    where b.tenant_id = tenant and (b.resolved_at = now() or b.resolved_at is null and b.detected_at = now())
    order by b.kind, b.subject;
  return query select * from svc.breach b where b.tenant_id = tenant and b.resolved_at is null;
end $$;

revoke all on function svc.drift_of_audit, svc.drift_of_graph, svc.record_drift from public;
grant execute on function svc.drift_of_audit, svc.drift_of_graph, svc.record_drift to svc_tenant;
