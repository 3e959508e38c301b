-- What a commit asks of the store, each as one call that is a transaction of its own: the function enters the
-- tenant's context itself, and the context ends with that transaction. So a call is one message each way, where
-- begin, context, statement, commit and reset are five.

-- Enters a tenant's context until the transaction ends. Everything after it looks rows up by a key. A plan is
-- kept, and one that was made while a label was empty would read the whole label for good, so only plans by
-- index are admitted.
create function svc.enter(tenant uuid) returns void
language plpgsql as $$
declare
  name text := replace(tenant::text, '-', '_');
  was text;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  was := set_config('app.tenant_id', tenant::text, true);
  was := set_config('search_path', 't_' || name || ', g_' || name || ', svc, ag_catalog, pg_catalog', true);
  was := set_config('enable_seqscan', 'off', true);
  was := set_config('enable_hashjoin', 'off', true);
  was := set_config('enable_mergejoin', 'off', true);
end $$;

-- The label tables are named through search_path, so bodies below are parsed by the caller's tenant; only what
-- runs before svc.enter is qualified.

create function svc.load_policies(tenant uuid, table_id text) returns table (edge text, properties text)
language plpgsql as $$
declare
  wanted ag_catalog.agtype := to_jsonb(table_id)::text::ag_catalog.agtype;
begin
  perform svc.enter(tenant);
  -- The sentinel is on the table of the empty name, and comes by the same path.
  return query
    select 'SCHEMA_GOVERNS', p.properties::text
      from "Table" t join "SCHEMA_GOVERNS" e on e.end_id = t.id join "Policy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    select 'WRITE_GOVERNS', p.properties::text
      from "Table" t join "WRITE_GOVERNS" e on e.end_id = t.id join "Policy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    select 'RETAINS', p.properties::text
      from "Table" t join "RETAINS" e on e.end_id = t.id join "RetentionPolicy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    -- The pin is the newest of its events.
    select 'PINS', newest.properties::text
      from "Table" t cross join lateral (
        select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
        order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1) newest
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype);
end $$;

create function svc.open_intent(tenant uuid, commit_id uuid, table_id text, intent text, body bytea,
  lease_ms float8, upstream_ms float8) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  perform svc.enter(tenant);
  insert into svc.commit_intent (tenant_id, commit_id, table_id, intent, body, lease_until, upstream_until)
    values ($1, $2, $3, $4::jsonb, $5, clock_timestamp() + $6 * interval '1 ms', clock_timestamp() + $7 * interval '1 ms')
    on conflict (tenant_id, commit_id) do update set intent = excluded.intent;
end $$;

drop function svc.record_verdict(jsonb, bytea);
drop function svc.ingest_snapshot(jsonb, ag_catalog.graphid, ag_catalog.graphid);

-- Best effort (SPEC 3): what an accepted commit made of the table. The caller runs it in a savepoint.
create function svc.ingest_snapshot(v jsonb, table_node ag_catalog.graphid) returns ag_catalog.graphid
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  snapshot_node ag_catalog.graphid;
  parent_node ag_catalog.graphid;
  space jsonb;
  space_node ag_catalog.graphid;
  outer_node ag_catalog.graphid;
  newest numeric;
  known text;
  received numeric := (v ->> 'received_at_ms')::numeric;
  columns_md5 text := md5((v -> 'columns')::text);
