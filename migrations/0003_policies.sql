-- Saving and removing a policy, each in one call. Runs with the caller's rights and search_path.

create function svc.put_policy(label text, edge text, policy jsonb, table_id text, table_properties jsonb) returns void
language plpgsql as $$
declare
  stored jsonb := policy || jsonb_build_object('tenant_id', svc.current_tenant());
  policy_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  other ag_catalog.agtype;
begin
  -- Two puts of one id that differ in kind must not both find nothing.
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
end $$;

create function svc.delete_policy(policy_id text) returns boolean
language plpgsql as $$
declare
  node ag_catalog.graphid;
  key ag_catalog.agtype := to_jsonb(policy_id)::text::ag_catalog.agtype;
begin
  select p.id into node
    from (select id, properties from "Policy" union all select id, properties from "RetentionPolicy") p
    where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype]) = key;
  if node is null then return false; end if;
  delete from "_ag_label_edge" where start_id = node or end_id = node;
  delete from "_ag_label_vertex" where id = node;
  return true;
end $$;

revoke all on function svc.put_policy, svc.delete_policy from public;
grant execute on function svc.put_policy, svc.delete_policy to svc_tenant;
