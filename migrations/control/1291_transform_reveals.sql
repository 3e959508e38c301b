-- Who reads the values of protected columns through SQL (docs/reference/transform.md 8). The definition names roles and
-- what the values were protected by.

create table svc.transform_reveal (
  tenant_id uuid not null references svc.tenant,
  table_id text not null check (table_id <> ''),
  field_id bigint not null,
  -- The table as it was named when the rule was saved.
  table_ref jsonb not null,
  definition jsonb not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, table_id, field_id)
);
alter table svc.transform_reveal enable row level security, force row level security;
create policy own_tenant on svc.transform_reveal using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.transform_reveal to svc_tenant;

do $$
declare
  name text;
begin
  foreach name in array array['transform_reveal', 'transform_scope_version'] loop
    execute format('create constraint trigger governance_version after insert or update or delete on svc.%I
      deferrable initially deferred for each row execute function svc.raise_governance_version()', name);
  end loop;
end $$;
