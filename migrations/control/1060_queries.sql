-- Usage of the read path: the records of queries that ended, and the queries in progress.

-- Append-only.
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
create trigger append_only before update or delete or truncate on svc.query_usage
  for each statement execute function svc.refuse_change();
alter table svc.query_usage enable row level security, force row level security;
create policy own_tenant on svc.query_usage using (tenant_id = svc.current_tenant());
grant select, insert on svc.query_usage to svc_tenant;

-- Queries whose rows leave before they end. A row holds the usage record that the query gets if its process dies;
-- the record of its end removes it. A row that outlives its lease belongs to a process that is gone.
create table svc.query_under_way (
  tenant_id uuid not null references svc.tenant,
  query_id uuid not null,
  -- By the database's clock.
  lease_until timestamptz not null,
  -- Columns of svc.query_usage.
  usage jsonb not null,
  primary key (tenant_id, query_id)
);
create index query_under_way_lease on svc.query_under_way (lease_until);
alter table svc.query_under_way enable row level security, force row level security;
create policy own_tenant on svc.query_under_way using (tenant_id = svc.current_tenant());
create policy administration on svc.query_under_way to svc_admin using (true);
grant select, insert, delete on svc.query_under_way to svc_tenant;
-- By it the sweep finds the tenants whose queries it has to close.
grant select (tenant_id, lease_until) on svc.query_under_way to svc_admin;
