-- Finds out which table a dataset is, and which datasets are names of one table. They run with the caller's rights and
-- search_path.

-- Says that a dataset is a name of a table. A governed table wins over what only a symlink says, and takes the other
-- names with it.
create or replace function svc.name_dataset(dataset ag_catalog.graphid, key text, is_governed boolean, mapping text)
returns void
language plpgsql set enable_seqscan = off as $$
declare
  previous text;
  other ag_catalog.graphid;
begin
  select n.table_key into previous from lineage_name n where n.node = dataset and not n.governed;
  insert into lineage_name (node, table_key, governed, mapped_by) values (dataset, key, is_governed, mapping)
    on conflict (node) do update
      set table_key = excluded.table_key, governed = excluded.governed, mapped_by = excluded.mapped_by;
  if not is_governed then return; end if;
  update "Dataset" d
    set properties = d.properties operator(ag_catalog.||) jsonb_build_object('table_id', key)::text::ag_catalog.agtype
    where d.id = dataset;
  delete from "STORED_AS" s using "Table" t
    where s.start_id = dataset and t.id = s.end_id
      and ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype])
        <> to_jsonb(key)::text::ag_catalog.agtype;
  perform svc.link_datasets(key);
  for other in select n.node from lineage_name n where n.table_key = previous and not n.governed loop
    perform svc.name_dataset(other, key, true, mapping);
  end loop;
end $$;

-- Takes a dataset from the table that a mapping said it is.
create or replace function svc.unname_datasets(mapping text) returns void
language plpgsql as $$
begin
  update "Dataset" d
    set properties = (d.properties::text::jsonb - 'table_id')::text::ag_catalog.agtype
    from lineage_name n where n.mapped_by = mapping and d.id = n.node;
  delete from "STORED_AS" s using lineage_name n where n.mapped_by = mapping and s.start_id = n.node;
  delete from lineage_name n where n.mapped_by = mapping;
end $$;

-- The name of a table as its catalog has it: in lower case where that folds names.
create or replace function svc.own_name(table_id text, config jsonb) returns text
  language sql immutable parallel safe
  return case when svc.is_folding(config) then lower(table_id) else table_id end;

-- Makes all datasets of a group that is no governed table names of another group.
create or replace function svc.join_names(previous text, key text) returns void
language plpgsql set enable_seqscan = off as $$
begin
  update lineage_name n set table_key = key where n.table_key = previous and not n.governed;
end $$;

-- Records which tables these datasets are: the first of a dataset's names that is a table of a catalog of the tenant,
-- by its form or by a mapping; and which other datasets its symlinks say are the same. A name once said stays.
create or replace function svc.claim_tables(datasets jsonb) returns void
language plpgsql set enable_seqscan = off as $$
declare
  claim record;
  alias jsonb;
  own record;
  other record;