begin
  insert into "Snapshot" as s (properties)
    values ((jsonb_build_object('id', v -> 'snapshot_id', 'tenant_id', tenant, 'metadata_location', v -> 'metadata_location',
      'table_id', v -> 'table_id', 'commit_id', v -> 'commit_id') || (v -> 'snapshot'))::text::agtype)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype]))
    do update set properties = s.properties operator(ag_catalog.||) (v -> 'snapshot')::text::agtype
    returning s.id into snapshot_node;

  if v -> 'snapshot' ->> 'parent_snapshot_id' is not null then
    select s.id into parent_node
      from "Snapshot" s
      where agtype_access_operator(variadic array[s.properties, '"snapshot_key"'::agtype])
          = to_jsonb((v ->> 'table_id') || chr(31) || (v -> 'snapshot' ->> 'parent_snapshot_id'))::text::agtype
        and s.id <> snapshot_node
      order by (agtype_access_operator(variadic array[s.properties, '"id"'::agtype])
          = (v -> 'base_snapshot_id')::text::agtype) desc, s.id desc
      limit 1;
    if parent_node is not null then
      insert into "PARENT_OF" (start_id, end_id, properties)
        values (parent_node, snapshot_node, jsonb_build_object('id', v -> 'snapshot_id', 'tenant_id', tenant)::text::agtype)
        on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
    end if;
  end if;

  -- One transaction writes a table's edge and all levels above it: where the edge is, they are.
  perform from "IN_NAMESPACE" e
    where agtype_access_operator(variadic array[e.properties, '"id"'::agtype])
      = to_jsonb('table' || chr(31) || (v ->> 'table_id'))::text::agtype;
  if not found then
    for space in select * from jsonb_array_elements(v -> 'namespaces') loop
      space_node := svc.ensure_node('Namespace', space ->> 'id', jsonb_build_object('name', space ->> 'name'));
      if outer_node is not null then
        perform svc.ensure_edge('IN_NAMESPACE', 'namespace' || chr(31) || (space ->> 'id'), space_node, outer_node, '{}');
      end if;
      outer_node := space_node;
    end loop;
    -- A table and a namespace may have one key: `a.b` and `a.b`.
    perform svc.ensure_edge('IN_NAMESPACE', 'table' || chr(31) || (v ->> 'table_id'), table_node, outer_node, '{}');
  end if;

  -- The row lock orders concurrent ingests; an older commit, recovered late, must not bring back old columns.
  select agtype_access_operator(variadic array[t.properties, '"columns_as_of_ms"'::agtype])::text::numeric,
      agtype_access_operator(variadic array[t.properties, '"columns_md5"'::agtype])::text
    into newest, known
    from "Table" t where t.id = table_node for no key update;
  if newest is not null and newest > received then return snapshot_node; end if;
  update "Table"
    set properties = properties operator(ag_catalog.||)
      ((v -> 'table') || jsonb_build_object('columns_as_of_ms', received, 'columns_md5', columns_md5))::text::agtype
    where id = table_node;

  -- Most commits leave the columns as they are. What a late scan has attached since shows in the number.
  if trim(both '"' from known) = columns_md5
    and jsonb_array_length(v -> 'columns') = (select count(*) from "HAS_COLUMN" h where h.start_id = table_node)
  then return snapshot_node; end if;

  insert into "Column" (properties)
    select (c || jsonb_build_object('tenant_id', tenant))::text::agtype
    from jsonb_array_elements(v -> 'columns') c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype]))
    do update set properties = "Column".properties operator(ag_catalog.||) excluded.properties;
  -- A dropped column keeps its node (its tags are history) and loses its place in the table.
  delete from "HAS_COLUMN" h
    where h.start_id = table_node and h.end_id not in (
      select n.id from jsonb_array_elements(v -> 'columns') c
      join "Column" n
        on agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype);
  insert into "HAS_COLUMN" (start_id, end_id, properties)
    select table_node, n.id, jsonb_build_object('id', c ->> 'id', 'tenant_id', tenant)::text::agtype
    from jsonb_array_elements(v -> 'columns') c
    join "Column" n
      on agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  return snapshot_node;
end $$;

-- One verdict, whole (SPEC 2.6, 2.7). Locks are taken in one order (audit row, Principal, Table, Snapshot,
-- Namespace from the root, Column), so that concurrent verdicts do not deadlock. A node that others share is
-- inserted with DO NOTHING, which does not lock one that exists.
create function svc.record_verdict(tenant uuid, verdict text, body bytea,
  out recorded boolean, out ingested boolean, out ingest_error text)
language plpgsql as $$
declare
  v jsonb := verdict::jsonb;
  this_commit uuid := (v ->> 'commit_id')::uuid;
  this_action text := v ->> 'action';
  this_decision text := v ->> 'decision';
  location text := v ->> 'metadata_location';
  made timestamptz;
  event ag_catalog.agtype;
  principal_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
