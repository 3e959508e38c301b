-- One tenant's schema and graph: labels, indexes, policies, rights. Runs as svc_owner with app.tenant_id set.
-- {{schema}}, {{graph}} and {{tenant}} stand for the tenant's names.
--
-- A row-level policy compares a constant of the graph, so it costs one comparison a query, not one a row. Writes
-- check the row's tenant_id as well.
create schema {{schema}};
grant usage on schema {{schema}} to svc_tenant;

select ag_catalog.create_graph('{{graph}}');

do $$
declare
  vertices constant text[] := array['Contract', 'ContractVersion', 'Catalog', 'Namespace', 'Table', 'Column', 'Snapshot',
    'Branch', 'Policy', 'RetentionPolicy', 'RowFilter', 'ColumnMask', 'Tag', 'Classification', 'Attestation',
    'GlossaryTerm', 'Metric', 'Principal', 'Role', 'Dataset', 'Job', 'PinEvent', 'QualityCheck'];
  edges constant text[] := array['GOVERNS', 'VERSION_OF', 'IN_NAMESPACE', 'IN_CATALOG', 'HAS_COLUMN', 'PARENT_OF',
    'HAS_BRANCH', 'POINTS_AT', 'SCHEMA_GOVERNS', 'WRITE_GOVERNS', 'RETAINS', 'FILTERS', 'MASKS', 'APPLIES_TO', 'TAGGED',
    'CLASSIFIED_AS', 'EVIDENCED_BY', 'ATTESTS', 'MEANS', 'COMPUTED_OVER', 'DEFINES', 'HAS_ROLE', 'INTENDED_WRITE',
    'ACTUAL_WRITE', 'LINEAGE_OF', 'STORED_AS', 'PRODUCED_BY', 'PINS', 'CHECKS'];
  label text;
begin
  foreach label in array vertices loop
    perform ag_catalog.create_vlabel('{{graph}}', label::cstring);
  end loop;
  foreach label in array edges loop
    perform ag_catalog.create_elabel('{{graph}}', label::cstring);
    -- AGE 1.8 makes these itself, under these names.
    execute format('create index if not exists %I on {{graph}}.%I (start_id)', label || '_start_id_idx', label);
    execute format('create index if not exists %I on {{graph}}.%I (end_id)', label || '_end_id_idx', label);
  end loop;
  foreach label in array vertices || edges || array['_ag_label_vertex', '_ag_label_edge'] loop
    execute format('create unique index %I on {{graph}}.%I
      (ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]))', label || '_key', label);
    execute format('alter table {{graph}}.%I enable row level security, force row level security', label);
    execute format('create policy own_tenant on {{graph}}.%I
      using (''{{tenant}}'' = nullif(current_setting(''app.tenant_id'', true), ''''))
      with check (''{{tenant}}'' = nullif(current_setting(''app.tenant_id'', true), '''')
        and ag_catalog.agtype_access_operator(variadic array[properties, ''"tenant_id"''::ag_catalog.agtype]) = ''"{{tenant}}"''::ag_catalog.agtype
        and ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) is not null)', label);
  end loop;
end $$;

-- Finds the nodes of a parent snapshot.
create index "Snapshot_snapshot_key" on {{graph}}."Snapshot"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"snapshot_key"'::ag_catalog.agtype]));
-- Finds the columns that a table no longer has. Their masks and tags stay, because older snapshots still hold their
-- values. A column names its table from its next commit, mask or tag on.
create index "Column_table_id" on {{graph}}."Column"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"table_id"'::ag_catalog.agtype]));
-- Finds the datasets of a table.
create index "Dataset_table_id" on {{graph}}."Dataset"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"table_id"'::ag_catalog.agtype]));
-- The sweep for cycles and the pages of the lineage graph go by edge.
create unique index "LINEAGE_OF_id" on {{graph}}."LINEAGE_OF" (id);

grant usage on schema {{graph}} to svc_tenant;
grant select, insert, update, delete on all tables in schema {{graph}} to svc_tenant;
grant usage on all sequences in schema {{graph}} to svc_tenant;

-- Pins are events that nobody changes. The trigger fires for each row, because a statement on the labels' parent
-- table would not fire a statement's trigger here.
do $$
declare
  label text;
begin
  foreach label in array array['PinEvent', 'PINS'] loop
    execute format('revoke delete, truncate on {{graph}}.%I from svc_tenant', label);
    execute format('create trigger append_only before update or delete on {{graph}}.%I
      for each row execute function svc.refuse_change()', label);
    execute format('create trigger append_only_whole before truncate on {{graph}}.%I
      for each statement execute function svc.refuse_change()', label);
  end loop;
end $$;

-- AGE 1.8 counts the statements on every label by a trigger, for the cache of its variable-length paths. Those paths
-- ignore row-level security, so this service never asks for them, and the count would only make each verdict slower.
-- Past 128 graphs a server AGE gives the count up, with a warning at each statement. Anyone who asks for such paths
-- by hand opens a new session for it, or writes a query of labels and fixed length.
do $$
declare
  label regclass;
begin
  for label in select g.tgrelid from pg_trigger g join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = '{{graph}}'::regnamespace and g.tgname = '_age_cache_invalidate'
  loop
    execute format('alter table %s disable trigger _age_cache_invalidate', label);
  end loop;
end $$;
