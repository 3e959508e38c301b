-- Tables and namespaces in a tenant's graph whose names have capitals, by their name in lower case. A catalog that folds
-- names has one table for both: what is bound to any spelling governs it. A trigger of the labels writes the rows.
create table svc.spelling (
  tenant_id uuid not null references svc.tenant,
  folded text not null,
  id text not null,
  primary key (tenant_id, folded, id)
);
alter table svc.spelling enable row level security, force row level security;
create policy own_tenant on svc.spelling using (tenant_id = svc.current_tenant());
grant select, insert on svc.spelling to svc_tenant;
