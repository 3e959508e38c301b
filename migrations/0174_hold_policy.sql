-- As in 0003, under the lock that svc.put_policy takes. Without it a put and a removal of one policy at once could
-- leave an edge of a policy that is gone, and for its sake every later put of that policy drew none: the policy was
-- saved, and governed nothing.
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
