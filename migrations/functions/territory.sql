-- The territory index (docs/reference/territory.md): what a commit or a read asks of it, and how locations enter it.
-- Paths come in canonical form, with their ancestors: no function here takes a path apart.

-- A row as the callers read it.
create or replace function svc.territory_row(r svc.territory) returns jsonb
  language sql stable parallel safe
  return jsonb_build_array(r.prefix, r.kind, r.catalog, r.table_uuid, r.table_id, r.namespace, r.table_name);

-- The exempt roles of every row filter and column mask of the tenant, each set once: who has a role of each set is
-- restricted by none. One look-up of an index for each set. Null where a sentinel cannot be seen. Runs in the tenant's
-- context.
create or replace function svc.restricting_roles() returns jsonb
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  found jsonb;
begin
  if not exists (select from "RowFilter" p where agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) = '""'::agtype)
    or not exists (select from "ColumnMask" p where agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) = '""'::agtype)
  then return null; end if;
  with recursive
    filters (roles) as (
      (select agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) from "RowFilter" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) is not null order by 1 limit 1)
      union all
      select (select agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) from "RowFilter" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) > w.roles order by 1 limit 1)
        from filters w where w.roles is not null),
    masks (roles) as (
      (select agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) from "ColumnMask" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) is not null order by 1 limit 1)
      union all
      select (select agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) from "ColumnMask" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) > w.roles order by 1 limit 1)
        from masks w where w.roles is not null)
  select coalesce(jsonb_agg(distinct roles::text::jsonb), '[]') into found
    from (select roles from filters union all select roles from masks) each where roles is not null;
  -- Without any, it exempts nobody.
  if exists (select from "RowFilter" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) is null and agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) <> '""'::agtype)
    or exists (select from "ColumnMask" p where agtype_access_operator(variadic array[p.properties, '"exempt_roles"'::agtype]) is null and agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) <> '""'::agtype)
  then found := found || '[[]]'; end if;
  return found;
end $$;

-- The quarantined snapshots of tables: [table_id, catalog, table_uuid, snapshot_id,
-- namespace, name]. Runs in the tenant's context.
create or replace function svc.quarantined(ids text[]) returns jsonb
language plpgsql stable as $$
begin
  return coalesce((
    select jsonb_agg(jsonb_build_array(q.table_id, q.catalog, q.table_uuid, q.snapshot_id::text, q.namespace, q.table_name))
    from svc.snapshot_quarantine q
    where q.tenant_id = svc.current_tenant() and q.table_id = any(ids)
      and coalesce(q.released_at, 'infinity') > clock_timestamp()), '[]');
end $$;

-- A tenant's mode and version, with the rows of a table and those at or above any of the given prefixes. Null where
-- the tenant's state cannot be seen, which is no verdict. Whom filters and masks restrict is said where ring 2 asks.
-- Runs in the tenant's context.
create or replace function svc.territory_at(this_table text, ancestors text) returns text
language plpgsql stable as $$
declare
  found text;
begin
  select jsonb_build_object('mode', s.mode, 'version', s.version::text, 'manifests', s.manifests,
    'restricting', case when s.mode = 'enforce' and s.manifests = 'audit' then svc.restricting_roles() end,
    'quarantined', svc.quarantined(array[this_table]), 'rows', coalesce((
      select jsonb_agg(svc.territory_row(r)) from (
        select r.* from svc.territory r
          where r.tenant_id = s.tenant_id and r.table_id = this_table and coalesce(r.released_at, 'infinity') > clock_timestamp()
        union all
        select r.* from svc.territory r
          where r.tenant_id = s.tenant_id and r.table_id <> this_table and coalesce(r.released_at, 'infinity') > clock_timestamp()
            and r.prefix = any(array(select jsonb_array_elements_text(ancestors::jsonb)))) r), '[]'))::text into found
    from svc.territory_state s where s.tenant_id = svc.current_tenant();
  return found;
