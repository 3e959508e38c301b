-- Names of tables that the gateway renamed: what is said of the old name is meant of the new one, until there is a new
-- table of the old name.
create table {{schema}}.lineage_renamed (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  old_key text primary key,
  new_key text not null,
  renamed_at timestamptz not null default clock_timestamp()
);
create index lineage_renamed_new on {{schema}}.lineage_renamed (new_key);
alter table {{schema}}.lineage_renamed enable row level security, force row level security;
create policy own_tenant on {{schema}}.lineage_renamed
  using ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), ''));
grant select, insert, update, delete on {{schema}}.lineage_renamed to svc_tenant;
