-- Operations of GraphQL that a tenant has stored, and whether its machine clients may send others.

create table svc.graphql_operation (
  tenant_id uuid not null references svc.tenant,
  -- Of the document.
  sha256 bytea not null check (octet_length(sha256) = 32),
  document text not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, sha256)
);

create table svc.graphql_setting (
  tenant_id uuid primary key references svc.tenant,
  -- Whether service sessions may send stored operations only.
  stored_only boolean not null
);

do $$
declare
  name text;
begin
  foreach name in array array['graphql_operation', 'graphql_setting'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
  end loop;
end $$;
grant delete on svc.graphql_operation to svc_tenant;
grant update on svc.graphql_setting to svc_tenant;
