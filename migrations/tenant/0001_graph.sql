-- One tenant's schema and graph. Runs as svc_owner with app.tenant_id set; {{schema}}, {{graph}} and
-- {{tenant}} stand for its names. A policy is constant for a graph: it costs one comparison a query,
-- not one a row; writes check the row's tenant_id as well.
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

grant usage on schema {{graph}} to svc_tenant;
grant select, insert, update, delete on all tables in schema {{graph}} to svc_tenant;
grant usage on all sequences in schema {{graph}} to svc_tenant;

-- The tenant sentinel: a policy of each kind on a table that cannot exist (its name is empty). Loading a
-- table's policies loads these by the same path; a load without them is no verdict.
do $$
declare
  shelf ag_catalog.graphid := svc.ensure_node('Table', '', '{"sentinel": true}');
begin
  perform svc.ensure_edge('SCHEMA_GOVERNS', '', svc.ensure_node('Policy', '', '{"sentinel": true}'), shelf, '{}');
  perform svc.ensure_edge('WRITE_GOVERNS', '', svc.ensure_node('Policy', '', '{"sentinel": true}'), shelf, '{}');
  perform svc.ensure_edge('RETAINS', '', svc.ensure_node('RetentionPolicy', '', '{"sentinel": true}'), shelf, '{}');
end $$;
