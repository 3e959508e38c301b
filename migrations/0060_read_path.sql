-- Usage of the read path, changes of what governs reading, and the tenant's settings of it. Append-only but
-- for the settings, whose changes are recorded.

create table svc.query_usage (
  tenant_id uuid not null references svc.tenant,
  usage_seq bigint generated always as identity,
  query_id uuid not null,
  started_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  principal_sub text not null check (principal_sub <> ''),
  principal_source text not null,
  surface text not null,
  -- Null where the client named none that could be one.
  catalog text,
  -- Null where the query ended before an engine was chosen.
  engine text,
  contracts jsonb not null,
  reads jsonb not null,
  policies jsonb not null,
  rows_out bigint not null check (rows_out >= 0),
  bytes_out bigint not null check (bytes_out >= 0),
  bytes_scanned bigint check (bytes_scanned >= 0),
  queue_ms double precision not null,
  plan_ms double precision not null,
  run_ms double precision not null,
  outcome text not null check (outcome in ('completed', 'refused', 'failed', 'cancelled')),
  sqlstate text check ((outcome = 'completed') = (sqlstate is null)),
  fingerprint text,
  primary key (tenant_id, query_id)
);
create unique index query_usage_seq on svc.query_usage (tenant_id, usage_seq desc);
-- A subject may be longer than an index entry.
create index query_usage_principal on svc.query_usage (tenant_id, md5(principal_sub), usage_seq desc);
create index query_usage_started on svc.query_usage (tenant_id, started_at);

create table svc.contract_change (
  tenant_id uuid not null references svc.tenant,
  change_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  actor_sub text not null check (actor_sub <> ''),
  action text not null,
  -- What was changed: a table, column, tag, policy id or setting, by name.
  subject jsonb not null,
  -- What was put there; null where it was removed.
  value jsonb,
  primary key (tenant_id, change_seq)
);

create table svc.read_setting (
  tenant_id uuid primary key references svc.tenant,
  readable_without_contract boolean not null
);

do $$
declare
  t text;
begin
  foreach t in array array['query_usage', 'contract_change', 'read_setting'] loop
    execute format('alter table svc.%I enable row level security', t);
    execute format('alter table svc.%I force row level security', t);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', t);
  end loop;
  foreach t in array array['query_usage', 'contract_change'] loop
    execute format('create trigger append_only before update or delete or truncate on svc.%I
      for each statement execute function svc.refuse_change()', t);
  end loop;
end $$;

grant select, insert on svc.query_usage, svc.contract_change to svc_tenant;
grant select, insert, update on svc.read_setting to svc_tenant;
