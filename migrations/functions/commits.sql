-- What a commit asks of the store before its verdict. A function that takes `tenant` enters the tenant's context
-- itself, and the context ends with the call's transaction. So a call is one message each way, where begin, context,
-- statement, commit and reset are five. The label tables are named through the search_path that svc.enter sets.

-- Whether an action of the audit log is about a table, and so drawn in the graph.
create or replace function svc.is_table_action(action text) returns boolean
  language sql immutable parallel safe
  return action like '%-table';

-- Makes the intent of a commit durable, or replaces it with a later one of the same commit.
create or replace function svc.open_intent(tenant uuid, commit_id uuid, table_id text, intent text, body bytea,
  lease_ms float8, upstream_ms float8) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  entered boolean := svc.enter(tenant);
begin
  insert into svc.commit_intent (tenant_id, commit_id, table_id, intent, body, lease_until, upstream_until)
    values ($1, $2, $3, $4::jsonb, $5, clock_timestamp() + $6 * interval '1 ms', clock_timestamp() + $7 * interval '1 ms')
    on conflict (tenant_id, commit_id) do update set intent = excluded.intent;
end $$;

-- The start of a commit by a known caller: confirms its session and credential, opens the intent, and returns the
-- policies and the territory, in one call. The tenant is the session's own. Returns no row, and writes nothing, where the session is
-- revoked or expired or the fingerprint has changed.
create or replace function svc.begin_commit(digest bytea, session_id uuid, prefix text, fingerprint text, table_id text,
  commit_id uuid, intent text, body bytea, lease_ms float8, upstream_ms float8, ancestors text, namespaces text)
returns table (governance text, territory text)
language plpgsql as $$
#variable_conflict use_column
declare
  tenant uuid := svc.confirm_service_session(digest, session_id, prefix, fingerprint);
  entered boolean;
begin
  if tenant is null then return; end if;
  entered := svc.enter(tenant);
  insert into svc.commit_intent (tenant_id, commit_id, table_id, intent, body, lease_until, upstream_until)
    values (tenant, $6, $5, $7::jsonb, $8, clock_timestamp() + $9 * interval '1 ms',
      clock_timestamp() + $10 * interval '1 ms')
    on conflict (tenant_id, commit_id) do update set intent = excluded.intent;
  governance := svc.write_governance($5, $12);
  territory := svc.territory_at($5, $11);
  return next;
end $$;

revoke all on function svc.is_table_action, svc.open_intent, svc.begin_commit from public;
grant execute on function svc.is_table_action, svc.open_intent, svc.begin_commit to svc_tenant;
