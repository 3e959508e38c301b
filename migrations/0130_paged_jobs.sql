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
-- they were made. Gives where the next page begins, null at the end.
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
    from made m where octet_length(m.location) <= 2048
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