end $$;

-- The territory of several tables: mode, version, all their rows and quarantined snapshots. Null as above.
create or replace function svc.territories(ids text) returns text
language plpgsql stable as $$
declare
  wanted text[] := array(select jsonb_array_elements_text(ids::jsonb));
  found text;
begin
  select jsonb_build_object('mode', s.mode, 'version', s.version::text, 'manifests', s.manifests,
    'quarantined', svc.quarantined(wanted), 'rows', coalesce((
      select jsonb_agg(svc.territory_row(r)) from svc.territory r
        where r.tenant_id = s.tenant_id and coalesce(r.released_at, 'infinity') > clock_timestamp()
          and r.table_id = any(wanted)), '[]'))::text into found
    from svc.territory_state s where s.tenant_id = svc.current_tenant();
  return found;
end $$;

-- Takes locations for a table, and lists conflicts.
--
-- `claim`: `owner` {catalog, credential_id, table_id, namespace, name, uuid}; `commit_id` or null; `source`; `strict`;
-- `prefixes` [{prefix, kind, ancestors}], the ancestors with the prefix itself; `conflicts` [{prefix, reason, owner}]
-- that the caller found. Returns what svc.territory_at says of the table afterwards, and for each prefix that overlaps
-- another table's territory the first row that it meets. Such a prefix is not taken, and is listed; where the claim is
-- strict, none is taken then. The lock lets no two overlapping claims pass at once. Says also under which other name the
-- table is known (svc.take_table_name).
create or replace function svc.claim_territory(tenant uuid, claim text) returns table (claimed text)
language plpgsql as $$
#variable_conflict use_column
declare
  entered boolean := svc.enter(tenant);
  c jsonb := claim::jsonb;
  o jsonb := c -> 'owner';
  asked jsonb;
  other jsonb;
  free jsonb := '[]';
  met jsonb := '[]';
  conflict jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('territory ' || tenant::text, 0));
  for asked in select * from jsonb_array_elements(c -> 'prefixes') loop
    other := svc.territory_overlap(o ->> 'table_id', o ->> 'catalog', o ->> 'uuid', asked ->> 'prefix', asked -> 'ancestors');
    if other is null then free := free || asked;
    else met := met || jsonb_build_array(jsonb_build_array(asked -> 'prefix', other));
    end if;
  end loop;
  if met = '[]' or not (c ->> 'strict')::boolean then
    insert into svc.territory as t (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name,
        table_uuid, claimed_by)
      select tenant, f ->> 'prefix', f ->> 'kind', o ->> 'catalog', (o ->> 'credential_id')::uuid, o ->> 'table_id',
        o -> 'namespace', o ->> 'name', o ->> 'uuid', (c ->> 'commit_id')::uuid
      from jsonb_array_elements(free) f
      on conflict (tenant_id, table_id, md5(catalog), md5(prefix), kind) where released_at is null
      -- A row that was taken for a creation lacks the uuid until the table has been seen.
      do update set table_uuid = excluded.table_uuid, claimed_by = null
        where excluded.table_uuid is not null and t.table_uuid is distinct from excluded.table_uuid;
    -- A table that is seen, or made again, is there.
    update svc.territory t set dropped_at = null, seen_at = clock_timestamp()
      where t.tenant_id = tenant and t.table_id = o ->> 'table_id' and t.catalog = o ->> 'catalog'
        and t.released_at is null and (t.dropped_at is not null or c ->> 'source' = 'sweep');
  end if;
  for conflict in
    select value from jsonb_array_elements(c -> 'conflicts')
    union all
    select jsonb_build_object('prefix', pair -> 0, 'reason', 'overlap',
        'owner', jsonb_build_object('namespace', pair -> 1 -> 5, 'name', pair -> 1 -> 6))
      from jsonb_array_elements(met) pair
  loop
    perform svc.note_conflict(c ->> 'source', o, conflict);
  end loop;
  claimed := jsonb_build_object('found', svc.territory_at(o ->> 'table_id', '[]')::jsonb, 'overlaps', met,
    'known_as', svc.take_table_name(o, met))::text;
  return next;
