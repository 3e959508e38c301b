-- Totals of usage records: added up by hour and day, and read.

-- Stands for a text of any length in a key.
create or replace function svc.usage_digest(of text) returns uuid
  language sql immutable parallel safe
  return encode(substr(sha256(convert_to(of, 'UTF8')), 1, 16), 'hex')::uuid;

-- The keys of a record in each facet. A query of several tables or contracts is in the group of each.
create or replace function svc.usage_keys(facet text, principal_sub text, reads jsonb, contracts jsonb) returns setof text
language sql immutable parallel safe as $$
  select principal_sub where facet = 'principal'
  union all
  select '' where facet = 'query'
  union
  select (select string_agg(level, '.' order by place)
      from jsonb_array_elements_text(r -> 'namespace') with ordinality n (level, place)) || '.' || (r ->> 'name')
    from jsonb_array_elements(reads) r where facet = 'table'
  union
  select (c ->> 'id') || ' ' || (c ->> 'version') from jsonb_array_elements(contracts) c where facet = 'contract'
$$;

-- Adds at most `most` new records to the totals. It is safe to repeat: the same transaction says how far it came.
create or replace function svc.roll_usage(most int, out rolled_now int)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  s svc.usage_rolled;
  seen bigint;
  upto bigint;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  rolled_now := 0;
  -- Before this transaction draws an id.
  select u.usage_seq into seen from svc.query_usage u where u.tenant_id = tenant order by u.usage_seq desc limit 1;
  if seen is null then return; end if;
  select * into s from svc.usage_rolled r where r.tenant_id = tenant;
  if not found then
    insert into svc.usage_rolled (tenant_id, rolled, newest, newest_xid) values (tenant, 0, seen, pg_current_xact_id())
      on conflict (tenant_id) do nothing;
    return;
  end if;
  if s.rolled >= seen then return; end if;
  select * into strict s from svc.usage_rolled r where r.tenant_id = tenant for update;

  -- A number beyond this transaction's is of another server, from which the rows were copied.
  if s.rolled < s.newest
      and (pg_snapshot_xmin(pg_current_snapshot()) >= s.newest_xid or s.newest_xid > pg_current_xact_id()) then
    with record as materialized (
      select u.usage_seq, u.started_at, u.outcome, u.principal_sub, u.reads, u.contracts, u.rows_out, u.bytes_out,
        coalesce(u.bytes_scanned, 0) as bytes_scanned, u.run_ms
      from svc.query_usage u
      where u.tenant_id = tenant and u.usage_seq > s.rolled and u.usage_seq <= s.newest
      order by u.usage_seq limit most),
    counted as (
      select r.*, g.facet, w.whose, k.key
      from record r
        cross join lateral unnest(array['query', 'principal', 'table', 'contract']) g (facet)
        cross join lateral svc.usage_keys(g.facet, r.principal_sub, r.reads, r.contracts) k (key)
        cross join lateral unnest(case when g.facet = 'principal' then array[''] else array['', r.principal_sub] end) w (whose)
      where k.key is not null),
    added as (
      insert into svc.usage_total as t (tenant_id, grain, facet, scope, starts_at, outcome, key_digest, key, queries,
          rows_out, bytes_out, bytes_scanned, run_ms)
        select tenant, i.grain, c.facet, svc.usage_digest(c.whose), date_trunc(i.grain, c.started_at, 'UTC'), c.outcome,
          svc.usage_digest(c.key), c.key, count(*), sum(c.rows_out), sum(c.bytes_out), sum(c.bytes_scanned), sum(c.run_ms)
        from counted c cross join (values ('hour'), ('day')) i (grain)
        group by i.grain, c.facet, c.whose, date_trunc(i.grain, c.started_at, 'UTC'), c.outcome, c.key
      on conflict (tenant_id, grain, facet, scope, starts_at, outcome, key_digest) do update
        set queries = t.queries + excluded.queries, rows_out = t.rows_out + excluded.rows_out,
          bytes_out = t.bytes_out + excluded.bytes_out, bytes_scanned = t.bytes_scanned + excluded.bytes_scanned,
          run_ms = t.run_ms + excluded.run_ms)
    select count(*), max(r.usage_seq) into rolled_now, upto from record r;
    s.rolled := case when rolled_now < most then s.newest else upto end;
  end if;
  if s.rolled >= s.newest then
    s.newest := seen;
    s.newest_xid := pg_current_xact_id();
  end if;
  update svc.usage_rolled r set rolled = s.rolled, newest = s.newest, newest_xid = s.newest_xid where r.tenant_id = tenant;
