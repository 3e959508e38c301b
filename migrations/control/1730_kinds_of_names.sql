-- A table and a view may carry one uuid, because clients choose them: each has a name of its own. What is stored does not
-- say which it is, so a name that no territory shows to be a table's is kept as both. A first name that is not there
-- gives way.
alter table svc.table_name add column kind text not null default 'table' check (kind in ('table', 'view')),
  drop constraint table_name_pkey,
  add primary key (tenant_id, kind, table_uuid, catalog_md5);
alter table svc.table_name no force row level security;
alter table svc.territory no force row level security;
insert into svc.table_name (tenant_id, kind, table_uuid, catalog, table_id, namespace, table_name, since)
  select n.tenant_id, 'view', n.table_uuid, n.catalog, n.table_id, n.namespace, n.table_name, n.since
  from svc.table_name n
  where not exists (select from svc.territory t
    where t.tenant_id = n.tenant_id and t.table_id = n.table_id and t.catalog = n.catalog and t.table_uuid = n.table_uuid);
alter table svc.table_name force row level security;
alter table svc.territory force row level security;
