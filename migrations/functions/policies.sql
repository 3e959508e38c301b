-- Policies of the write path: saving, removing and loading them. svc.put_policy and svc.delete_policy run with the
-- caller's rights and search_path.

-- Saves a policy and attaches it to a table.
create or replace function svc.put_policy(label text, edge text, policy jsonb, table_id text, table_properties jsonb) returns void
language plpgsql as $$
declare
  stored jsonb := policy || jsonb_build_object('tenant_id', svc.current_tenant());
  policy_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
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
  table_node := svc.ensure_node('Table', table_id, table_properties);
  perform svc.ensure_edge(edge, (policy ->> 'id') || chr(31) || table_id, policy_node, table_node, '{}');
  insert into svc.policy_history (tenant_id, policy_id, table_id, policy)
    values (svc.current_tenant(), policy ->> 'id', table_id, policy);
end $$;

-- Removes a policy with its edges. Returns whether there was one. It takes the lock of svc.put_policy: without it, a
-- put and a removal of one policy at once could leave an edge of the removed policy, and later puts would draw none.
create or replace function svc.delete_policy(policy_id text) returns boolean
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
  delete from "_ag_label_edge" where start_id = node or end_id = node;
  delete from "_ag_label_vertex" where id = node;
  insert into svc.policy_history (tenant_id, policy_id) values (svc.current_tenant(), policy_id);
  return true;
end $$;

-- What governs a table when it is written, as a JSON array of [edge, properties]. Runs in the tenant's context.
create or replace function svc.write_governance(table_id text) returns text
language plpgsql as $$
declare
  wanted ag_catalog.agtype := to_jsonb(table_id)::text::ag_catalog.agtype;
  governance text;
begin
  -- The sentinel is on the table with the empty name, and is loaded by the same path.
  select '[' || string_agg('["' || governing.edge || '",' || governing.properties || ']', ',') || ']' into governance
    from "Table" t cross join lateral (
      select 'SCHEMA_GOVERNS' as edge, p.properties::text as properties
        from "SCHEMA_GOVERNS" e join "Policy" p on p.id = e.start_id where e.end_id = t.id
      union all
      select 'WRITE_GOVERNS', p.properties::text
        from "WRITE_GOVERNS" e join "Policy" p on p.id = e.start_id where e.end_id = t.id
      union all
      select 'RETAINS', p.properties::text
        from "RETAINS" e join "RetentionPolicy" p on p.id = e.start_id where e.end_id = t.id
      union all
      -- The pin is its newest event.
      (select 'PINS', p.properties::text
        from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
        order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1)) governing
    where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype);
  return governance;
end $$;

-- Enters the tenant and returns what governs a table when it is written, with its territory and what is at or above
-- the given prefixes (svc.territory_at).
create or replace function svc.load_policies(tenant uuid, table_id text, ancestors text)
returns table (governance text, territory text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
begin
  governance := svc.write_governance(table_id);
  territory := svc.territory_at(table_id, ancestors);
  return next;
end $$;

revoke all on function svc.put_policy, svc.delete_policy, svc.write_governance, svc.load_policies from public;
grant execute on function svc.put_policy, svc.delete_policy, svc.write_governance, svc.load_policies to svc_tenant;
