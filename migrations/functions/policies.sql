-- Policies of the write path: saving, removing and loading them. svc.put_policy, svc.delete_policy and
-- svc.unbind_policy run with the caller's rights and search_path.

-- Saves a policy and binds it to a table, a namespace or a tag. `scope`: the node's `label`, `id` and `properties`, the
-- `edge`'s properties, and the scope by `name`.
create or replace function svc.put_policy(label text, edge text, policy jsonb, scope jsonb, actor jsonb) returns void
language plpgsql as $$
declare
  stored jsonb := policy || jsonb_build_object('tenant_id', svc.current_tenant());
  end_label text := scope ->> 'label';
  end_id text := scope ->> 'id';
  policy_node ag_catalog.graphid;
  end_node ag_catalog.graphid;
  other ag_catalog.agtype;
begin
  -- Without the lock, two puts of one id that differ in kind could both find no policy of another kind.
  perform pg_advisory_xact_lock(hashtextextended('policy ' || svc.current_tenant() || (policy ->> 'id'), 0));
  select ag_catalog.agtype_access_operator(variadic array[p.properties, '"kind"'::ag_catalog.agtype]) into other
    from (select properties from "Policy" union all select properties from "RetentionPolicy") p
    where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype]) = (policy -> 'id')::text::ag_catalog.agtype;
  if other operator(ag_catalog.<>) (policy -> 'kind')::text::ag_catalog.agtype then
    raise exception 'another kind has this policy id' using errcode = 'unique_violation';
  end if;
  policy_node := svc.ensure_node(label, policy ->> 'id', stored);
  execute format('update %I set properties = $2 where id = $1 and properties <> $2', label)
    using policy_node, stored::text::ag_catalog.agtype;
  end_node := svc.ensure_node(end_label, end_id, scope -> 'properties');
  -- A table's key does not begin with the separator, so no two scopes have one edge.
  perform svc.ensure_edge(edge, (policy ->> 'id') || chr(31)
      || case when end_label = 'Table' then '' else chr(31) || lower(end_label) || chr(31) end || end_id,
    policy_node, end_node, scope -> 'edge');
  -- svc.write_governance looks for the tags of a table where this says that any tag is governed. It is never unsaid.
  if end_label = 'Tag' then
    update "Tag" set properties = properties operator(ag_catalog.||) '{"governs": true}'::ag_catalog.agtype
      where ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype]) = '""'::ag_catalog.agtype
        and ag_catalog.agtype_access_operator(variadic array[properties, '"governs"'::ag_catalog.agtype]) is null;
  end if;
  insert into svc.policy_history (tenant_id, policy_id, table_id, namespace_id, tag_id, scope, policy, actor)
    values (svc.current_tenant(), policy ->> 'id', case when end_label = 'Table' then end_id end,
      case when end_label = 'Namespace' then end_id end, case when end_label = 'Tag' then end_id end, scope -> 'name',
      policy, actor);
end $$;

-- Removes a policy with its edges. Returns whether there was one. It takes the lock of svc.put_policy: without it, a
-- put and a removal of one policy at once could leave an edge of the removed policy, and later puts would draw none.
create or replace function svc.delete_policy(policy_id text, actor jsonb) returns boolean
language plpgsql as $$
declare
  node ag_catalog.graphid;
  key ag_catalog.agtype := to_jsonb(policy_id)::text::ag_catalog.agtype;
begin
  perform pg_advisory_xact_lock(hashtextextended('policy ' || svc.current_tenant() || policy_id, 0));
  select p.id into node
    from (select id, properties from "Policy" union all select id, properties from "RetentionPolicy") p
    where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype]) = key;
  if node is null then return false; end if;
  perform svc.remove_edges(node);
  delete from "_ag_label_vertex" where id = node;
  insert into svc.policy_history (tenant_id, policy_id, actor) values (svc.current_tenant(), policy_id, actor);
  return true;
end $$;

-- Ends the binding of a policy to a table, a namespace or a tag; `scope` as in svc.put_policy. Returns `ended`, or why not:
-- `no_policy`, `not_bound`, or `only` where it is bound to nothing else. The lock is the one of svc.put_policy: without it,
-- two of these at once could leave a policy that governs nothing.
create or replace function svc.unbind_policy(policy_id text, scope jsonb, actor jsonb) returns text
language plpgsql set enable_seqscan = off as $$
declare
  end_label text := scope ->> 'label';
  end_id text := scope ->> 'id';
  key ag_catalog.agtype := to_jsonb(policy_id)::text::ag_catalog.agtype;
  policy_node ag_catalog.graphid;
  policy jsonb;
  end_node ag_catalog.graphid;
  bound bigint;
  ending bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('policy ' || svc.current_tenant() || policy_id, 0));
  select p.id, p.properties::text::jsonb - 'tenant_id' into policy_node, policy
    from (select id, properties from "Policy" union all select id, properties from "RetentionPolicy") p
    where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype]) = key;
  if policy_node is null then return 'no_policy'; end if;
  execute format(
    'select id from %I where ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) = $1',
    end_label) into end_node using to_jsonb(end_id)::text::ag_catalog.agtype;
  select count(*), count(*) filter (where e.end_id = end_node) into bound, ending
    from "_ag_label_edge" e where e.start_id = policy_node;
  if ending = 0 then return 'not_bound'; end if;
  if ending = bound then return 'only'; end if;
  delete from "_ag_label_edge" e where e.start_id = policy_node and e.end_id = end_node;
  insert into svc.policy_history (tenant_id, policy_id, table_id, namespace_id, tag_id, scope, policy, actor, unbinds)
    values (svc.current_tenant(), policy_id, case when end_label = 'Table' then end_id end,
      case when end_label = 'Namespace' then end_id end, case when end_label = 'Tag' then end_id end, scope -> 'name',
      policy, actor, true);
  return 'ended';
