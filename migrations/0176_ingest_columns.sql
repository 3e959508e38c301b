-- A table's columns are looked up one by one: a join over a graph that has not been analyzed yet, which an embedded
-- database never is, reads the columns of all tables.
create or replace function svc.ingest_table(v jsonb, described jsonb, digest text, table_node ag_catalog.graphid,
  snapshot_node ag_catalog.graphid) returns void
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  this_table text := v ->> 'table_id';
  received numeric := (v ->> 'received_at_ms')::numeric;
  columns jsonb := described -> 'columns';
  newest numeric;
  space jsonb;
  space_node ag_catalog.graphid;
  outer_node ag_catalog.graphid;
begin
  -- One transaction writes a table's edge, all levels above it and the row: where that is, they are.
  perform from svc.ingested_table g where g.tenant_id = tenant and g.table_id = this_table;
  if not found then
    for space in select * from jsonb_array_elements(described -> 'namespaces') loop
      space_node := svc.ensure_node('Namespace', space ->> 'id', jsonb_build_object('name', space ->> 'name'));
      if outer_node is not null then
        perform svc.ensure_edge('IN_NAMESPACE', 'namespace' || chr(31) || (space ->> 'id'), space_node, outer_node, '{}');
      end if;
      outer_node := space_node;
    end loop;
    -- A table and a namespace may have one key: `a.b` and `a.b`.
    perform svc.ensure_edge('IN_NAMESPACE', 'table' || chr(31) || this_table, table_node, outer_node, '{}');
    insert into svc.ingested_table (tenant_id, table_id, as_of_ms) values (tenant, this_table, received)
      on conflict on constraint ingested_table_pkey do nothing;
  end if;

  select g.as_of_ms into strict newest from svc.ingested_table g
    where g.tenant_id = tenant and g.table_id = this_table for no key update;
  if newest > received then return; end if;
  update "Table"
    set properties = properties operator(ag_catalog.||)
      ((described -> 'table') || jsonb_build_object('columns_md5', md5(columns::text)))::text::agtype
    where id = table_node;
  insert into "Column" (properties)
    select (c || jsonb_build_object('tenant_id', tenant))::text::agtype
    from jsonb_array_elements(columns) c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype]))
    do update set properties = "Column".properties operator(ag_catalog.||) excluded.properties;
  -- A dropped column keeps its node (its tags are history) and loses its place in the table.
  delete from "HAS_COLUMN" h
    where h.start_id = table_node and h.end_id not in (
      select (select n.id from "Column" n
          where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype)
        from jsonb_array_elements(columns) c);
  insert into "HAS_COLUMN" (start_id, end_id, properties)
    select table_node, (select n.id from "Column" n
        where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype),
      jsonb_build_object('id', c ->> 'id', 'tenant_id', tenant)::text::agtype
    from jsonb_array_elements(columns) c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  update svc.ingested_table g
    set as_of_ms = received, described_digest = digest, column_count = jsonb_array_length(columns),
      snapshot_node = ingest_table.snapshot_node, snapshot_id = v ->> 'snapshot_id', snapshot_key = v ->> 'snapshot_key'
    where g.tenant_id = tenant and g.table_id = this_table;
end $$;
