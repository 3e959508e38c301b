-- The partitions of history by month: made ahead of time, and detached. They run as their owner, for the job and for
-- administrators.

-- The tables that are partitioned by month: the column by which, that of their numbers, and their kind of history.
create or replace function svc.monthly() returns table (parent text, by_time text, number text, kind text)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  values ('query_usage', 'started_at', 'usage_seq', 'usage'), ('audit_log', 'received_at', 'audit_seq', 'audit');
end;

-- Makes the partitions of the month of a time and the next three that are missing. A month of which rows lie in the default
-- partition already, put there by a clock that is ahead, is left to it. Returns how many it made.
create or replace function svc.keep_months(at timestamptz) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
declare
  made int := 0;
  m record;
  month timestamptz;
  next_month timestamptz;
  partition_name text;
  is_taken boolean;
begin
  for m in select * from svc.monthly() loop
    for i in 0..3 loop
      month := (date_trunc('month', at at time zone 'UTC') + i * interval '1 month') at time zone 'UTC';
      next_month := (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
      continue when exists (select from svc.month_partition p
        where p.parent = m.parent and p.starts < next_month and p.ends > month);
      execute format('select exists (select from svc.%I where %I >= $1 and %I < $2)', m.parent || '_other', m.by_time, m.by_time)
        into is_taken using month, next_month;
      continue when is_taken;
      partition_name := m.parent || '_' || to_char(month at time zone 'UTC', 'YYYY_MM');
      -- Attaching takes a weaker lock on the parent than making a partition of it.
      execute format('create table svc.%I (like svc.%I including defaults including constraints including storage)',
        partition_name, m.parent);
      execute format('alter table svc.%I enable row level security', partition_name);
      execute format('create trigger %I before %s truncate on svc.%I
        for each statement execute function svc.refuse_change()',
        case m.kind when 'audit' then 'append_only_whole' else 'append_only' end,
        case m.kind when 'audit' then 'delete or' else 'update or delete or' end, partition_name);
      execute format('alter table svc.%I attach partition svc.%I for values from (%L) to (%L)', m.parent, partition_name, month, next_month);
      insert into svc.month_partition (name, parent, starts, ends) values (partition_name, m.parent, month, next_month);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

-- Since when requests are in the audit log. What is older is detached, or being detached: months leave in their order.
create or replace function svc.audit_since() returns timestamptz
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select max(p.ends) from svc.month_partition p
    where p.parent = 'audit_log' and (p.detached_at is not null or p.detach_step in ('remove', 'detach'))), '-infinity');
end $$;

-- The hash of a detached month, for the tenants that had rows in it.
create or replace function svc.month_sha256(partition_name text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select p.sha256 from svc.month_partition p where p.name = partition_name);
end $$;

-- What keeps a month: each tenant with rows in it whose setting or hold does. A hold of a table keeps a month of the
-- audit log that has rows of the table, and every month of usage of its tenant.
create or replace function svc.month_tenants(partition_name text)
  returns table (tenant_id uuid, row_count bigint, keep_days int, is_expired boolean, holds int)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  p record;
  of_kind text;
begin
  select * into strict p from svc.month_partition m where m.name = partition_name;
  select m.kind into strict of_kind from svc.monthly() m where m.parent = p.parent;
  return query execute format($q$
    select c.tenant_id, c.row_count, k.days, coalesce($1 <= now() - make_interval(days => k.days), false),
      (select count(*)::int from svc.legal_hold h where h.tenant_id = c.tenant_id and h.released_at is null
        and (h.table_id is null or %s))
    from (select r.tenant_id, count(*) as row_count from svc.%I r group by r.tenant_id) c,
      svc.kept_days(c.tenant_id, $2) k
    order by c.tenant_id $q$,
    case of_kind when 'audit' then format('exists (select from svc.%I r where r.tenant_id = h.tenant_id and r.table_id = h.table_id)',
      p.name) else 'true' end, p.name) using p.ends, of_kind;