end $$;

-- The other name, [namespace, name], under which a table was first seen in its catalog; null where it is this one, which it
-- is from now on, or where the table has no uuid. `o` is an owner, with the `kind` where it is a view's: a view may have the
-- uuid of a table, and neither tells the name of the other. `met` are rows that it meets (svc.claim_territory): a table that was seen
-- before names were kept has its name there.
create or replace function svc.take_table_name(o jsonb, met jsonb) returns jsonb
language plpgsql as $$
declare
  first jsonb;
  its_kind text := coalesce(o ->> 'kind', 'table');
begin
  if o ->> 'uuid' is null then return null; end if;
  select jsonb_build_array(n.table_id, n.namespace, n.table_name) into first from svc.table_name n
    where n.tenant_id = svc.current_tenant() and n.kind = its_kind and n.table_uuid = o ->> 'uuid'
      and n.catalog_md5 = md5(o ->> 'catalog');
  if first is null then
    select jsonb_build_array(pair -> 1 -> 4, pair -> 1 -> 5, pair -> 1 -> 6) into first
      from jsonb_array_elements(met) pair
      where pair -> 1 ->> 2 = o ->> 'catalog' and pair -> 1 ->> 3 = o ->> 'uuid' limit 1;
    first := coalesce(first, jsonb_build_array(o -> 'table_id', o -> 'namespace', o -> 'name'));
    insert into svc.table_name (tenant_id, kind, table_uuid, catalog, table_id, namespace, table_name)
      values (svc.current_tenant(), its_kind, o ->> 'uuid', o ->> 'catalog', first ->> 0, first -> 1, first ->> 2)
      on conflict do nothing;
  end if;
  if first ->> 0 = o ->> 'table_id' then return null; end if;
  -- A steward has said that it is a clone: it is governed like its source.
  if its_kind = 'table' and exists (select from svc.territory r
      where r.tenant_id = svc.current_tenant() and r.table_id = o ->> 'table_id'
      and r.kind = 'derived' and r.source ->> 'table_id' = first ->> 0 and coalesce(r.released_at, 'infinity') > clock_timestamp())
  then return null; end if;
  return first - 0;
end $$;

-- Lists that a table answers to a second name, and tells of it once. `named`: `owner` as in svc.claim_territory, `source`,
-- the `first` name {namespace, name} with its `first_id`, and the `prefix` of the table's location.
create or replace function svc.note_second_name(named jsonb) returns void
language plpgsql as $$
declare
  o jsonb := named -> 'owner';
  is_listed boolean := exists (select from svc.territory_conflict t
    where t.tenant_id = svc.current_tenant() and t.table_id = o ->> 'table_id' and md5(t.catalog) = md5(o ->> 'catalog')
      and md5(t.prefix) = md5(named ->> 'prefix') and t.reason = 'second-name');
begin
  perform svc.note_conflict(named ->> 'source', o,
    jsonb_build_object('prefix', named -> 'prefix', 'reason', 'second-name', 'owner', named -> 'first'));
  if is_listed then return; end if;
  insert into svc.event (tenant_id, type, subject, data) values (svc.current_tenant(), 'table.second_name', named ->> 'first_id',
    jsonb_build_object('table', named -> 'first',
      'second', jsonb_build_object('namespace', o -> 'namespace', 'name', o -> 'name')));
end $$;

-- The first row of another table that lies above, at or below a prefix. A derived row shares its source's files.
create or replace function svc.territory_overlap(this_table text, this_catalog text, this_uuid text, wanted text,
  ancestors jsonb) returns jsonb
language plpgsql stable as $$
declare
  found jsonb;
