-- Functions in the schema of each tenant: copies of those by which a request reads and writes the tenant's data.
-- PostgreSQL keeps the plans of a function's statements with the function, and makes them again where the search_path is
-- another one than at the last call. A function that all tenants share would be planned again at each change of tenant,
-- which took a commit longer than all of its statements (docs/adr/0025-functions-of-a-tenant.md).
--
-- The texts stand in the other files, for svc, where they were checked: a check of a copy would keep its memory until the
-- connection ends. A copy calls copies. Runs as svc_owner, for each tenant that is made and after each change of a text.
create or replace function svc.make_tenant_functions(tenant uuid) returns void
language plpgsql set check_function_bodies = off as $$
declare
  copied constant text[] := array['begin_commit', 'begin_keyed_commit', 'claim_key', 'claim_territory',
    'complete_vended', 'end_territory_sweep', 'ensure_edge', 'ensure_node', 'governance',
    'ingest_snapshot', 'ingest_table', 'load_policies', 'load_read', 'number_events', 'open_intent',
    'open_keyed_intent', 'quarantined', 'read_events', 'record_unjudged', 'record_usage', 'record_verdict',
    'refuse_key', 'reserve_vended', 'restricting_roles', 'sources', 'spellings', 'territories',
    'territory_at', 'told_of_key', 'write_governance'];
  own constant text := 't_' || replace(tenant::text, '-', '_');
  original record;
  definition text;
  name text;
  made oid[] := '{}';
  signature text;
begin
  -- A tenant that is being made has no schema yet. It gets its functions once it has.
  if to_regnamespace(own) is null then return; end if;
  for original in
    select p.oid, p.proname, oidvectortypes(p.proargtypes) as types from pg_proc p
      where p.pronamespace = 'svc'::regnamespace and p.proname = any(copied)
  loop
    definition := pg_get_functiondef(original.oid);
    foreach name in array copied loop
      definition := replace(definition, 'svc.' || name || '(', own || '.' || name || '(');
    end loop;
    execute definition;
    made := made || format('%I.%I(%s)', own, original.proname, original.types)::regprocedure::oid;
  end loop;
  -- Of all at once, which takes no lock on each of them: a change of a text concerns all tenants in one transaction.
  execute format('revoke all on all functions in schema %I from public', own);
  execute format('grant execute on all functions in schema %I to svc_tenant', own);
  -- Of an older version.
  for signature in
    select p.oid::regprocedure::text from pg_proc p where p.pronamespace = own::regnamespace and p.oid <> all(made)
  loop
    execute 'drop function ' || signature;
  end loop;
end $$;

revoke all on function svc.make_tenant_functions from public;
