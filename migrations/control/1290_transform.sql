-- The writer-side transform (docs/transform.md): what is done to columns and tags before writing, a tenant's key, and
-- the versions of the scopes below it.

create table svc.transform_rule (
  tenant_id uuid not null references svc.tenant,
  -- A tag; or a table's id and the field id of a column.
  tag text check (tag <> ''),
  table_id text,
  field_id bigint,
  -- The table as it was named when the rule was saved.
  table_ref jsonb,
  definition jsonb not null,
  at timestamptz not null default clock_timestamp(),
  check ((tag is null) = (table_id is not null and field_id is not null)),
  unique nulls not distinct (tenant_id, tag, table_id, field_id)
);
create index transform_rule_table on svc.transform_rule (tenant_id, table_id);

create table svc.transform_tenant_key (
  tenant_id uuid primary key references svc.tenant,
  -- Who wrapped it: the secrets key of the service, or a key of a key management service.
  provider text not null check (provider <> ''),
  wrapped bytea not null,
  at timestamptz not null default clock_timestamp()
);

-- A scope without a row is at version 1.
create table svc.transform_scope_version (
  tenant_id uuid not null references svc.tenant,
  scope text not null check (scope <> ''),
  version int not null check (version > 0),
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, scope, version)
);

do $$
declare
  name text;
begin
  foreach name in array array['transform_rule', 'transform_tenant_key', 'transform_scope_version'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
  end loop;
end $$;
grant update, delete on svc.transform_rule to svc_tenant;
