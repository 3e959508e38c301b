-- Drift between the graph and its relational projection, the audit log, both ways. Pages and plans are as in
-- detection.sql.
--
-- Each hour compares what is new, looks again at what drifts, and takes a round over the whole history further, which
-- ends within six days. The state is svc.reconciliation, and each page moves it in its own transaction.

-- The newest number of a walk, 0 where there is none. That of a label is the last one that its sequence gave: a graph may
-- hold a greater one, which no sequence gave, and which the round finds.
create or replace function svc.newest_number(walk text) returns bigint
language plpgsql stable set enable_seqscan = off as $$
declare
  newest bigint;
begin
  if walk = 'audit' then
    select a.audit_seq into newest from svc.audit_log a where a.tenant_id = svc.current_tenant()
      order by a.audit_seq desc limit 1;
  else
    select pg_sequence_last_value(s.oid) into newest
      from pg_attrdef d
        join pg_depend p on p.classid = 'pg_attrdef'::regclass and p.objid = d.oid and p.refclassid = 'pg_class'::regclass
        join pg_class s on s.oid = p.refobjid and s.relkind = 'S'
      where d.adrelid = format('%I', walk)::regclass and d.adnum = (
        select a.attnum from pg_attribute a where a.attrelid = d.adrelid and a.attname = 'id');
  end if;
  return coalesce(newest, 0);
end $$;

-- Begins a run: says where each walk goes, whether anything drifts, and what share of the history was compared within
-- the last seven days. A number may be drawn long before its row is committed. So a number is settled only when it is
-- compared in a run that began after every transaction that may have drawn a lower one had ended: record_verdict has its
-- transaction's id before it draws one, and `newest_xid` is drawn after `newest` was seen.
--
-- Where a store with a history begins to compare so, only the last day of the audit log and the last `most` numbers of a
-- label count as new. The round comes by the rest. It goes as far as the time that has passed since it began, and what is
-- added meanwhile belongs to it, so it comes by each row within six days of the last time.
create or replace function svc.begin_comparison(most bigint, out has_work boolean, out has_breaches boolean, out coverage double precision)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  tenant uuid := svc.current_tenant();
  round_takes constant interval := '6 days';
  counts_for constant interval := '7 days';
  this_walk text;
  s svc.reconciliation;
  was svc.reconciliation;
  newest_now bigint;
  extent bigint;
  is_passed boolean;
  share double precision;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  has_work := false;
  coverage := 1;
  foreach this_walk in array array['audit', 'INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot'] loop
    newest_now := svc.newest_number(this_walk);
    extent := case when this_walk = 'audit' then newest_now
      else pg_relation_size(format('%I', this_walk)::regclass) / current_setting('block_size')::int end;
    select * into s from svc.reconciliation r where r.tenant_id = tenant and r.walk = this_walk;
    if not found then
      s.settled := case when this_walk = 'audit' then coalesce((select a.audit_seq from svc.audit_log a
          where a.tenant_id = tenant and a.created_at < now() - interval '1 day' order by a.created_at desc limit 1), 0)
        else greatest(newest_now - most, 0) end;
      insert into svc.reconciliation (tenant_id, walk, settled, settles, newest, newest_xid, compared, compare_to,
          round_at, round_to, round_end, round_began, round_before)
        values (tenant, this_walk, s.settled, s.settled, newest_now, pg_current_xact_id(), s.settled, newest_now,
          0, 0, extent, now(), case when s.settled = 0 then now() end)
        returning * into s;
    else
      was := s;
      -- A number beyond this transaction's is of another server, from which the rows were copied.
      is_passed := pg_snapshot_xmin(pg_current_snapshot()) >= s.newest_xid or s.newest_xid > pg_current_xact_id();
      if s.compared >= s.compare_to then s.settled := s.settles; end if;
      s.settles := greatest(s.settled, case when is_passed then s.newest else s.settled end);
      if is_passed and s.newest <> newest_now then
        s.newest := newest_now;
        s.newest_xid := pg_current_xact_id();
      end if;
      s.compared := s.settled;
      s.compare_to := newest_now;
      if s.round_at >= s.round_end and now() - s.round_began >= round_takes then
        s.round_before := s.round_began;
        s.round_began := now();
        s.round_at := 0;
      end if;
      s.round_end := extent;
    end if;
    -- After a pause it takes up to a day to catch up.
    s.round_to := least(s.round_end,
      ceil(s.round_end * (extract(epoch from now() - s.round_began) / extract(epoch from round_takes))),
      s.round_at + ceil(s.round_end / 24.0));
    if was is distinct from s then
      update svc.reconciliation r
        set settled = s.settled, settles = s.settles, newest = s.newest, newest_xid = s.newest_xid, compared = s.compared,
          compare_to = s.compare_to, round_at = s.round_at, round_to = s.round_to, round_end = s.round_end,
          round_began = s.round_began, round_before = s.round_before
        where r.tenant_id = tenant and r.walk = this_walk;
    end if;
    has_work := has_work or s.compared < s.compare_to or s.round_at < s.round_to;

    -- What this round has passed was compared since it began; the rest, when the round before it came by.
    share := case when s.round_end = 0 then 1 else least(s.round_at::double precision / s.round_end, 1) end;
    coverage := least(coverage, case when s.round_began > now() - counts_for then share else 0 end
      + case when s.round_before + (s.round_began - s.round_before) * share > now() - counts_for then 1 - share else 0 end);
  end loop;
  has_breaches := exists (select from svc.breach b where b.tenant_id = tenant and b.resolved_at is null);