begin
  perform svc.enter(tenant);

  insert into svc.audit_log as a (tenant_id, commit_id, action, committer, decision, reason, principal_source, principal, table_id,
      namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
      policies, outcomes, received_at)
    values (tenant, this_commit, this_action, v ->> 'committer', this_decision, v ->> 'reason', v ->> 'principal_source',
      v -> 'principal', v ->> 'table_id', v -> 'namespace', v ->> 'table_name', (v ->> 'credential_id')::uuid,
      v ->> 'body_sha256', record_verdict.body, v ->> 'base_metadata_location', location,
      v -> 'policies', v -> 'outcomes', to_timestamp((v ->> 'received_at_ms')::numeric / 1000))
    on conflict on constraint audit_log_pkey do nothing
    returning a.created_at into made;
  recorded := made is not null;
  if not recorded then
    select a.created_at into made from svc.audit_log a
      where a.tenant_id = tenant and a.commit_id = this_commit
        and a.action = this_action and a.decision = this_decision and a.metadata_location is not distinct from location;
    if made is null then
      raise exception 'commit % has another verdict already', this_commit using errcode = 'unique_violation';
    end if;
  end if;
  delete from svc.commit_intent i where i.tenant_id = tenant and i.commit_id = this_commit;

  ingested := false;
  if not svc.is_table_action(this_action) then return; end if;

  select p.id into principal_node from "Principal" p
    where agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) = (v -> 'principal_id')::text::agtype;
  if principal_node is null then
    principal_node := svc.ensure_node('Principal', v ->> 'principal_id', jsonb_build_object('sub', v ->> 'committer'));
  end if;
  select t.id into table_node from "Table" t
    where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = (v -> 'table_id')::text::agtype;
  if table_node is null then
    table_node := svc.ensure_node('Table', v ->> 'table_id',
      jsonb_build_object('namespace', v -> 'namespace', 'name', v ->> 'table_name'));
  end if;
  event := jsonb_build_object('id', this_commit, 'tenant_id', tenant, 'commit_id', this_commit, 'committer', v ->> 'committer',
    'decision', this_decision, 'reason', v ->> 'reason', 'created_at', made)::text::agtype;
  insert into "INTENDED_WRITE" (start_id, end_id, properties) values (principal_node, table_node, event)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  if location is null then return; end if;

  begin
    snapshot_node := svc.ingest_snapshot(v, table_node);
    ingested := true;
  exception when others then
    ingest_error := sqlstate || ' ' || sqlerrm;
    snapshot_node := svc.ensure_node('Snapshot', v ->> 'snapshot_id',
      jsonb_build_object('metadata_location', location, 'table_id', v ->> 'table_id', 'commit_id', this_commit));
  end;
  insert into "ACTUAL_WRITE" (start_id, end_id, properties) values (snapshot_node, table_node, event)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
end $$;

-- Whom a service session's secret (its SHA-256) or id stands for, and the tenant's catalog credential of a
-- {prefix}, which is asked for in the same breath. It precedes the tenant, so it runs as svc_admin; what it
-- gives needs the secret, or an access token that was issued for the id.
create index service_session_id on svc.service_session (session_id);
grant create on schema svc to svc_admin;
set local role svc_admin;
create function svc.find_service_session(digest bytea, id uuid, prefix text)
returns table (session_id uuid, tenant_id uuid, organization_id text, principal_sub text, principal_email text,
  principal_roles jsonb, scopes jsonb, credential_id uuid, version bigint, catalog_kind text, nickname text,
  endpoint text, config jsonb, sealed bytea)
language sql stable security definer set search_path = svc, pg_catalog as $$
  select s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email, s.principal_roles, s.scopes,
    c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed
  from svc.service_session s join svc.tenant t using (tenant_id)
    left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
  where (s.secret_sha256 = digest or s.session_id = id) and s.revoked_at is null and t.state = 'active'
    and (s.expires_at is null or s.expires_at > clock_timestamp())
$$;
revoke all on function svc.find_service_session from public;
grant execute on function svc.find_service_session to svc_tenant;
set local role svc_owner;
revoke create on schema svc from svc_admin;

revoke all on function svc.enter, svc.load_policies, svc.open_intent, svc.ingest_snapshot, svc.record_verdict from public;
grant execute on function svc.enter, svc.load_policies, svc.open_intent, svc.ingest_snapshot, svc.record_verdict to svc_tenant;
