-- The audit log by the month in which its requests were received (UTC), so that a month can be detached whole. What was
-- there before stays one partition. The key of a row holds its time, because a key of a partitioned table must. An intent
-- has one time, so a commit is still recorded once.
--
-- Indexes ascend, because rows are added at their ends: a descending one stays half empty.

alter table svc.month_partition
  -- How far detaching has come: rows are hashed, then what the graph holds of them is removed.
  add column detach_step text check (detach_step in ('hash', 'remove', 'detach')),
  add column at_tenant uuid,
  add column at_number bigint,
  add column rows_done bigint,
  add column running_sha256 bytea,
  -- Of the month of the same table that was detached before, with which the hash begins.
  add column previous_sha256 text,
  -- The Actor.
  add column detached_by jsonb;

-- It takes a time.
drop function if exists svc.keep_months();

do $$
declare
  last_number bigint := pg_sequence_last_value(pg_get_serial_sequence('svc.audit_log', 'audit_seq')::regclass);
  this_month timestamptz := date_trunc('month', now(), 'UTC');
  first timestamptz := this_month;
  is_empty boolean;
  month timestamptz;
  next_month timestamptz;
  name text;
begin
  alter table svc.audit_log no force row level security;
  is_empty := not exists (select from svc.audit_log);
  alter table svc.audit_log rename to audit_log_before;
  alter table svc.audit_log_before alter column audit_seq drop identity, drop constraint audit_log_pkey;
  alter table svc.audit_log_before validate constraint audit_log_policies;
  drop trigger append_only on svc.audit_log_before;
  drop trigger append_only_whole on svc.audit_log_before;
  drop index svc.audit_log_seq, svc.audit_log_table, svc.audit_log_committer, svc.audit_log_denied;
  alter index svc.audit_log_time rename to audit_log_before_time;
  alter index svc.audit_log_request rename to audit_log_before_request;
  alter index svc.audit_log_refused rename to audit_log_before_refused;
  alter index svc.audit_log_refused_table rename to audit_log_before_refused_table;

  create sequence svc.audit_log_number;
  if last_number is not null then perform setval('svc.audit_log_number', last_number); end if;
  grant usage on sequence svc.audit_log_number to svc_tenant;
  create table svc.audit_log (
    like svc.audit_log_before including defaults including constraints including storage,
    constraint audit_log_pkey primary key (tenant_id, commit_id, received_at)
  ) partition by range (received_at);
  alter table svc.audit_log alter column audit_seq set default nextval('svc.audit_log_number');
  create index audit_log_seq on svc.audit_log (tenant_id, audit_seq);
  create index audit_log_table on svc.audit_log (tenant_id, table_id, audit_seq);
  create index audit_log_time on svc.audit_log (tenant_id, created_at);
  create index audit_log_request on svc.audit_log (tenant_id, request_id) where request_id is not null;
  create index audit_log_committer on svc.audit_log (tenant_id, md5(committer), audit_seq);
  create index audit_log_denied on svc.audit_log (tenant_id, audit_seq) where decision = 'REJECTED';
  create index audit_log_refused on svc.audit_log (tenant_id, created_at desc, commit_id desc) where decision = 'REJECTED';
  create index audit_log_refused_table on svc.audit_log (tenant_id, table_id, created_at desc, commit_id desc)
    where decision = 'REJECTED';
  -- Those of each row are on every partition; those of a statement concern the table that it names.
  create trigger append_only before update on svc.audit_log
    for each row execute function svc.refuse_all_but_removal_of_body();
  create trigger append_only_whole before delete or truncate on svc.audit_log
    for each statement execute function svc.refuse_change();
  alter table svc.audit_log enable row level security, force row level security;
  create policy own_tenant on svc.audit_log using (tenant_id = svc.current_tenant());
  grant select, insert on svc.audit_log to svc_tenant;

  -- For commits that a clock put into a month that no partition has.
  create table svc.audit_log_other partition of svc.audit_log default;
  alter table svc.audit_log_other enable row level security;
  create trigger append_only_whole before delete or truncate on svc.audit_log_other
    for each statement execute function svc.refuse_change();
  if is_empty then
    drop table svc.audit_log_before;
  else
    revoke all on svc.audit_log_before from svc_tenant;
    drop policy own_tenant on svc.audit_log_before;
    create trigger append_only_whole before delete or truncate on svc.audit_log_before
      for each statement execute function svc.refuse_change();
    -- Rows of a clock that is ahead stay with the others.
    first := (date_trunc('month', greatest(now(), (select max(b.received_at) from svc.audit_log_before b)) at time zone 'UTC')
      + interval '1 month') at time zone 'UTC';
    execute format('alter table svc.audit_log attach partition svc.audit_log_before for values from (minvalue) to (%L)', first);
    insert into svc.month_partition (name, parent, starts, ends) values ('audit_log_before', 'audit_log', '-infinity', first);
  end if;
  for i in 0..3 loop
    month := (this_month at time zone 'UTC' + i * interval '1 month') at time zone 'UTC';
    next_month := (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    continue when month < first;
    name := 'audit_log_' || to_char(month at time zone 'UTC', 'YYYY_MM');
    execute format('create table svc.%I partition of svc.audit_log for values from (%L) to (%L)', name, month, next_month);
    execute format('alter table svc.%I enable row level security', name);
    execute format('create trigger append_only_whole before delete or truncate on svc.%I
      for each statement execute function svc.refuse_change()', name);
    insert into svc.month_partition (name, parent, starts, ends) values (name, 'audit_log', month, next_month);
  end loop;
end $$;
