-- The instant and the digest of a table's columns are in svc.ingested_table from here on. What the table's node says
-- of them is taken over without a digest, so the next commit describes the table once more.
insert into svc.ingested_table (tenant_id, table_id, as_of_ms)
  select '{{tenant}}', p ->> 'id', (p ->> 'columns_as_of_ms')::numeric
  from {{graph}}."Table" t, lateral (select t.properties::text::jsonb as p) parsed
  where p -> 'columns_as_of_ms' is not null;
update {{graph}}."Table" set properties = (properties::text::jsonb - 'columns_as_of_ms')::text::ag_catalog.agtype
  where ag_catalog.agtype_access_operator(variadic array[properties, '"columns_as_of_ms"'::ag_catalog.agtype]) is not null;

-- AGE 1.8 counts the statements on every label, by a trigger, for what a session keeps in memory of its
-- variable-length paths. Those ignore row-level security, so nothing here asks for them, and the count, a part of
-- every verdict, is for nothing; past 128 graphs a server it is given up with a warning at each statement. Whoever
-- asks for such paths by hand does it in a new session, or by a query of labels and fixed length.
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