end $$;

-- The tenants that have rows in a month which are not in the tree of their audit yet: a row that leaves before has no leaf,
-- ever. A tenant without a tree has nothing proven.
create or replace function svc.unproven_tenants(partition_name text) returns setof uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  was text := coalesce(current_setting('app.tenant_id', true), '');
  -- As leafKinds in src/proof/entry.ts numbers them.
  leaf_kind int;
  by_number text;
  own text;
  r record;
  is_behind boolean;
begin
  select m.number, case m.parent when 'audit_log' then 127 else 11 end into strict by_number, leaf_kind
    from svc.monthly() m join svc.month_partition p on p.parent = m.parent where p.name = partition_name;
  for r in execute format('select x.tenant_id, max(x.%I) as newest from svc.%I x group by x.tenant_id', by_number, partition_name) loop
    own := 't_' || replace(r.tenant_id::text, '-', '_');
    continue when to_regclass(format('%I.audit_mark', own)) is null;
    perform set_config('app.tenant_id', r.tenant_id::text, true);
    execute format('select exists (select from %1$I.audit_tree)
        and not exists (select from %1$I.audit_mark m where m.kind = $1 and m.passed >= $2)', own)
      into is_behind using leaf_kind, r.newest;
    if is_behind then return next r.tenant_id; end if;
  end loop;
  perform set_config('app.tenant_id', was, true);
end $$;

-- What keeps a month now: settings, holds, a removal that has begun, rows that are to be proven first.
create or replace function svc.month_blocked(partition_name text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select jsonb_agg(to_jsonb(t) || jsonb_build_object('is_unproven', u.tenant_id is not null))
    from svc.month_tenants(partition_name) t left join svc.unproven_tenants(partition_name) u (tenant_id) using (tenant_id)
    where not t.is_expired or t.holds > 0 or svc.is_tenant_going(t.tenant_id) or u.tenant_id is not null);
end $$;

-- Hashes a page of one tenant's rows, in the order of their numbers: the SHA-256 of the hash before and of the page's
-- lines, each the JSON of a row. Without rows of the tenant it goes on with the next tenant. `rows` is 0 at the end.
create or replace function svc.hash_page(partition_name text, most int, inout tenant uuid, inout number bigint,
  inout running bytea, out row_count bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
set bytea_output = 'hex' set extra_float_digits = 1 set intervalstyle = 'postgres' set enable_seqscan = off as $$
declare
  by_number text;
  lines text;
begin
  select m.number into strict by_number from svc.monthly() m join svc.month_partition p on p.parent = m.parent
    where p.name = partition_name;
  loop
    execute format($q$
      select count(*), max(r.%2$I), string_agg(row_to_json(r)::text || chr(10), '' order by r.%2$I)
      from (select * from svc.%1$I t where t.tenant_id = $1 and t.%2$I > $2 order by t.%2$I limit $3) r $q$,
      partition_name, by_number) into row_count, number, lines using tenant, coalesce(number, 0), most;
    exit when row_count > 0;
    execute format('select t.tenant_id from svc.%I t where t.tenant_id > $1 order by t.tenant_id limit 1', partition_name)
      into tenant using tenant;
    number := 0;
    if tenant is null then return; end if;
  end loop;
  running := sha256(running || convert_to(lines, 'UTF8'));
end $$;

-- Removes from the graph what a page of one tenant's detached commits left there: edges, and snapshots that others have
-- followed. A snapshot that stays is no longer one of an audited commit.
create or replace function svc.remove_written(partition_name text, most int, inout tenant uuid, inout number bigint,
  out row_count bigint, out is_held boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_custom_plan as $$
declare
  was text := coalesce(current_setting('app.tenant_id', true), '');
  commits uuid[];
  locations text[];
  tables text[];
begin
  loop
    execute format($q$
      select count(*), max(r.audit_seq), array_agg(r.commit_id), array_agg(distinct r.table_id),
        array_agg(r.metadata_location) filter (where r.metadata_location is not null)
      from (select * from svc.%I t where t.tenant_id = $1 and t.audit_seq > $2 order by t.audit_seq limit $3) r $q$,
      partition_name) into row_count, number, commits, tables, locations using tenant, coalesce(number, 0), most;
    exit when row_count > 0;
    execute format('select t.tenant_id from svc.%I t where t.tenant_id > $1 order by t.tenant_id limit 1', partition_name)
      into tenant using tenant;
    number := 0;
    if tenant is null then return; end if;
  end loop;
  perform svc.lock_holds(tenant);
  is_held := exists (select from unnest(tables) t where svc.is_held(tenant, t));
  if is_held then return; end if;
  perform set_config('app.tenant_id', tenant::text, true);
  perform svc.remove_snapshots(tenant, locations);
  perform svc.forget_commits(tenant, commits, locations);
  perform set_config('app.tenant_id', was, true);
end $$;

-- Takes the edges of these commits away, and from snapshots that stayed the name of their commit.
create or replace function svc.forget_commits(tenant uuid, commits uuid[], locations text[]) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
begin
  perform set_config('search_path', format('%I, ag_catalog, pg_catalog', 'g_' || replace(tenant::text, '-', '_')), true);
  delete from "INTENDED_WRITE" e using (
      select x.id from (select distinct to_jsonb(c)::text::agtype as key from unnest(commits) c) k join "INTENDED_WRITE" x
        on agtype_access_operator(variadic array[x.properties, '"id"'::agtype]) = k.key) gone
    where e.id = gone.id;
  delete from "ACTUAL_WRITE" e using (
      select x.id from (select distinct to_jsonb(c)::text::agtype as key from unnest(commits) c) k join "ACTUAL_WRITE" x
        on agtype_access_operator(variadic array[x.properties, '"id"'::agtype]) = k.key) gone
    where e.id = gone.id;
  update "Snapshot" s set properties = (s.properties::text::jsonb - 'commit_id')::text::agtype
    from (
      select x.id from (select distinct to_jsonb(case when octet_length(l) <= 1024 then l
            else 'sha256:' || encode(sha256(convert_to(l, 'UTF8')), 'hex') end)::text::agtype as key
          from unnest(locations) l) k join "Snapshot" x
        on agtype_access_operator(variadic array[x.properties, '"id"'::agtype]) = k.key) kept
    where s.id = kept.id;
end $$;

-- Takes detaching a month one page further, by its own transaction. `blocked` has the tenants that keep the month. Months
-- of a table leave in their order, each hash beginning with the one before.
create or replace function svc.detach_page(partition_name text, by jsonb, most int, out step text, out rows_done bigint,
  out blocked jsonb)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  p record;
  page record;
begin
  select * into strict p from svc.month_partition m where m.name = partition_name for update;
  if p.detached_at is not null then
    step := 'detached';
    rows_done := p.row_count;
    return;
  end if;
  if p.detach_step is null then
    if exists (select from svc.month_partition e where e.parent = p.parent and e.detached_at is null and e.starts < p.starts) then
      step := 'not-oldest';
      return;
    end if;
    if p.ends > now() then
      step := 'not-over';
      return;
    end if;
    blocked := svc.month_blocked(p.name);
    if blocked is not null then
      step := 'blocked';
      return;
    end if;
    p.previous_sha256 := (select e.sha256 from svc.month_partition e
      where e.parent = p.parent and e.detached_at is not null order by e.ends desc limit 1);
    p.running_sha256 := coalesce(decode(p.previous_sha256, 'hex'), '');
    -- Whoever empties bodies of this month has ended, and sees from now on that it leaves.
    perform pg_advisory_xact_lock(hashtextextended('commit bodies', 0));
    p.detach_step := 'hash';
    p.detached_by := by;
    p.rows_done := 0;
    p.at_tenant := '00000000-0000-0000-0000-000000000000';
    p.at_number := 0;
  elsif p.detach_step = 'hash' then
    select * into page from svc.hash_page(p.name, most, p.at_tenant, p.at_number, p.running_sha256);
    if page.row_count = 0 then
      p.detach_step := case p.parent when 'audit_log' then 'remove' else 'detach' end;
      p.at_tenant := '00000000-0000-0000-0000-000000000000';
      p.at_number := 0;
      if p.parent = 'audit_log' then p.rows_done := 0; end if;
    else
      p.rows_done := p.rows_done + page.row_count;
      p.at_tenant := page.tenant;
      p.at_number := page.number;
      p.running_sha256 := page.running;
    end if;
  elsif p.detach_step = 'remove' then
    select * into page from svc.remove_written(p.name, most, p.at_tenant, p.at_number);
    if page.is_held then
      select jsonb_agg(to_jsonb(t)) into blocked from svc.month_tenants(p.name) t where t.holds > 0;
      step := 'blocked';
      rows_done := p.rows_done;
      return;
    end if;
    if page.row_count = 0 then
      p.detach_step := 'detach';
    else
      p.rows_done := p.rows_done + page.row_count;
      p.at_tenant := page.tenant;
      p.at_number := page.number;
    end if;
  end if;
  step := p.detach_step;
  rows_done := p.rows_done;
  update svc.month_partition m set detach_step = p.detach_step, at_tenant = p.at_tenant, at_number = p.at_number,
      rows_done = p.rows_done, running_sha256 = p.running_sha256, previous_sha256 = p.previous_sha256, detached_by = p.detached_by
    where m.name = p.name;
end $$;

-- Detaches a month whose rows are hashed. Rows that came meanwhile begin it anew; a hold or setting that was changed
-- stops it. The parent is locked for the catalog's change alone, after the month was counted.
create or replace function svc.detach_month(partition_name text, out step text, out blocked jsonb, out tenants jsonb)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  p record;
  counted bigint;
begin
  select * into strict p from svc.month_partition m where m.name = partition_name for update;
  if p.detached_at is not null or p.detach_step is distinct from 'detach' then
    step := 'changed';
    return;
  end if;
  execute format('lock table svc.%I in share mode', p.name);
  perform svc.lock_holds(t.tenant_id) from svc.month_tenants(p.name) t;
  blocked := svc.month_blocked(p.name);
  select coalesce(sum(t.row_count), 0), coalesce(jsonb_agg(to_jsonb(t)), '[]')
    into counted, tenants from svc.month_tenants(p.name) t;
  if blocked is not null or counted <> p.rows_done then
    update svc.month_partition m set detach_step = null, rows_done = null where m.name = p.name;
    step := case when blocked is null then 'changed' else 'blocked' end;
    return;
  end if;
  execute format('alter table svc.%I detach partition svc.%I', p.parent, p.name);
  -- The triggers of each row went with the parent.
  if p.parent = 'audit_log' then
    execute format('create trigger append_only before update on svc.%I
      for each row execute function svc.refuse_all_but_removal_of_body()', p.name);
  end if;
  update svc.month_partition m set detached_at = now(), detach_step = null, row_count = counted,
      sha256 = encode(p.running_sha256, 'hex')
    where m.name = p.name;
  step := 'detached';
end $$;

revoke all on function svc.monthly, svc.keep_months, svc.audit_since, svc.month_sha256, svc.month_tenants, svc.hash_page,
  svc.unproven_tenants, svc.month_blocked, svc.remove_written, svc.forget_commits, svc.detach_page, svc.detach_month from public;
grant execute on function svc.keep_months, svc.month_tenants, svc.month_blocked, svc.hash_page, svc.detach_page, svc.detach_month to svc_admin;
grant execute on function svc.audit_since, svc.month_sha256 to svc_tenant;
