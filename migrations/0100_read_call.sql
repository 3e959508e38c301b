-- What a statement of the read path is loaded by, as one call that is a transaction of its own (0080): one
-- message each way and one value back, which is compared as a whole with the one before.

-- Everything that governs reading tables: a JSON array of [kind, table, properties as the text of an
-- agtype, column, tag, current]. Runs in the tenant's context, through whose search_path the label tables are named. Plans by
-- index alone are admitted, as in svc.enter.
create function svc.governance(ids text) returns text
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  wanted ag_catalog.agtype[] := array(select to_jsonb(x)::text::ag_catalog.agtype from jsonb_array_elements_text(ids::jsonb) x);
begin
  return (
    with t as (
      select t.id, agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) as table_id, t.properties
        from "Table" t where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = any(wanted)),
    c as (
      select c.id, t.table_id, agtype_access_operator(variadic array[c.properties, '"id"'::agtype]) as column_id,
          c.properties, true as current
        from t join "HAS_COLUMN" h on h.start_id = t.id join "Column" c on c.id = h.end_id
      union all
      select c.id, agtype_access_operator(variadic array[c.properties, '"table_id"'::agtype]),
          agtype_access_operator(variadic array[c.properties, '"id"'::agtype]), c.properties, false
        from "Column" c
        where agtype_access_operator(variadic array[c.properties, '"table_id"'::agtype]) = any(wanted)
          and not exists (select from "HAS_COLUMN" h where h.end_id = c.id)),
    g as (
      select c.table_id, c.column_id, g.id, g.properties, agtype_access_operator(variadic array[g.properties, '"name"'::agtype]) as tag
        from c join "TAGGED" e on e.start_id = c.id join "Tag" g on g.id = e.end_id),
    found (kind, table_id, properties, column_id, tag, current) as (
      select 'table', t.table_id, t.properties, null::agtype, null::agtype, null::boolean from t
      union all select 'contract', t.table_id, k.properties, null, null, null
        from t join "GOVERNS" e on e.end_id = t.id join "Contract" k on k.id = e.start_id
      -- The pin is the newest of its events.
      union all select 'pin', t.table_id, p.properties, null, null, null
        from t cross join lateral (
          select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
          order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1) p
      union all select 'filter', t.table_id, f.properties, null, null, null
        from t join "FILTERS" e on e.end_id = t.id join "RowFilter" f on f.id = e.start_id
      union all select 'column', c.table_id, c.properties, c.column_id, null, c.current from c
      union all select 'column-filter', c.table_id, f.properties, c.column_id, null, null
        from c join "FILTERS" e on e.end_id = c.id join "RowFilter" f on f.id = e.start_id
      union all select 'mask', c.table_id, m.properties, c.column_id, null, null
        from c join "MASKS" e on e.end_id = c.id join "ColumnMask" m on m.id = e.start_id
      union all select 'tag', g.table_id, g.properties, g.column_id, g.tag, null from g
      union all select 'tag-mask', g.table_id, m.properties, g.column_id, g.tag, null
        from g join "APPLIES_TO" e on e.end_id = g.id join "ColumnMask" m on m.id = e.start_id
      union all select 'tag-filter', g.table_id, f.properties, g.column_id, g.tag, null
        from g join "APPLIES_TO" e on e.end_id = g.id join "RowFilter" f on f.id = e.start_id
      union all select 'setting', null, jsonb_build_object('readable', s.readable_without_contract)::text::agtype, null, null, null
        from svc.read_setting s)
    select json_agg(json_build_array(kind, table_id::text, properties::text, column_id::text, tag::text, current))::text from found);
end $$;

-- The governance of tables, and the tenant's catalog credential of a nickname beside it; always one row.
create function svc.load_read(tenant uuid, prefix text, ids text)
returns table (credential_id uuid, version bigint, catalog_kind text, nickname text, endpoint text, config jsonb,
  sealed bytea, governance text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform svc.enter(tenant);
  return query
    select c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed, svc.governance($3)
    from (select) one left join svc.catalog_credential c on c.tenant_id = $1 and c.nickname = $2;
end $$;

revoke all on function svc.governance, svc.load_read from public;
grant execute on function svc.governance, svc.load_read to svc_tenant;