end $$;

-- What governs a table when it is written, as a JSON array of [edge, properties], with the edge's properties as a third
-- where the policy is bound to a namespace or a tag. `namespaces` are the ids of the namespaces that hold the table, from
-- the root down: a new table is in them before it is in the graph. Runs in the tenant's context.
create or replace function svc.write_governance(table_id text, namespaces text) returns text
language plpgsql as $$
declare
  -- Of the table and the namespaces above it: a catalog that folds names has each under any spelling.
  spelled jsonb := svc.spellings(table_id || array(select jsonb_array_elements_text(namespaces::jsonb)));
  wanted ag_catalog.agtype[] := array(select to_jsonb(table_id)::text::ag_catalog.agtype
    union all select (s -> 'spelling')::text::ag_catalog.agtype from jsonb_array_elements(spelled) s
      where s ->> 'table' = table_id);
  above ag_catalog.agtype[] := array(select to_jsonb(x)::text::ag_catalog.agtype
    from jsonb_array_elements_text(namespaces::jsonb) x
    union all select (s -> 'spelling')::text::ag_catalog.agtype from jsonb_array_elements(spelled) s);
  tables ag_catalog.graphid[];
  -- Those whose tags are looked for: all where a policy was ever bound to a tag, else the sentinel's alone. Without that,
  -- each commit would look up every column of its table.
  tagged ag_catalog.graphid[];
  governed ag_catalog.graphid[];
  governance text;
begin
  -- The sentinel is on the table with the empty name, on its column's tag, and on the root namespace. It is loaded by
  -- the same paths.
  select array_agg(t.id), array_agg(t.id) filter (where tag_governs or t.sentinel) into tables, tagged
    from (select t.id, agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = '""'::agtype as sentinel
      from "Table" t where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = any(wanted || '""'::agtype)) t
    cross join (select coalesce((
      select agtype_access_operator(variadic array[g.properties, '"governs"'::agtype]) is not null from "Tag" g
        where agtype_access_operator(variadic array[g.properties, '"id"'::agtype]) = '""'::agtype), true) as tag_governs) g;
  governed := tables
    || array(select n.id from "Namespace" n
      where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = any(above))
    -- A dropped column names its table itself. Its tags count, because older snapshots hold its values.
    || array(select e.end_id from "TAGGED" e where e.start_id = any(tagged
      || array(select h.end_id from "HAS_COLUMN" h where h.start_id = any(tagged))
      || case when cardinality(tagged) = cardinality(tables) then array(select c.id from "Column" c
          where agtype_access_operator(variadic array[c.properties, '"table_id"'::agtype]) = any(wanted)) end));
  select '[' || string_agg('["' || governing.edge || '",' || governing.properties
      || coalesce(',' || governing.scope, '') || ']', ',') || ']' into governance
    from (
      select 'SCHEMA_GOVERNS' as edge, p.properties::text as properties,
          case when e.end_id <> all(tables) then e.properties::text end as scope
        from "SCHEMA_GOVERNS" e join "Policy" p on p.id = e.start_id where e.end_id = any(governed)
      union all
      select 'WRITE_GOVERNS', p.properties::text, case when e.end_id <> all(tables) then e.properties::text end
        from "WRITE_GOVERNS" e join "Policy" p on p.id = e.start_id where e.end_id = any(governed)
      union all
      select 'RETAINS', p.properties::text, case when e.end_id <> all(tables) then e.properties::text end
        from "RETAINS" e join "RetentionPolicy" p on p.id = e.start_id where e.end_id = any(governed)
      union all
      -- The pin is its newest event.
      select 'PINS', pin.properties, null from unnest(tables) t (id) cross join lateral (
        select p.properties::text as properties
          from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
          order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1) pin
      union all
      -- Grants that nobody ended; the caller's clock decides which of them hold now.
      select 'GRANT', jsonb_build_object('id', a.grant_id, 'grantee', a.grantee, 'policies', a.lifts -> 'policies',
          'table_uuid', a.table_uuid,
          'from_ms', floor(extract(epoch from a.from_at) * 1000)::bigint,
          'until_ms', floor(extract(epoch from a.until_at) * 1000)::bigint)::text, null
        from svc.access_grant a
        where a.tenant_id = svc.current_tenant() and a.ended_at is null and a.table_id = write_governance.table_id
          and a.lifts ? 'policies') governing;
  return governance;
end $$;

-- Enters the tenant and returns what governs a table when it is written, with its territory and what is at or above
-- the given prefixes (svc.territory_at).
create or replace function svc.load_policies(tenant uuid, table_id text, ancestors text, namespaces text)
returns table (governance text, territory text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
begin
  governance := svc.write_governance(table_id, namespaces);
  territory := svc.territory_at(table_id, ancestors);
  return next;
end $$;

revoke all on function svc.put_policy, svc.delete_policy, svc.unbind_policy, svc.write_governance, svc.load_policies from public;
grant execute on function svc.put_policy, svc.delete_policy, svc.unbind_policy, svc.write_governance, svc.load_policies to svc_tenant;
