-- Check runs: the measurement of one snapshot of one table in steps, for a version of a contract. Kinds of run share
-- these tables: the quality rules of a contract, and the comparison of two engines or sources.

create table svc.check_run (
  tenant_id uuid not null references svc.tenant,
  run_id uuid not null default gen_random_uuid(),
  run_seq bigint generated always as identity,
  kind text not null check (kind in ('quality', 'reconciliation')),
  contract_id text not null,
  number int not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  -- Nickname of the catalog credential.
  catalog text not null,
  -- Null: the table had no snapshot.
  snapshot_id bigint,
  -- The table's snapshot when the run was requested, where another one is measured.
  current_snapshot_id bigint,
  cause text not null check (cause in ('deploy', 'request', 'schedule', 'commit')),
  -- One run at most has a given key; null: each request makes a run.
  once_key text,
  -- What the kind needs besides; holds no data.
  input jsonb not null,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  requested_at timestamptz not null default clock_timestamp(),
  requested_by jsonb not null,
  due_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Milliseconds of all attempts; a resumed run goes on counting.
  spent_ms double precision not null default 0,
  lease_id uuid,
  lease_until timestamptz,
  tries int not null default 0,
  cancel_requested boolean not null default false,
  -- Keys of the steps that are done; a resumed run leaves them out.
  done jsonb not null default '[]',
  steps int,
  rows_read bigint not null default 0,
  bytes_read bigint not null default 0,
  -- Why it ended in error; holds no data.
  reason text not null default '',
  -- Set once a breach was reported, or where there was none.
  reported_at timestamptz,
  primary key (tenant_id, run_id)
);
create unique index check_run_seq on svc.check_run (tenant_id, run_seq desc);
create unique index check_run_once on svc.check_run (tenant_id, kind, table_id, md5(once_key)) where once_key is not null;
-- One run of a table at a time.
create unique index check_run_alone on svc.check_run (tenant_id, table_id) where state = 'running';
create index check_run_due on svc.check_run (due_at) where state in ('queued', 'running');
create index check_run_report on svc.check_run (finished_at) where finished_at is not null and reported_at is null;
create index check_run_version on svc.check_run (tenant_id, contract_id, number) where cause = 'deploy';
create index check_run_table on svc.check_run (tenant_id, table_id, run_seq desc);

-- Append-only. Numbers only: a value of the data is never stored.
create table svc.check_result (
  tenant_id uuid not null references svc.tenant,
  result_seq bigint generated always as identity,
  run_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  step text not null,
  -- Names the check within the version, and compares runs.
  check_key text not null,
  -- What is measured: the column, or '' for the table.
  element text not null,
  metric text not null,
  severity text not null check (severity in ('info', 'warning', 'error')),
  outcome text not null check (outcome in ('passed', 'failed', 'warned', 'error', 'not_run')),
  -- A number or boolean in text form; null where nothing was measured.
  value text,
  unit text not null default '',
  -- Operator and threshold.
  expected jsonb,
  engine text,
  ms double precision,
  -- Field ids of the columns that were read; decides who may see the result.
  field_ids jsonb not null,
  -- Whether the author of the contract wrote the statement.
  custom boolean not null,
  -- Why there is no value: a SQLSTATE or a word of ours.
  reason text not null default '',
  -- Further numbers of the kind.
  detail jsonb,
  primary key (tenant_id, result_seq),
  foreign key (tenant_id, run_id) references svc.check_run (tenant_id, run_id)
);
create index check_result_run on svc.check_result (tenant_id, run_id, result_seq);
create trigger append_only before update or delete or truncate on svc.check_result
  for each statement execute function svc.refuse_change();

-- Until when each schedule of a contract's checks was looked at, and up to which audited commit.
create table svc.check_schedule (
  tenant_id uuid not null references svc.tenant,
  contract_id text not null,
  looked_at timestamptz not null,
  audit_seq bigint not null,
  primary key (tenant_id, contract_id)
);

do $$
declare
  name text;
begin
  foreach name in array array['check_run', 'check_result', 'check_schedule'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
  end loop;
end $$;
grant update (state, due_at, started_at, finished_at, spent_ms, lease_id, lease_until, tries, cancel_requested, done,
  steps, rows_read, bytes_read, reason, reported_at) on svc.check_run to svc_tenant;
grant update (looked_at, audit_seq) on svc.check_schedule to svc_tenant;
-- One query finds what is due of all tenants.
create policy administration on svc.check_run to svc_admin using (true);
grant select, update (state, started_at, lease_id, lease_until, tries) on svc.check_run to svc_admin;