end $$;

-- Totals by key, in the order of their keys. They are read from the totals of whole days and hours, from the records of
-- parts of an hour at either end, and from the records that no total has yet. One snapshot sees them all, because the
-- function is stable: so no record is counted twice or left out.
create or replace function svc.total_usage(by text, principal text, wanted text, first timestamptz, until timestamptz,
  after text, most int)
  returns table (key text, queries numeric, rows_out numeric, bytes_out numeric, bytes_scanned numeric, run_ms float8)
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  tenant uuid := svc.current_tenant();
  kind text := case when by in ('outcome', 'day') or by = 'principal' and principal is not null then 'query' else by end;
  whose uuid := svc.usage_digest(coalesce(principal, ''));
  rolled bigint;
  from_hour timestamptz := coalesce(date_trunc('hour', $4 + interval '1 hour' - interval '1 microsecond', 'UTC'), '-infinity');
  to_hour timestamptz := coalesce(date_trunc('hour', $5, 'UTC'), 'infinity');
  from_day timestamptz;
  to_day timestamptz;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  select r.rolled into rolled from svc.usage_rolled r where r.tenant_id = tenant;
  rolled := coalesce(rolled, 0);
  -- Within one hour: all of it is a part of an hour.
  if from_hour > to_hour then
    from_hour := coalesce($5, 'infinity');
    to_hour := from_hour;
  end if;
  from_day := least(date_trunc('day', from_hour + interval '1 day' - interval '1 microsecond', 'UTC'), to_hour);
  to_day := greatest(date_trunc('day', to_hour, 'UTC'), from_day);
  return query
    with span (grain, starts, ends) as (values
      ('day', from_day, to_day), ('hour', from_hour, from_day), ('hour', to_day, to_hour)),
    part (starts, ends) as (values (coalesce($4, '-infinity'), from_hour), (to_hour, coalesce($5, 'infinity'))),
    counted as (
      select case by when 'day' then to_char(t.starts_at at time zone 'UTC', 'YYYY-MM-DD') when 'outcome' then t.outcome
          when 'principal' then case when kind = 'query' then principal else t.key end else t.key end as key,
        t.queries, t.rows_out, t.bytes_out, t.bytes_scanned, t.run_ms
      from span s join svc.usage_total t on t.grain = s.grain and t.starts_at >= s.starts and t.starts_at < s.ends
      where s.starts < s.ends and t.tenant_id = tenant and t.facet = kind and t.scope = whose
        and ($3 is null or t.outcome = $3)
      union all
      select k.key, k.queries, u.rows_out, u.bytes_out, u.bytes_scanned, u.run_ms
      from (
        select u.* from svc.query_usage u
          where u.tenant_id = tenant and u.usage_seq > rolled
            and u.started_at >= coalesce($4, '-infinity') and u.started_at < coalesce($5, 'infinity')
        union all
        select u.* from part p join svc.query_usage u on u.started_at >= p.starts and u.started_at < p.ends
          where p.starts < p.ends and u.tenant_id = tenant and u.usage_seq <= rolled) u
        cross join lateral (
          select case by when 'day' then to_char(u.started_at at time zone 'UTC', 'YYYY-MM-DD') when 'outcome' then u.outcome
              else keys.key end as key, 1 as queries
          from svc.usage_keys(case when by in ('day', 'outcome') then 'query' else by end, u.principal_sub, u.reads,
            u.contracts) keys (key)) k
      where (principal is null or u.principal_sub = principal) and ($3 is null or u.outcome = $3))
    select c.key, sum(c.queries), sum(c.rows_out), sum(c.bytes_out), coalesce(sum(c.bytes_scanned), 0), sum(c.run_ms)
    from counted c where c.key is not null and ($6 is null or c.key collate "C" > $6)
    group by c.key order by c.key collate "C" limit $7;
end $$;

revoke all on function svc.usage_digest, svc.usage_keys, svc.roll_usage, svc.total_usage from public;
grant execute on function svc.usage_digest, svc.usage_keys, svc.roll_usage, svc.total_usage to svc_tenant;