begin
  select svc.territory_row(r) into found from svc.territory r
    where r.tenant_id = svc.current_tenant() and coalesce(r.released_at, 'infinity') > clock_timestamp() and r.kind <> 'derived'
      and r.prefix = any(array(select jsonb_array_elements_text(ancestors)))
      and not (r.table_id = this_table and (r.catalog = this_catalog or coalesce(r.table_uuid = this_uuid, false)))
    order by r.prefix limit 1;
  if found is not null then return found; end if;
  select svc.territory_row(r) into found from svc.territory r
    where r.tenant_id = svc.current_tenant() and coalesce(r.released_at, 'infinity') > clock_timestamp() and r.kind <> 'derived'
      and r.prefix > wanted and r.prefix < left(wanted, -1) || '0'
      and not (r.table_id = this_table and (r.catalog = this_catalog or coalesce(r.table_uuid = this_uuid, false)))
    order by r.prefix limit 1;
  return found;
end $$;

-- Lists a conflict, or counts it where it is listed. The oldest goes where there are too many.
create or replace function svc.note_conflict(source text, o jsonb, conflict jsonb) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  kept constant int := 10000;
  is_new boolean;
begin
  insert into svc.territory_conflict as t (tenant_id, source, reason, catalog, credential_id, table_id, namespace,
      table_name, prefix, owner)
    values (svc.current_tenant(), note_conflict.source, conflict ->> 'reason', o ->> 'catalog', (o ->> 'credential_id')::uuid,
      o ->> 'table_id', o -> 'namespace', o ->> 'name', conflict ->> 'prefix', nullif(conflict -> 'owner', 'null'))
    on conflict (tenant_id, table_id, md5(catalog), md5(prefix), reason)
    do update set last_seen_at = clock_timestamp(), seen = t.seen + 1, source = excluded.source, owner = excluded.owner
    returning t.seen = 1 into is_new;
  if not is_new then return; end if;
  delete from svc.territory_conflict t where t.tenant_id = svc.current_tenant() and t.conflict_id in (
    select old.conflict_id from svc.territory_conflict old where old.tenant_id = svc.current_tenant()
    order by old.last_seen_at desc, old.conflict_id desc offset kept);
end $$;

