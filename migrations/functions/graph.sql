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

-- The trigger of tables and namespaces in the graph: keeps a name that is not in lower case (svc.spelling).
create or replace function svc.note_spelling() returns trigger
language plpgsql as $$
declare
  node_id text := new.properties::text::jsonb ->> 'id';
begin
  if node_id <> lower(node_id) then
    insert into svc.spelling (tenant_id, folded, id) values (svc.current_tenant(), lower(node_id), node_id)
      on conflict do nothing;
  end if;
  return null;
end $$;

-- Whether a catalog folds names, by the configuration of its credential; null where that is not known.
create or replace function svc.is_folding(config jsonb) returns boolean
  language sql immutable parallel safe
  return not case when jsonb_typeof(config -> 'case_sensitive_names') = 'boolean' then config -> 'case_sensitive_names'
    else config -> 'case_sensitive_names.found' end::boolean;

-- Whether the tenant has a catalog that may fold names: one that was not asked yet may. And whether all surely do.
create or replace function svc.folds_names() returns boolean
language plpgsql stable as $$
begin
  return exists (select from svc.catalog_credential c where c.tenant_id = svc.current_tenant()
    and svc.is_folding(c.config) is not false);
end $$;
create or replace function svc.folds_all_names() returns boolean
language plpgsql stable as $$
begin
  return not exists (select from svc.catalog_credential c
    where c.tenant_id = svc.current_tenant() and svc.is_folding(c.config) is not true);
end $$;

-- Other spellings of names in lower case, in a tenant with a catalog that folds names: {table, spelling, whole}. What is
-- bound to them governs the table, too. Where not the whole tenant folds names, a spelling may be a table of its own as well.
create or replace function svc.spellings(ids text[]) returns jsonb
language plpgsql stable as $$
declare
  found jsonb;
begin
  -- First what is there for hardly any name, because each commit asks.
  if not exists (select from svc.spelling s where s.tenant_id = svc.current_tenant() and s.folded = any(ids))
    or not svc.folds_names() then return '[]'; end if;
  select jsonb_agg(jsonb_build_object('table', s.folded, 'spelling', s.id, 'whole', svc.folds_all_names()) order by s.id)
    into found from svc.spelling s where s.tenant_id = svc.current_tenant() and s.folded = any(ids);
  return found;
end $$;

revoke all on function svc.note_spelling, svc.is_folding, svc.folds_names, svc.folds_all_names, svc.spellings from public;
grant execute on function svc.note_spelling, svc.is_folding, svc.folds_names, svc.folds_all_names, svc.spellings
  to svc_tenant;
revoke all on function svc.ensure_node, svc.ensure_edge, svc.remove_edges from public;
grant execute on function svc.ensure_node, svc.ensure_edge, svc.remove_edges to svc_tenant;