begin
  for claim in
    select given.node, given.id, given.names -> 'aliases' as aliases, found.table_id, found.mapping, held.table_key
    from (
      select distinct on (item ->> 'id') item ->> 'id' as id, item -> 'names' as names,
        (select d.id from "Dataset" d
          where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
            = (item -> 'id')::text::ag_catalog.agtype) as node
      from jsonb_array_elements(datasets) item where item ? 'names' order by item ->> 'id') given
    left join lateral (
      select coalesce((select r.new_key from lineage_renamed r where r.old_key = claims.table_id), claims.table_id) as table_id,
        claims.mapping from (
        select svc.own_name(t ->> 'table_id', c.config) as table_id, null as mapping, place
        from jsonb_array_elements(given.names -> 'tables') with ordinality list (t, place),
          lateral (select c.config from svc.catalog_credential c where c.nickname = t ->> 'prefix' limit 1) c
        union all
        select svc.own_name(m ->> 'table_id', n.config), n.namespace || chr(31) || n.first_level, 1000 + place
        from jsonb_array_elements(given.names -> 'mapped') with ordinality list (m, place),
          lateral (select d.namespace, d.first_level, c.config from svc.dataset_namespace d
            join svc.catalog_credential c on c.tenant_id = d.tenant_id and c.nickname = d.catalog
            where d.tenant_id = svc.current_tenant() and d.namespace = m ->> 'namespace' and d.first_level = m ->> 'first') n) claims
      order by claims.place limit 1) found on true
    left join lateral (select n.table_key from lineage_name n where n.node = given.node) held on true
    where found.table_id is distinct from held.table_key or given.names -> 'aliases' <> '[]'
  loop
    if claim.table_id is not null and claim.table_id is distinct from claim.table_key then
      perform svc.name_dataset(claim.node, claim.table_id, true, claim.mapping);
    end if;
    for alias in select a from jsonb_array_elements(claim.aliases) a loop
      -- Such a name says itself which table it is, when it comes.
      continue when claim.table_id is not null and (alias ->> 'is_table_name')::boolean;
      select n.table_key, n.governed, n.mapped_by into own from lineage_name n where n.node = claim.node;
      perform svc.ensure_lineage_nodes(jsonb_build_array(alias -> 'dataset'), '[]');
      select d.id as node, n.table_key, n.governed, n.mapped_by into other
        from "Dataset" d left join lineage_name n on n.node = d.id
        where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
          = (alias -> 'dataset' -> 'id')::text::ag_catalog.agtype;
      continue when other.table_key = own.table_key or (other.governed and own.governed);
      if own.governed then
        perform svc.name_dataset(other.node, own.table_key, true, null);
      elsif other.governed then
        perform svc.name_dataset(claim.node, other.table_key, true, other.mapped_by);
      elsif own.table_key is not null and other.table_key is not null then
        perform svc.join_names(other.table_key, own.table_key);
      elsif own.table_key is not null then
        perform svc.name_dataset(other.node, own.table_key, false, null);
      else
        perform svc.name_dataset(claim.node, coalesce(other.table_key, 'dataset:' || (alias -> 'dataset' ->> 'id')), false, null);
        if other.table_key is null then
          perform svc.name_dataset(other.node, 'dataset:' || (alias -> 'dataset' ->> 'id'), false, null);
        end if;
      end if;
    end loop;
  end loop;
end $$;

-- Gives the datasets of a renamed table to its new name, and what comes under the old name from now on.
create or replace function svc.rename_lineage(old_key text, new_key text) returns void
language plpgsql set enable_seqscan = off as $$
declare
  dataset ag_catalog.graphid;
begin
  delete from lineage_renamed r where r.old_key = rename_lineage.new_key;
  update lineage_renamed r set new_key = rename_lineage.new_key where r.new_key = rename_lineage.old_key;
  insert into lineage_renamed (old_key, new_key) values (rename_lineage.old_key, rename_lineage.new_key)
    on conflict on constraint lineage_renamed_pkey do update set new_key = excluded.new_key, renamed_at = clock_timestamp();
  for dataset in select n.node from lineage_name n where n.table_key = rename_lineage.old_key and n.governed loop
    perform svc.name_dataset(dataset, rename_lineage.new_key, true, (select n.mapped_by from lineage_name n where n.node = dataset));
  end loop;
end $$;

-- Draws STORED_AS from the datasets of a table to its node, where that exists. Returns the number of new edges.
create or replace function svc.link_datasets(table_id text) returns bigint
language plpgsql set enable_seqscan = off as $$
declare
  drawn bigint;
begin
  insert into "STORED_AS" (start_id, end_id, properties)
    select d.id, t.id, jsonb_build_object('id', edge.key, 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
    from "Dataset" d, "Table" t,
      lateral (select svc.pair_id((d.properties::text::jsonb ->> 'id'), link_datasets.table_id) as key) edge
    where ag_catalog.agtype_access_operator(variadic array[d.properties, '"table_id"'::ag_catalog.agtype])
        = to_jsonb(link_datasets.table_id)::text::ag_catalog.agtype
      and ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(link_datasets.table_id)::text::ag_catalog.agtype
      and not exists (select from "STORED_AS" s where s.start_id = d.id and s.end_id = t.id)
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  get diagnostics drawn = row_count;
  return drawn;
end $$;

revoke all on function svc.own_name, svc.name_dataset, svc.unname_datasets, svc.join_names, svc.claim_tables, svc.rename_lineage, svc.link_datasets from public;
grant execute on function svc.own_name, svc.name_dataset, svc.unname_datasets, svc.join_names, svc.claim_tables, svc.rename_lineage, svc.link_datasets
  to svc_tenant;
