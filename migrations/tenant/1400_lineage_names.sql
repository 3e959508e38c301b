-- Which datasets are names of one table. A dataset that is the only name of its table needs no row.
create table {{schema}}.lineage_name (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  node ag_catalog.graphid primary key,
  -- The id of a governed table, or `dataset:` and the id of the dataset that a symlink names.
  table_key text not null,
  governed boolean not null,
  -- The mapping that says so: its namespace and first level, joined by U+001F.
  mapped_by text
);
create index lineage_name_table on {{schema}}.lineage_name (table_key, node);
alter table {{schema}}.lineage_name enable row level security, force row level security;
create policy own_tenant on {{schema}}.lineage_name
  using ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), ''));
grant select, insert, update, delete on {{schema}}.lineage_name to svc_tenant;

insert into {{schema}}.lineage_name (node, table_key, governed)
  select d.id, d.properties::text::jsonb ->> 'table_id', true from {{graph}}."Dataset" d
  where ag_catalog.agtype_access_operator(variadic array[d.properties, '"table_id"'::ag_catalog.agtype]) is not null;
