-- What is removed row by row: runs of detection, lineage events, bodies, snapshots of the graph. Each function works for the
-- tenant of its transaction and removes one page. It runs as its owner, and looks up itself what the settings and holds
-- allow, so no caller removes more.

-- How many days a tenant's history of a kind is kept, null for good, and who said so.
create or replace function svc.kept_days(tenant uuid, kind text, out days int, out source text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select s.keep_days, 'tenant' into days, source from svc.retention_setting s
    where s.tenant_id = tenant and s.kind = kept_days.kind;
  if found then return; end if;
  select d.keep_days, 'installation' into days, source from svc.retention_default d
    where d.kind = kept_days.kind order by d.default_seq desc limit 1;
  if found then return; end if;
  source := 'built-in';
  days := case kept_days.kind when 'detection-runs' then 90 end;
end $$;

-- The settings that hold for the tenant of the transaction.
create or replace function svc.retention(kinds text[]) returns table (kind text, keep_days int, source text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  if svc.current_tenant() is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  return query select k, d.days, d.source from unnest(kinds) k, svc.kept_days(svc.current_tenant(), k) d;
end $$;

-- Whether a hold stands on a table or its tenant. Where the table is not known, any hold of the tenant counts.
create or replace function svc.is_held(tenant uuid, table_key text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from svc.legal_hold h where h.tenant_id = tenant and h.released_at is null
    and (h.table_id is null or table_key is null or h.table_id = table_key));
end $$;

-- Holds are set under the same lock, alone. So what a page removes was not held when it ended.
create or replace function svc.lock_holds(tenant uuid) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select pg_advisory_xact_lock_shared(hashtextextended('holds ' || tenant::text, 0));
end;

-- Where a removal begins: `after`, or where the last one ended.
create or replace function svc.removal_begins(of_kind text, after bigint) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  tenant uuid := svc.current_tenant();
  begins bigint;
begin
  if after is not null then return after; end if;
  insert into svc.retention_progress as p (tenant_id, kind, removed_to, began_at, removed_before)
    values (tenant, of_kind, 0, now(), '-infinity')
    on conflict (tenant_id, kind) do update
      set removed_to = case when p.began_at > now() - interval '7 days' then p.removed_to else 0 end,
        began_at = case when p.began_at > now() - interval '7 days' then p.began_at else now() end
    returning p.removed_to into begins;
  return begins;
end $$;

-- Removes runs that are over and found nothing, with their attempts. A run that found something is the evidence of tags.
-- A run stays while the poller may still look for the one of its snapshot (svc.enqueue_snapshots). Positions are
-- microseconds since 1970.
create or replace function svc.remove_detection_runs(most int, after bigint, out removed int, out next bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  days int := (svc.kept_days(tenant, 'detection-runs')).days;
  cutoff timestamptz := now() - make_interval(days => days);
  graph_name text := 'g_' || replace(tenant::text, '-', '_');
  still_polled text[];
  polled bigint;
  label int;
  looked int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  removed := 0;
  if cutoff is null then return; end if;
  select c.snapshots_until & 281474976710655 into polled from svc.detection_cursor c where c.tenant_id = tenant;
  -- The poller has not looked at anything yet.
  if not found then return; end if;
  perform svc.lock_holds(tenant);
  select l.id into strict label from ag_catalog.ag_label l where l.relation = format('%I."Snapshot"', graph_name)::regclass;
  execute format($q$
    with number as materialized (
      select ag_catalog._graphid($1, n) as id
      from generate_series(greatest($2 - 1000, 0) + 1, coalesce((
        select s.id::text::bigint & 281474976710655 from %1$I."Snapshot" s order by s.id desc limit 1), 0)) n)
    select coalesce(array_agg(svc.canonical_location(s.properties::text::jsonb ->> 'metadata_location')), '{}')
    from number join %1$I."Snapshot" s on s.id operator(ag_catalog.=) number.id $q$, graph_name) into still_polled using label, polled;
  with run as materialized (
    select r.run_id, r.created_at, r.table_id, r.snapshot_metadata_location as location,
      r.state in ('done', 'failed') and r.alert_due is null and coalesce(r.finished_at, r.created_at) < cutoff as is_over
    from svc.detection_run r
    where r.tenant_id = tenant and r.created_at < cutoff
      and r.created_at > coalesce(timestamptz 'epoch' + after * interval '1 microsecond', '-infinity')
    order by r.created_at fetch first most rows with ties),
  doomed as materialized (
    select run_id from run where is_over and location <> all (still_polled) and not svc.is_held(tenant, table_id)
      and not exists (select from svc.detection_evidence f where f.tenant_id = tenant and f.run_id = run.run_id)),
  attempt as (
    delete from svc.detection_attempt a using doomed d where a.tenant_id = tenant and a.run_id = d.run_id),
  gone as (
    delete from svc.detection_run r using doomed d where r.tenant_id = tenant and r.run_id = d.run_id returning 1)
  select (select count(*) from run), (extract(epoch from (select max(created_at) from run)) * 1000000)::bigint,
    (select count(*) from gone) into looked, next, removed;
  if looked < most then next := null; end if;
end $$;

-- Removes lineage events that wait for nothing, or empties their bodies. What they drew in the graph stays. A hold of any
-- table keeps those of its tenant, because an event names any number of tables.
create or replace function svc.remove_lineage(of_kind text, most int, inout after bigint, out removed int)
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  days int := (svc.kept_days(tenant, of_kind)).days;
  cutoff timestamptz := now() - make_interval(days => days);
  inbox text;
  changed int;
  oldest_kept bigint;
  begins bigint := after;
  upto bigint;
  newest bigint;
  last bigint := 0;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  after := null;
  removed := 0;
  if cutoff is null then return; end if;
  perform svc.lock_holds(tenant);
  if svc.is_held(tenant, null) then return; end if;
  begins := svc.removal_begins(of_kind, begins);
  upto := begins + most;
  foreach inbox in array array['lineage_inbox', 'lineage_event'] loop
    inbox := format('%I.%I', 't_' || replace(tenant::text, '-', '_'), inbox);
    execute format('select max(event_seq), (select min(event_seq) from (select event_seq, received_at from %1$s
        where event_seq > $1 and event_seq <= $2) i where received_at >= $3) from %1$s', inbox)
      into newest, oldest_kept using begins, upto, cutoff;
    last := greatest(last, newest);
    upto := least(upto, oldest_kept - 1);
    execute format($q$%s event_seq > $1 and event_seq <= $2 and received_at < $3 and state <> 'pending'$q$,
        case of_kind when 'lineage' then format('delete from %s where', inbox)
          else format($q$update %s set body = '' where octet_length(body) > 0 and$q$, inbox) end)
      using begins, upto, cutoff;
    get diagnostics changed = row_count;
    removed := removed + changed;
  end loop;
  update svc.retention_progress p set removed_to = least(upto, last), removed_before = greatest(p.removed_before, cutoff)
    where p.tenant_id = tenant and p.kind = of_kind;
  after := case when upto = begins + most and upto < last then upto end;
end $$;

create or replace function svc.remove_lineage_bodies(most int, after bigint, out removed int, out next bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select r.removed, r.after into removed, next from svc.remove_lineage('lineage-bodies', most, after) r;
end $$;

create or replace function svc.remove_lineage_events(most int, after bigint, out removed int, out next bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select r.removed, r.after into removed, next from svc.remove_lineage('lineage', most, after) r;
end $$;

-- Empties the bodies of audited requests.
create or replace function svc.remove_commit_bodies(most int, after bigint, out removed int, out next bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  days int := (svc.kept_days(tenant, 'commit-bodies')).days;
  cutoff timestamptz := now() - make_interval(days => days);
  begins bigint;
  looked int;
  upto bigint;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  removed := 0;
  if cutoff is null then return; end if;
  perform svc.lock_holds(tenant);
  -- A month that is being hashed is not changed (svc.detach_page).
  perform pg_advisory_xact_lock_shared(hashtextextended('commit bodies', 0));
  begins := svc.removal_begins('commit-bodies', after);
  with logged as materialized (
    select a.audit_seq, a.table_id, a.created_at, octet_length(a.body) as size,
      exists (select from svc.month_partition p where p.parent = 'audit_log' and p.detach_step is not null
        and a.received_at >= p.starts and a.received_at < p.ends) as is_leaving
    from svc.audit_log a
    where a.tenant_id = tenant and a.audit_seq > begins order by a.audit_seq limit most),
  old as materialized (
    select l.* from logged l where l.created_at < cutoff),
  emptied as (
    update svc.audit_log a set body = '' from old o
    where a.tenant_id = tenant and a.audit_seq = o.audit_seq and o.size > 0 and not o.is_leaving and not svc.is_held(tenant, o.table_id)
    returning 1)
  select (select count(*) from old), (select max(o.audit_seq) from old o), (select count(*) from emptied)
    into looked, upto, removed;
  update svc.retention_progress p set removed_to = coalesce(upto, p.removed_to),
      removed_before = greatest(p.removed_before, cutoff)
    where p.tenant_id = tenant and p.kind = 'commit-bodies';
  if looked = most then next := upto; end if;
end $$;

-- Removes the snapshots of these metadata files from the tenant's graph, with the edges of how they were written. One
-- that is the newest of its table stays, and one that something else is drawn to, such as a classification.
create or replace function svc.remove_snapshots(tenant uuid, locations text[]) returns int
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  nodes ag_catalog.graphid[];
  removed int;
begin
  perform set_config('search_path', format('%I, ag_catalog, pg_catalog', 'g_' || replace(tenant::text, '-', '_')), true);
  nodes := array(
    with key as materialized (
      select distinct to_jsonb(case when octet_length(l) <= 1024 then l
        else 'sha256:' || encode(sha256(convert_to(l, 'UTF8')), 'hex') end)::text::agtype as id
      from unnest(locations) l),
    node as materialized (
      select s.id, s.properties::text::jsonb ->> 'table_id' as table_id from key join "Snapshot" s
        on agtype_access_operator(variadic array[s.properties, '"id"'::agtype]) = key.id)
    select n.id from node n
    where not exists (select from svc.ingested_table g
        where g.tenant_id = tenant and g.table_id = n.table_id and g.snapshot_node = n.id)
      and not exists (select from "_ag_label_edge" e where e.end_id = n.id and e.tableoid <> '"PARENT_OF"'::regclass)
      and not exists (select from "_ag_label_edge" e
        where e.start_id = n.id and e.tableoid <> all (array['"ACTUAL_WRITE"'::regclass, '"PARENT_OF"'::regclass])));
  delete from "ACTUAL_WRITE" e where e.start_id = any (nodes);
  delete from "PARENT_OF" e where e.start_id = any (nodes);
  delete from "PARENT_OF" e where e.end_id = any (nodes);
  delete from "Snapshot" s where s.id = any (nodes);
  get diagnostics removed = row_count;
  return removed;
end $$;

-- Removes snapshots from the graph that others have followed, with the edges of how they were written. The newest of a
-- table stays, and one that something else is drawn to, such as a classification.
create or replace function svc.remove_graph_snapshots(most int, after bigint, out removed int, out next bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  days int := (svc.kept_days(tenant, 'graph-snapshots')).days;
  cutoff timestamptz := now() - make_interval(days => days);
  begins bigint;
  looked int;
  upto bigint;
  locations text[];
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  removed := 0;
  if cutoff is null then return; end if;
  perform svc.lock_holds(tenant);
  begins := svc.removal_begins('graph-snapshots', after);
  with logged as materialized (
    select a.audit_seq, a.table_id, a.created_at, a.metadata_location from svc.audit_log a
    where a.tenant_id = tenant and a.audit_seq > begins order by a.audit_seq limit most),
  old as materialized (
    select l.* from logged l where l.created_at < cutoff)
  select count(*), max(o.audit_seq), array_agg(o.metadata_location) filter (
      where o.metadata_location is not null and not svc.is_held(tenant, o.table_id)
        and exists (select from svc.audit_log n where n.tenant_id = tenant and n.table_id = o.table_id
          and n.audit_seq > o.audit_seq and n.metadata_location is not null))
    into looked, upto, locations from old o;
  -- Before anything is gone, so that the comparison with the audit log does not miss it.
  update svc.retention_progress p set removed_to = coalesce(upto, p.removed_to),
      removed_before = greatest(p.removed_before, cutoff)
    where p.tenant_id = tenant and p.kind = 'graph-snapshots';
  removed := svc.remove_snapshots(tenant, locations);
  if looked = most then next := upto; end if;
end $$;

-- What keeps a tenant from being removed: legal holds that stand, and months that have rows of it and are detached, or
-- being detached, since such a month is verified whole.
create or replace function svc.what_keeps_tenant(tenant uuid) returns table (kind text, name text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  month text;
begin
  -- Without the table: who asks administers the installation, and is told no names of a tenant's tables.
  return query select 'hold', format('%s on %s (%s)', h.hold_id,
      case when h.table_id is null then 'the whole tenant' else 'a table' end, h.reason)
    from svc.legal_hold h where h.tenant_id = tenant and h.released_at is null order by h.hold_id;
  for month in select p.name from svc.month_partition p
      where (p.detached_at is not null or p.detach_step is not null) and to_regclass(format('svc.%I', p.name)) is not null
      order by p.starts loop
    return query execute format('select %L, %L where exists (select from svc.%I r where r.tenant_id = $1)', 'month', month, month)
      using tenant;
  end loop;
end $$;

revoke all on function svc.kept_days, svc.what_keeps_tenant, svc.retention, svc.is_held, svc.lock_holds, svc.removal_begins,
  svc.remove_snapshots, svc.remove_detection_runs, svc.remove_lineage, svc.remove_lineage_bodies, svc.remove_lineage_events,
  svc.remove_commit_bodies, svc.remove_graph_snapshots from public;
grant execute on function svc.retention, svc.remove_detection_runs, svc.remove_lineage_bodies, svc.remove_lineage_events,
  svc.remove_commit_bodies, svc.remove_graph_snapshots to svc_tenant;
grant execute on function svc.what_keeps_tenant to svc_admin;