end $$;

-- Compares the next page of a walk, keeps what drifts, and moves on. `new_ones` has the breaches that are new; `done` says
-- that this run has nothing more to compare here.
create or replace function svc.compare_page(this_walk text, page int, blocks int, out done boolean, out new_ones uuid[])
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  s svc.reconciliation;
  is_new boolean;
  first bigint;
  last bigint;
  seqs bigint[];
  nodes ag_catalog.graphid[];
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  select * into strict s from svc.reconciliation r where r.tenant_id = tenant and r.walk = this_walk for update;
  is_new := s.compared < s.compare_to;
  done := not is_new and s.round_at >= s.round_to;
  new_ones := '{}';
  if done then return; end if;
  first := case when is_new then s.compared else s.round_at end;
  last := case when is_new then s.compare_to else s.round_to end;
  if this_walk = 'audit' then
    seqs := array(select a.audit_seq from svc.audit_log a
      where a.tenant_id = tenant and a.audit_seq > first and a.audit_seq <= last order by a.audit_seq limit page);
    if cardinality(seqs) = page then last := seqs[page]; end if;
    new_ones := svc.keep_drift(svc.drift_of_commits(seqs));
  elsif is_new then
    last := least(last, first + page);
    execute format($q$
      with number as materialized (
        select ag_catalog._graphid($1, n) as id from generate_series($2 + 1, $3) n)
      select array_agg(x.id) from number join %I x on x.id = number.id $q$, this_walk) into nodes
      using (select l.id from ag_catalog.ag_label l where l.relation = format('%I', this_walk)::regclass), first, last;
    new_ones := svc.keep_drift(svc.drift_of_label(this_walk, nodes));
  else
    -- By the blocks of the label's table, the one order in which every row of a label can be looked up.
    last := least(last, first + blocks);
    execute format('select array_agg(x.id) from %I x where x.ctid >= $1 and x.ctid < $2', this_walk) into nodes
      using format('(%s,0)', first)::tid, format('(%s,0)', last)::tid;
    new_ones := svc.keep_drift(svc.drift_of_label(this_walk, nodes));
  end if;
  update svc.reconciliation r set compared = case when is_new then last else r.compared end,
      round_at = case when is_new then r.round_at else last end
    where r.tenant_id = tenant and r.walk = this_walk;
end $$;