-- Ends the sweep of a catalog: tables that it did not see are gone. Returns how many rows say so now.
create or replace function svc.end_territory_sweep(tenant uuid, sweep text) returns table (gone bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  entered boolean := svc.enter(tenant);
  s jsonb := sweep::jsonb;
begin
  -- Where a table or namespace could not be read, nothing is known to be gone.
  if (s ->> 'failed')::bigint = 0 then
    update svc.territory t set dropped_at = clock_timestamp()
      where t.tenant_id = tenant and md5(t.catalog) = md5(s ->> 'catalog') and t.catalog = s ->> 'catalog'
        and t.released_at is null and t.dropped_at is null and t.claimed_by is null
        and t.seen_at < (s ->> 'started_at')::timestamptz;
    get diagnostics gone = row_count;
  else gone := 0;
  end if;
  update svc.territory_sweep w
    set finished_at = clock_timestamp(), tables = (s ->> 'tables')::bigint, failed = (s ->> 'failed')::bigint,
      problem = s ->> 'problem'
    where w.tenant_id = tenant and w.credential_id = (s ->> 'credential_id')::uuid;
  return next;
end $$;

-- Gives the rows of a renamed table to its new name. `v` is a verdict with `renamed_to` {table_id, namespace, name}.
create or replace function svc.rename_territory(v jsonb) returns void
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  new_name jsonb := v -> 'renamed_to';
begin
  -- What the new name held already, it need not hold twice.
  delete from svc.territory t
    where t.tenant_id = tenant and t.table_id = v ->> 'table_id' and t.catalog = v ->> 'catalog' and t.released_at is null
      and exists (select from svc.territory d
        where d.tenant_id = tenant and d.table_id = new_name ->> 'table_id' and d.catalog = t.catalog
          and d.prefix = t.prefix and d.kind = t.kind and d.released_at is null);
  update svc.territory t
    set table_id = new_name ->> 'table_id', namespace = new_name -> 'namespace', table_name = new_name ->> 'name'
    where t.tenant_id = tenant and t.table_id = v ->> 'table_id' and t.catalog = v ->> 'catalog' and t.released_at is null;
  update svc.territory t
    set source = t.source || jsonb_build_object('table_id', new_name ->> 'table_id', 'namespace', new_name -> 'namespace',
      'name', new_name ->> 'name')
    where t.tenant_id = tenant and t.source ->> 'table_id' = v ->> 'table_id' and t.source ->> 'catalog' = v ->> 'catalog';
  update svc.table_name n
    set table_id = new_name ->> 'table_id', namespace = new_name -> 'namespace', table_name = new_name ->> 'name'
    where n.tenant_id = tenant and n.kind = 'table' and n.table_id = v ->> 'table_id'
      and n.catalog_md5 = md5(v ->> 'catalog');
  -- So does what was found, and is still to be found, of its manifests.
  update svc.snapshot_quarantine q
    set table_id = new_name ->> 'table_id', namespace = new_name -> 'namespace', table_name = new_name ->> 'name'
    where q.tenant_id = tenant and q.table_id = v ->> 'table_id' and q.catalog = v ->> 'catalog';
  update svc.manifest_check m
    set table_id = new_name ->> 'table_id', namespace = new_name -> 'namespace', table_name = new_name ->> 'name'
    where m.tenant_id = tenant and m.table_id = v ->> 'table_id' and m.catalog = v ->> 'catalog';
end $$;

-- Gives all that the index holds of a catalog to names in lower case, once it is known to fold names.
create or replace function svc.fold_territory(folding text) returns void
language plpgsql as $$
declare
  held record;
begin
  perform pg_advisory_xact_lock(hashtextextended('territory ' || svc.current_tenant()::text, 0));
  for held in
    select t.table_id, t.namespace, t.table_name from svc.territory t
      where t.tenant_id = svc.current_tenant() and md5(t.catalog) = md5(folding) and t.table_id <> lower(t.table_id)
        and t.released_at is null
    union select n.table_id, n.namespace, n.table_name from svc.table_name n
      where n.tenant_id = svc.current_tenant() and n.kind = 'table' and n.catalog_md5 = md5(folding)
        and n.table_id <> lower(n.table_id)
  loop
    perform svc.rename_territory(jsonb_build_object('table_id', held.table_id, 'catalog', folding, 'renamed_to',
      jsonb_build_object('table_id', lower(held.table_id), 'namespace', lower(held.namespace::text)::jsonb,
        'name', lower(held.table_name))));
  end loop;
  update svc.table_name n
    set table_id = lower(n.table_id), namespace = lower(n.namespace::text)::jsonb, table_name = lower(n.table_name)
    where n.tenant_id = svc.current_tenant() and n.kind = 'view' and n.catalog_md5 = md5(folding)
      and n.table_id <> lower(n.table_id);
end $$;

revoke all on function svc.take_table_name, svc.note_second_name, svc.fold_territory from public;
grant execute on function svc.take_table_name, svc.note_second_name, svc.fold_territory to svc_tenant;
revoke all on function svc.restricting_roles, svc.quarantined, svc.territory_row, svc.territory_at, svc.territories,
  svc.claim_territory, svc.territory_overlap, svc.note_conflict, svc.rename_territory, svc.end_territory_sweep from public;
grant execute on function svc.restricting_roles, svc.quarantined, svc.territory_row, svc.territory_at, svc.territories,
  svc.claim_territory, svc.territory_overlap, svc.note_conflict, svc.rename_territory, svc.end_territory_sweep
  to svc_tenant;
