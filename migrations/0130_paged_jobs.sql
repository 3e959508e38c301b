-- What the jobs read of a tenant that grows without end, a page at a time: each page is a transaction of its own,
-- so that commits come between, and looks every row up by a key.
--
-- A comparison that computes something of a row (a JSON field, a pattern) may leak it, so under row-level security
-- it is never looked up in an index, whatever the planner knows. Hence each value is computed first, in a
-- materialized step, and then compared as it is. The plans that are left out would be chosen for tables that the
-- planner takes for empty: the embedded database never gathers statistics. Nor is a plan kept: which of two indexes is
-- the better one shows in the size of the table only.

drop function svc.enqueue_unscanned(int);

-- Queues what the audit log names and no run covers: accepted rows made after `after`, or, without it, from before
-- where the last round ended, by more than any transaction lasts, since rows become visible in another order than
-- they were made. Gives where the next page begins, null at the end. All who queue do it in the order of locations,
-- or they would deadlock.
create function svc.enqueue_audited(page int, inout after timestamptz, out queued int)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  began timestamptz := clock_timestamp();
  looked int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  after := coalesce(after, (select c.audit_until - interval '15 minutes' from svc.detection_cursor c where c.tenant_id = tenant),
    '-infinity');
  with made as materialized (
    select a.created_at, svc.canonical_location(a.metadata_location) as location, a.credential_id, a.table_id, a.namespace, a.table_name
    from svc.audit_log a
    where a.tenant_id = tenant and a.decision = 'APPROVED' and a.created_at > after
    order by a.created_at fetch first page rows with ties),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, m.location, 'baseline-poller', m.credential_id, m.table_id, m.namespace, m.table_name
    from made m where octet_length(m.location) <= 2048 order by m.location
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*), max(m.created_at), (select count(*) from queued_now) into looked, after, queued from made m;
  insert into svc.detection_cursor as c (tenant_id, audit_until)
    values (tenant, case when looked < page then began else after end)
    on conflict (tenant_id) do update set audit_until = greatest(c.audit_until, excluded.audit_until);
  if looked < page then after := null; end if;
end $$;

-- The same of the graph's Snapshot nodes, by their numbers: a graphid is its label's number above one of a sequence.
create function svc.enqueue_snapshots(page int, inout after bigint, out queued int)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  label int;
  newest bigint;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  select l.id into strict label from ag_catalog.ag_label l where l.relation = '"Snapshot"'::regclass;
  select s.id::text::bigint & 281474976710655 into newest from "Snapshot" s order by s.id desc limit 1;
  newest := coalesce(newest, 0);
  after := coalesce(after, (select greatest((c.snapshots_until & 281474976710655) - 1000, 0)
    from svc.detection_cursor c where c.tenant_id = tenant), 0);
  with number as materialized (
    select ag_catalog._graphid(label, n) as id from generate_series(after + 1, least(after + page, newest)) n),
  node as materialized (
    select s.id, s.properties::text::jsonb as j from number join "Snapshot" s on s.id = number.id),
  named as materialized (
    select n.id, svc.canonical_location(j ->> 'metadata_location') as location, (j -> 'table_id')::text::ag_catalog.agtype as table_key,
      case when j ->> 'commit_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (j ->> 'commit_id')::uuid end as commit_id
    from node n where octet_length(j ->> 'metadata_location') between 1 and 2048),
  unscanned as materialized (
    select n.* from named n where not exists (
      select from svc.detection_run r where r.tenant_id = tenant and r.snapshot_metadata_location = n.location)),
  described as materialized (
    select u.location,
      (select t.properties::text::jsonb from "Table" t
        where ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype]) = u.table_key) as t,
      (select a.credential_id from svc.audit_log a where a.tenant_id = tenant and a.commit_id = u.commit_id) as credential_id
    from unscanned u),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, d.location, 'baseline-poller', d.credential_id,
      case when known then t ->> 'id' end, case when known then t -> 'namespace' end, case when known then t ->> 'name' end
    from described d, lateral (select coalesce(jsonb_typeof(t -> 'namespace') = 'array' and t ->> 'name' is not null, false) as known) k
    order by d.location
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*) into queued from queued_now;
  after := least(after + page, newest);
  insert into svc.detection_cursor as c (tenant_id, snapshots_until)
    values (tenant, ag_catalog._graphid(label, after)::text::bigint)
    on conflict (tenant_id) do update set snapshots_until = greatest(c.snapshots_until, excluded.snapshots_until);
  if after >= newest then after := null; end if;
end $$;

revoke all on function svc.enqueue_audited, svc.enqueue_snapshots from public;
grant execute on function svc.enqueue_audited, svc.enqueue_snapshots to svc_tenant;

drop function svc.reconcile();
drop function svc.drift();

-- Drift that shows in the audit log: rows from `after` on, in their order. One statement sees a row and what one
-- transaction wrote with it as of one moment, so a commit under way is no drift.
create function svc.drift_of_audit(page int, inout after bigint, out drift jsonb)
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
      -- The id that a location has as a node.
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
      where p.j is not null and not coalesce(p.j - 'id' - 'created_at' = p.told and (p.j ->> 'created_at')::timestamptz = p.created_at, false)
    union all
    select 'audit_without_snapshot', l.metadata_location, jsonb_build_object('commit_id', l.commit_id) from logged l
      where l.metadata_location is not null and coalesce((
        select s.properties::text::jsonb from "Snapshot" s
          where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype]) = l.snapshot_key)
        @> jsonb_build_object('metadata_location', l.metadata_location), false) is false)
  select (select coalesce(jsonb_agg(f), '[]') from found f), count(*), max(l.audit_seq) into drift, looked, after from logged l;
  if looked < page then after := null; end if;
end $$;

-- Drift that shows in the graph: what a label holds that the audit log does not, by the blocks of its table, the
-- one order in which every row of a label can be looked up.
create function svc.drift_of_graph(label text, blocks int, inout after bigint, out drift jsonb)
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

-- Writes what drifts and closes what no longer does; gives every breach that is open now.
create function svc.record_drift(drift jsonb) returns setof svc.breach
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
  return query select * from svc.breach b where b.tenant_id = tenant and b.resolved_at is null;
end $$;

revoke all on function svc.drift_of_audit, svc.drift_of_graph, svc.record_drift from public;
grant execute on function svc.drift_of_audit, svc.drift_of_graph, svc.record_drift to svc_tenant;
