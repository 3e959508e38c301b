-- Usage records by the month in which their queries started (UTC), so that a month can be detached whole. What was there
-- before stays one partition, up to the end of the month in which it is attached.
--
-- A record's key holds its start, because a key of a partitioned table must. A query has one start, so its id is still
-- given once. Rights and policies are those of the parent; nobody is granted a partition. No policy is forced on the
-- partitions, so that their owner can count them.

-- The partitions: what each holds, and of one that was detached, what is left of it.
create table svc.month_partition (
  name text primary key,
  parent text not null,
  -- Where a partition holds what came before, it begins at '-infinity'.
  starts timestamptz not null,
  ends timestamptz not null,
  detached_at timestamptz,
  row_count bigint,
  sha256 text,
  dropped_at timestamptz,
  check ((detached_at is null) = (row_count is null) and (detached_at is null) = (sha256 is null))
);
alter table svc.month_partition enable row level security, force row level security;
create policy administration on svc.month_partition to svc_admin using (true);
create policy upkeep on svc.month_partition to svc_owner using (true) with check (true);
grant select on svc.month_partition to svc_admin;

do $$
declare
  last_number bigint := pg_sequence_last_value(pg_get_serial_sequence('svc.query_usage', 'usage_seq')::regclass);
  this_month timestamptz := date_trunc('month', now(), 'UTC');
  first timestamptz := this_month;
  is_empty boolean;
  month timestamptz;
  next_month timestamptz;
  name text;
begin
  alter table svc.query_usage no force row level security;
  is_empty := not exists (select from svc.query_usage);
  alter table svc.query_usage rename to query_usage_before;
  alter table svc.query_usage_before alter column usage_seq drop identity, drop constraint query_usage_pkey;
  drop index svc.query_usage_seq;
  alter index svc.query_usage_principal rename to query_usage_before_principal;
  alter index svc.query_usage_started rename to query_usage_before_started;
  alter index svc.query_usage_mcp rename to query_usage_before_mcp;

  create sequence svc.query_usage_number;
  if last_number is not null then perform setval('svc.query_usage_number', last_number); end if;
  grant usage on sequence svc.query_usage_number to svc_tenant;
  create table svc.query_usage (
    like svc.query_usage_before including defaults including constraints,
    primary key (tenant_id, query_id, started_at),
    foreign key (tenant_id) references svc.tenant
  ) partition by range (started_at);
  alter table svc.query_usage alter column usage_seq set default nextval('svc.query_usage_number');
  create index query_usage_seq on svc.query_usage (tenant_id, usage_seq desc);
  create index query_usage_principal on svc.query_usage (tenant_id, md5(principal_sub), usage_seq desc);
  create index query_usage_started on svc.query_usage (tenant_id, started_at);
  create index query_usage_mcp on svc.query_usage (tenant_id, md5(principal_sub), started_at) where surface = 'mcp';
  create trigger append_only before update or delete or truncate on svc.query_usage
    for each statement execute function svc.refuse_change();
  alter table svc.query_usage enable row level security, force row level security;
  create policy own_tenant on svc.query_usage using (tenant_id = svc.current_tenant());
  grant select, insert on svc.query_usage to svc_tenant;

  -- For queries that a clock put into a month that no partition has.
  create table svc.query_usage_other partition of svc.query_usage default;
  alter table svc.query_usage_other enable row level security;
  create trigger append_only before update or delete or truncate on svc.query_usage_other
    for each statement execute function svc.refuse_change();
  if is_empty then
    drop table svc.query_usage_before;
  else
    revoke all on svc.query_usage_before from svc_tenant;
    drop policy own_tenant on svc.query_usage_before;
    -- Records of a clock that is ahead stay with the others.
    first := (date_trunc('month', greatest(now(), (select max(b.started_at) from svc.query_usage_before b)) at time zone 'UTC')
      + interval '1 month') at time zone 'UTC';
    execute format('alter table svc.query_usage attach partition svc.query_usage_before for values from (minvalue) to (%L)', first);
    insert into svc.month_partition (name, parent, starts, ends) values ('query_usage_before', 'query_usage', '-infinity', first);
  end if;
  for i in 0..3 loop
    month := (this_month at time zone 'UTC' + i * interval '1 month') at time zone 'UTC';
    next_month := (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    continue when month < first;
    name := 'query_usage_' || to_char(month at time zone 'UTC', 'YYYY_MM');
    execute format('create table svc.%I partition of svc.query_usage for values from (%L) to (%L)', name, month, next_month);
    execute format('alter table svc.%I enable row level security', name);
    execute format('create trigger append_only before update or delete or truncate on svc.%I
      for each statement execute function svc.refuse_change()', name);
    insert into svc.month_partition (name, parent, starts, ends) values (name, 'query_usage', month, next_month);
  end loop;
end $$;