-- Looks again at a page of the breaches that are open, from `after` on, and closes those that are gone. `after` returns
-- where the next page begins, null at the end.
create or replace function svc.recheck_breaches(page int, inout after uuid, out new_ones uuid[])
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  looked uuid[];
  label text;
  nodes ag_catalog.graphid[];
  drift jsonb;
  closed uuid[];
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  looked := array(select b.breach_id from svc.breach b
    where b.tenant_id = tenant and b.resolved_at is null and (after is null or b.breach_id > after)
    order by b.breach_id limit page);
  after := case when cardinality(looked) = page then looked[page] end;
  drift := svc.drift_of_commits(array(
    with named as materialized (
      select case when b.kind in ('audit_without_snapshot', 'snapshot_without_audit') then b.detail ->> 'commit_id'
          else split_part(b.subject, ' ', 2) end as commit_id
      from svc.breach b where b.tenant_id = tenant and b.breach_id = any (looked))
    select a.audit_seq from named n join svc.audit_log a on a.tenant_id = tenant and a.commit_id = case
      when n.commit_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then n.commit_id::uuid end));
  foreach label in array array['INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot'] loop
    execute format($q$
      with key as materialized (
        select distinct to_jsonb(case when b.kind <> 'snapshot_without_audit' then substr(b.subject, length($1) + 2)
            else coalesce(b.detail ->> 'node', b.subject) end)::text::ag_catalog.agtype as id
        from svc.breach b where b.tenant_id = $2 and b.breach_id = any ($3) and case when $1 = 'Snapshot'
          then b.kind = 'snapshot_without_audit' else starts_with(b.subject, $1 || ' ') and b.kind not like '%%snapshot%%' end)
      select array_agg(x.id) from key join %I x
        on ag_catalog.agtype_access_operator(variadic array[x.properties, '"id"'::ag_catalog.agtype]) = key.id $q$, label)
      into nodes using label, tenant, looked;
    drift := drift || svc.drift_of_label(label, nodes);
  end loop;
  new_ones := svc.keep_drift(drift);
  with gone as (
    update svc.breach b set resolved_at = now()
      where b.tenant_id = tenant and b.breach_id = any (looked) and b.last_seen_at < now()
      returning b.breach_id, b.kind, b.subject),
  told as (
    insert into svc.event (tenant_id, type, subject, data)
      select tenant, 'breach.resolved', g.subject, jsonb_build_object('breach_id', g.breach_id, 'kind', g.kind)
      from gone g order by g.kind, g.subject)
  select array_agg(g.breach_id) into closed from gone g;
end $$;

-- The drift that shows in rows of the audit log. One statement sees a row and what the same transaction wrote with it at
-- one moment, so a commit in progress is no drift. An edge whose time cannot be read is one that differs; it does not end
-- the comparison.
create or replace function svc.drift_of_commits(seqs bigint[]) returns jsonb
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  -- Snapshots from before may have been removed (svc.remove_graph_snapshots).
  removed_before timestamptz := coalesce((select p.removed_before from svc.retention_progress p
    where p.tenant_id = tenant and p.kind = 'graph-snapshots'), '-infinity');
  since timestamptz := svc.audit_since();
  drift jsonb;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  if coalesce(cardinality(seqs), 0) = 0 then return '[]'; end if;
  with logged as materialized (
    select a.audit_seq, a.commit_id, a.created_at, a.metadata_location, svc.is_table_action(a.action) as intended,
      to_jsonb(a.commit_id)::text::ag_catalog.agtype as edge_key,
      -- The id of the location's node.
      to_jsonb(case when octet_length(a.metadata_location) <= 1024 then a.metadata_location
        else 'sha256:' || encode(sha256(convert_to(a.metadata_location, 'UTF8')), 'hex') end)::text::ag_catalog.agtype as snapshot_key,
      jsonb_build_object('commit_id', a.commit_id, 'committer', a.committer, 'decision', a.decision, 'reason', a.reason,
        'tenant_id', a.tenant_id) as told
    from svc.audit_log a where a.tenant_id = tenant and a.audit_seq = any (seqs)
      -- What the graph holds of months that leave is removed.
      and a.received_at >= since),
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
    select 'audit_without_edge' as kind, p.label || ' ' || p.commit_id as subject, '{}'::jsonb as detail from pair p
      where p.j is null and (p.label = 'INTENDED_WRITE' or p.created_at >= removed_before)
    union all
    select 'edge_without_node', p.label || ' ' || p.commit_id, '{}' from pair p where not p.joined
    union all
    select 'edge_differs', p.label || ' ' || p.commit_id, '{}' from pair p
      where p.j is not null and not coalesce(p.j - 'id' - 'created_at' = p.told and case
        when pg_input_is_valid(p.j ->> 'created_at', 'timestamptz') then (p.j ->> 'created_at')::timestamptz = p.created_at end, false)
    union all
    select 'audit_without_snapshot', l.metadata_location, jsonb_build_object('commit_id', l.commit_id) from logged l
      where l.metadata_location is not null and l.created_at >= removed_before and coalesce((
        select s.properties::text::jsonb from "Snapshot" s
          where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype]) = l.snapshot_key)
        @> jsonb_build_object('metadata_location', l.metadata_location), false) is false)
  select coalesce(jsonb_agg(f), '[]') into drift from found f;
  return drift;
