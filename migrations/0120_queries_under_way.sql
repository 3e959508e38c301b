-- Queries whose rows leave before they end: each has its usage record here, as it would be if its process died,
-- until the record itself is written. What outlives its lease belongs to a process that is gone.

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

alter table svc.query_under_way enable row level security;
alter table svc.query_under_way force row level security;
create policy own_tenant on svc.query_under_way using (tenant_id = svc.current_tenant());
create policy administration on svc.query_under_way to svc_admin using (true);

grant select, insert, delete on svc.query_under_way to svc_tenant;
-- Whose queries the sweep has to close.
grant select (tenant_id, lease_until) on svc.query_under_way to svc_admin;
