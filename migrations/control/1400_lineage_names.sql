-- Which catalog's tables the datasets of a namespace are (docs/reference/lineage.md 4.4). As with catalog credentials,
-- only svc_admin writes the rows and the tenant reads them.
create table svc.dataset_namespace (
  tenant_id uuid not null references svc.tenant,
  namespace text not null check (namespace <> ''),
  -- The first level of a name, where only datasets whose name begins with it are meant; else ''.
  first_level text not null default '',
  catalog text not null check (catalog ~ '^[a-zA-Z0-9_-]+$'),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, namespace, first_level)
);
alter table svc.dataset_namespace enable row level security, force row level security;
create policy own_tenant on svc.dataset_namespace using (tenant_id = svc.current_tenant());
create policy administration on svc.dataset_namespace to svc_admin using (true);
grant select on svc.dataset_namespace to svc_tenant;
grant select, insert, update, delete on svc.dataset_namespace to svc_admin;

-- They have other parameters now.
drop function if exists svc.lineage_path(ag_catalog.graphid[], ag_catalog.graphid[], int);
drop function if exists svc.lineage_reached(ag_catalog.graphid, ag_catalog.graphid[], int);
drop function if exists svc.merge_lineage(jsonb);
drop function if exists svc.receive_lineage(jsonb, bytea, boolean);
