-- The name under which each table of a catalog was first seen, by its uuid. A table that answers to another name, too, is
-- governed under the first one alone, so the other one is refused (docs/reference/gateway.md 2.13).
create table svc.table_name (
  tenant_id uuid not null references svc.tenant,
  table_uuid text not null,
  catalog text not null,
  catalog_md5 text not null generated always as (md5(catalog)) stored,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  since timestamptz not null default clock_timestamp(),
  primary key (tenant_id, table_uuid, catalog_md5)
);
create index table_name_of on svc.table_name (tenant_id, table_id);
alter table svc.table_name enable row level security, force row level security;
create policy own_tenant on svc.table_name using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.table_name to svc_tenant;
