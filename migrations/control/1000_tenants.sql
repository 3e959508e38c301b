-- Tenants, who may enter the schema, and the graph of the health check.
--
-- Every file here runs as svc_owner. Each table with tenant data is under FORCE ROW LEVEL SECURITY keyed on
-- app.tenant_id. svc_admin has policies of its own, for what precedes a tenant or spans tenants.

grant usage on schema svc to svc_tenant, svc_admin;

create table svc.tenant (
  tenant_id uuid primary key,
  organization_id text unique check (organization_id ~ '^org_[A-Za-z0-9]+$'),
  name text not null check (name <> ''),
  state text not null default 'active' check (state in ('active', 'suspended')),
  created_at timestamptz not null default now()
);
-- Nothing rests on a tenant or session before it exists.
create constraint trigger governance_version after update of state on svc.tenant
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.tenant enable row level security, force row level security;
create policy own_tenant on svc.tenant using (tenant_id = svc.current_tenant());
create policy administration on svc.tenant to svc_admin using (true);
grant select on svc.tenant to svc_tenant;
grant select, update on svc.tenant to svc_admin;

-- The health check queries this graph. It stays empty.
select ag_catalog.create_graph('svc_health');
grant usage on schema svc_health to svc_tenant;
