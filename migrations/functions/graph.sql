-- Nodes and edges by ids of our own. Runs with the caller's rights and search_path, so the label tables are those of
-- the caller's tenant, and every row is under its policies.

-- The graphid of the node with this id. Creates the node with these properties where there is none.
create or replace function svc.ensure_node(label text, node_id text, properties jsonb) returns ag_catalog.graphid
language plpgsql as $$
declare
  node ag_catalog.graphid;
  key ag_catalog.agtype := to_jsonb(node_id)::text::ag_catalog.agtype;
begin
  execute format(
    'select id from %I where ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) = $1',
    label) into node using key;
  if node is not null then return node; end if;
  execute format(
    'insert into %I (properties) values ($1) on conflict (ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype])) do nothing returning id',
    label) into node
    using (properties || jsonb_build_object('id', node_id, 'tenant_id', svc.current_tenant()))::text::ag_catalog.agtype;
  if node is not null then return node; end if;
  execute format(
    'select id from %I where ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) = $1',
    label) into strict node using key;
  return node;
end $$;

-- Adds the edge unless one with this id exists.
create or replace function svc.ensure_edge(label text, edge_id text, source ag_catalog.graphid, target ag_catalog.graphid, properties jsonb)
returns void
language plpgsql as $$
begin
  execute format(
    'insert into %I (start_id, end_id, properties) values ($1, $2, $3) on conflict (ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype])) do nothing',
    label)
    using source, target,
      (properties || jsonb_build_object('id', edge_id, 'tenant_id', svc.current_tenant()))::text::ag_catalog.agtype;
end $$;

-- Removes every edge of a node. It goes by indexes: most edges of a label may end at a few nodes, and this one not be
-- among them.
create or replace function svc.remove_edges(node ag_catalog.graphid) returns void
language plpgsql set enable_seqscan = off as $$
begin
  delete from "_ag_label_edge" where start_id = node;
  delete from "_ag_label_edge" where end_id = node;
end $$;

revoke all on function svc.ensure_node, svc.ensure_edge, svc.remove_edges from public;
grant execute on function svc.ensure_node, svc.ensure_edge, svc.remove_edges to svc_tenant;