end $$;

-- The drift that shows in rows of a label: what they hold and the audit log does not.
create or replace function svc.drift_of_label(label text, ids ag_catalog.graphid[]) returns jsonb
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  source text := case label when 'INTENDED_WRITE' then 'Principal' when 'ACTUAL_WRITE' then 'Snapshot' end;
  drift jsonb;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  if coalesce(cardinality(ids), 0) = 0 then return '[]'; end if;
  execute format($q$
    with wanted as materialized (select unnest($1) as id),
    item as materialized (
      select %1$s as joined, x.properties::text::jsonb as j from wanted join %2$I x on x.id = wanted.id),
    named as materialized (
      select i.*, j ->> '%3$s' as commit_id,
        case when j ->> '%3$s' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (j ->> '%3$s')::uuid end as commit_uuid
      from item i where j ->> '%3$s' is not null),
    checked as materialized (
      select n.*, (select jsonb_build_array(a.metadata_location, svc.is_table_action(a.action)) from svc.audit_log a
        where a.tenant_id = $2 and a.commit_id = n.commit_uuid) as logged
      from named n),
    found as (%4$s)
    select coalesce(jsonb_agg(f), '[]') from found f $q$,
    case when source is null then 'true' else format('exists (select from %I s where s.id = x.start_id)
      and exists (select from "Table" t where t.id = x.end_id)', source) end,
    label,
    case when source is null then 'commit_id' else 'id' end,
    case when source is null then $s$
      select 'snapshot_without_audit' as kind, coalesce(j ->> 'metadata_location', '') as subject,
          jsonb_build_object('commit_id', commit_id, 'node', j -> 'id') as detail
        from checked where logged -> 0 is distinct from j -> 'metadata_location' $s$
    else format($e$
      select k.kind, %1$L || ' ' || commit_id as subject, '{}'::jsonb as detail
        from checked, lateral (values ('edge_without_audit', true), ('edge_without_node', not joined)) k (kind, holds)
        where k.holds and not coalesce(%2$s, false) $e$, label,
        case label when 'INTENDED_WRITE' then '(logged -> 1)::boolean' else $l$logged -> 0 <> 'null'$l$ end) end)
    into drift using ids, tenant;
  return drift;
end $$;

-- Keeps what drifts, one row for each kind and subject while it lasts. Returns the new ones.
create or replace function svc.keep_drift(drift jsonb) returns uuid[]
language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  tenant uuid := svc.current_tenant();
  new_ones uuid[];
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  if jsonb_array_length(drift) = 0 then return '{}'; end if;
  with kept as (
    insert into svc.breach as b (tenant_id, kind, subject, detail)
      select distinct on (d ->> 'kind', d ->> 'subject') tenant, d ->> 'kind', d ->> 'subject', d -> 'detail'
      from jsonb_array_elements(drift) d
      on conflict (tenant_id, kind, md5(subject)) where resolved_at is null
      do update set last_seen_at = now(), detail = excluded.detail
      returning b.*),
  new_breach as (select * from kept k where k.detected_at = now()),
  told as (
    insert into svc.event (tenant_id, type, subject, data)
      select tenant, 'breach.found', n.subject, jsonb_build_object('breach_id', n.breach_id, 'kind', n.kind)
      from new_breach n order by n.kind, n.subject)
  select coalesce(array_agg(n.breach_id), '{}') into new_ones from new_breach n;
  return new_ones;
end $$;

revoke all on function svc.newest_number, svc.begin_comparison, svc.compare_page, svc.recheck_breaches,
  svc.drift_of_commits, svc.drift_of_label, svc.keep_drift from public;
grant execute on function svc.newest_number, svc.begin_comparison, svc.compare_page, svc.recheck_breaches,
  svc.drift_of_commits, svc.drift_of_label, svc.keep_drift to svc_tenant;
