-- PostgreSQL databases with which tables of the lake are compared (docs/reconciliation.md). As with catalog credentials,
-- only svc_admin writes them and the tenant reads them.

create table svc.reconciliation_source (
  tenant_id uuid not null references svc.tenant,
  name text not null check (name ~ '^[a-zA-Z0-9_-]{1,255}$'),
  host text not null check (host <> ''),
  port int not null check (port between 1 and 65535),
  database_name text not null check (database_name <> ''),
  user_name text not null check (user_name <> ''),
  tls text not null check (tls in ('verify', 'off')),
  -- The password.
  sealed bytea not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, name)
);
alter table svc.reconciliation_source enable row level security, force row level security;
create policy own_tenant on svc.reconciliation_source using (tenant_id = svc.current_tenant());
create policy administration on svc.reconciliation_source to svc_admin using (true);
grant select on svc.reconciliation_source to svc_tenant;
grant select, insert, update, delete on svc.reconciliation_source to svc_admin;
