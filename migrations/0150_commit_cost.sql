-- What a commit asks of the store, at less cost. Each of its two calls usually comes after a pause, when nothing of
-- it is in the processor's caches any more, so statements, tables and conversions are counted here: what is the same
-- from one commit of a table to the next is found unchanged by one row of its own.

-- What the newest ingest of a table said of it. Its lock orders concurrent ingests, and nothing that changes with
-- each commit is indexed, so a change of it writes no index.
create table svc.ingested_table (
  tenant_id uuid not null,
  table_id text not null,
  -- When that commit was received: an older one, recovered late, must not bring back old columns.
  as_of_ms numeric not null,
  -- Of the table's properties and columns, as the caller has made it of them; null where they are not known.
  described_digest text,
  column_count int,
  -- The snapshot that it brought, the parent of the next one as a rule: its node, and what that is found by.
  snapshot_node ag_catalog.graphid,
  snapshot_id text,
  snapshot_key text,
  primary key (tenant_id, table_id)
) with (fillfactor = 40);
alter table svc.ingested_table enable row level security;
alter table svc.ingested_table force row level security;
create policy own_tenant on svc.ingested_table using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.ingested_table to svc_tenant;

-- As in 0080. Gives something, so that it can be called in an expression, which costs less than a query.
drop function svc.enter(uuid);
create function svc.enter(tenant uuid) returns boolean
language plpgsql as $$
declare
  name text := replace(tenant::text, '-', '_');
  was text;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  was := set_config('app.tenant_id', tenant::text, true);
  was := set_config('search_path', 't_' || name || ', g_' || name || ', svc, ag_catalog, pg_catalog', true);
  was := set_config('enable_seqscan', 'off', true);
  was := set_config('enable_bitmapscan', 'off', true);
  was := set_config('enable_hashjoin', 'off', true);
  was := set_config('enable_mergejoin', 'off', true);
  return true;
end $$;

-- As in 0110, with one look at the table, and one at the sentinel's, for all kinds of edges.
create or replace function svc.write_governance(table_id text) returns text
language plpgsql as $$
declare
  wanted ag_catalog.agtype := to_jsonb(table_id)::text::ag_catalog.agtype;
  governance text;
begin
  -- The sentinel is on the table of the empty name, and comes by the same path.
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
      -- The pin is the newest of its events.
      (select 'PINS', p.properties::text
        from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
        order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1)) governing
    where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype);
  return governance;
end $$;

create or replace function svc.load_policies(tenant uuid, table_id text) returns table (governance text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
begin
  governance := svc.write_governance(table_id);
  return next;
end $$;

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

-- The tenant of the session, if what find_service_session gives of it has this fingerprint; else null. A function of
-- its own, since only PL/pgSQL keeps its plans for the next call, and only a look-up by one key needs one index.
grant create on schema svc to svc_admin;
set local role svc_admin;
create function svc.confirm_service_session(digest bytea, id uuid, prefix text, fingerprint text) returns uuid
language plpgsql stable security definer set search_path = svc, pg_catalog as $$
declare
  tenant uuid;
  found text;
begin
  if id is null then
    select s.tenant_id,
      encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
        s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
        c.sealed)::text, 'UTF8')), 'hex') into tenant, found
    from svc.service_session s join svc.tenant t using (tenant_id)
      left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
    where s.secret_sha256 = digest and s.revoked_at is null and t.state = 'active'
      and (s.expires_at is null or s.expires_at > clock_timestamp());
  else
    select s.tenant_id,
      encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
        s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
        c.sealed)::text, 'UTF8')), 'hex') into tenant, found
    from svc.service_session s join svc.tenant t using (tenant_id)
      left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
    where s.session_id = id and s.revoked_at is null and t.state = 'active'
      and (s.expires_at is null or s.expires_at > clock_timestamp());
  end if;
  return case when found = fingerprint then tenant end;
end $$;
revoke all on function svc.confirm_service_session from public;
grant execute on function svc.confirm_service_session to svc_tenant;
set local role svc_owner;
revoke create on schema svc from svc_admin;

-- As in 0110.
create or replace function svc.begin_commit(digest bytea, session_id uuid, prefix text, fingerprint text, table_id text,
  commit_id uuid, intent text, body bytea, lease_ms float8, upstream_ms float8) returns table (governance text)
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
  governance := svc.write_governance($5);
  return next;
end $$;

drop function svc.record_verdict(uuid, text, bytea);
drop function svc.ingest_snapshot(jsonb, ag_catalog.graphid);

-- What a commit says of its table, where it is not what the one before it said: namespaces, properties, columns.
create function svc.ingest_table(v jsonb, described jsonb, digest text, table_node ag_catalog.graphid,
  snapshot_node ag_catalog.graphid) returns void
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  this_table text := v ->> 'table_id';
  received numeric := (v ->> 'received_at_ms')::numeric;
  columns jsonb := described -> 'columns';
  newest numeric;
  space jsonb;
  space_node ag_catalog.graphid;
  outer_node ag_catalog.graphid;
begin
  -- One transaction writes a table's edge, all levels above it and the row: where that is, they are.
  perform from svc.ingested_table g where g.tenant_id = tenant and g.table_id = this_table;
  if not found then
    for space in select * from jsonb_array_elements(described -> 'namespaces') loop
      space_node := svc.ensure_node('Namespace', space ->> 'id', jsonb_build_object('name', space ->> 'name'));
      if outer_node is not null then
        perform svc.ensure_edge('IN_NAMESPACE', 'namespace' || chr(31) || (space ->> 'id'), space_node, outer_node, '{}');
      end if;
      outer_node := space_node;
    end loop;
    -- A table and a namespace may have one key: `a.b` and `a.b`.
    perform svc.ensure_edge('IN_NAMESPACE', 'table' || chr(31) || this_table, table_node, outer_node, '{}');
    insert into svc.ingested_table (tenant_id, table_id, as_of_ms) values (tenant, this_table, received)
      on conflict on constraint ingested_table_pkey do nothing;
  end if;

  select g.as_of_ms into strict newest from svc.ingested_table g
    where g.tenant_id = tenant and g.table_id = this_table for no key update;
  if newest > received then return; end if;
  update "Table"
    set properties = properties operator(ag_catalog.||)
      ((described -> 'table') || jsonb_build_object('columns_md5', md5(columns::text)))::text::agtype
    where id = table_node;
  insert into "Column" (properties)
    select (c || jsonb_build_object('tenant_id', tenant))::text::agtype
    from jsonb_array_elements(columns) c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype]))
    do update set properties = "Column".properties operator(ag_catalog.||) excluded.properties;
  -- A dropped column keeps its node (its tags are history) and loses its place in the table.
  delete from "HAS_COLUMN" h
    where h.start_id = table_node and h.end_id not in (
      select n.id from jsonb_array_elements(columns) c
      join "Column" n
        on agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype);
  insert into "HAS_COLUMN" (start_id, end_id, properties)
    select table_node, n.id, jsonb_build_object('id', c ->> 'id', 'tenant_id', tenant)::text::agtype
    from jsonb_array_elements(columns) c
    join "Column" n
      on agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  update svc.ingested_table g
    set as_of_ms = received, described_digest = digest, column_count = jsonb_array_length(columns),
      snapshot_node = ingest_table.snapshot_node, snapshot_id = v ->> 'snapshot_id', snapshot_key = v ->> 'snapshot_key'
    where g.tenant_id = tenant and g.table_id = this_table;
end $$;

-- Best effort (SPEC 3): what an accepted commit made of the table. The caller runs it in a savepoint.
create function svc.ingest_snapshot(v jsonb, snapshot ag_catalog.agtype, described text, digest text,
  table_node ag_catalog.graphid, parent_node ag_catalog.graphid) returns ag_catalog.graphid
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  this_table text := v ->> 'table_id';
  received numeric := (v ->> 'received_at_ms')::numeric;
  parent ag_catalog.graphid := parent_node;
  node ag_catalog.graphid;
begin
  insert into "Snapshot" (properties) values (snapshot)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing
    returning id into node;
  if node is null then
    update "Snapshot"
      set properties = properties operator(ag_catalog.||)
        (snapshot::text::jsonb - '{metadata_location,table_id,commit_id}'::text[])::text::agtype
      where agtype_access_operator(variadic array[properties, '"id"'::agtype]) = (v -> 'snapshot_id')::text::agtype
      returning id into strict node;
  end if;

  if v ->> 'parent_key' is not null then
    if parent is null then
      select s.id into parent
        from "Snapshot" s
        where agtype_access_operator(variadic array[s.properties, '"snapshot_key"'::agtype]) = (v -> 'parent_key')::text::agtype
          and s.id <> node
        order by (agtype_access_operator(variadic array[s.properties, '"id"'::agtype])
            = (v -> 'base_snapshot_id')::text::agtype) desc, s.id desc
        limit 1;
    end if;
    if parent is not null then
      insert into "PARENT_OF" (start_id, end_id, properties)
        values (parent, node,
          jsonb_build_object('id', v -> 'snapshot_id', 'tenant_id', tenant)::text::agtype)
        on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
    end if;
  end if;

  -- Most commits leave the table as it is. What a late scan has attached since shows in the number.
  update svc.ingested_table g
    set as_of_ms = received, snapshot_node = node, snapshot_id = v ->> 'snapshot_id',
      snapshot_key = v ->> 'snapshot_key'
    where g.tenant_id = tenant and g.table_id = this_table and g.as_of_ms <= received and g.described_digest = digest
      and g.column_count = (select count(*) from "HAS_COLUMN" h where h.start_id = table_node);
  if not found then perform svc.ingest_table(v, described::jsonb, digest, table_node, node); end if;
  return node;
end $$;

-- One verdict, whole (SPEC 2.6, 2.7). Locks are taken in one order (audit row, Principal, Table, Snapshot, the table's
-- row, Namespace from the root, Column), so that concurrent verdicts do not deadlock. A node that others share is
-- inserted with DO NOTHING, which does not lock one that exists.
--
-- `event` is the JSON of the WriteEvent but for created_at, `snapshot` that of the Snapshot, `described` that of the
-- table; the last two, and the digest of the third, are null where no metadata was written.
create function svc.record_verdict(tenant uuid, verdict text, event text, snapshot text, described text, digest text,
  body bytea, out recorded boolean, out ingested boolean, out ingest_error text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  v jsonb := verdict::jsonb;
  this_commit uuid := (v ->> 'commit_id')::uuid;
  this_action text := v ->> 'action';
  location text := v ->> 'metadata_location';
  made timestamptz;
  write_event ag_catalog.agtype;
  principal_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  parent_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
begin
  with ended as (
    delete from svc.commit_intent i where i.tenant_id = record_verdict.tenant and i.commit_id = this_commit)
  insert into svc.audit_log as a (tenant_id, commit_id, action, committer, decision, reason, principal_source, principal, table_id,
      namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
      policies, outcomes, received_at)
    values (tenant, this_commit, this_action, v ->> 'committer', v ->> 'decision', v ->> 'reason', v ->> 'principal_source',
      v -> 'principal', v ->> 'table_id', v -> 'namespace', v ->> 'table_name', (v ->> 'credential_id')::uuid,
      v ->> 'body_sha256', record_verdict.body, v ->> 'base_metadata_location', location,
      v -> 'policies', v -> 'outcomes', to_timestamp((v ->> 'received_at_ms')::numeric / 1000))
    on conflict on constraint audit_log_pkey do nothing
    returning a.created_at into made;
  recorded := made is not null;
  if not recorded then
    select a.created_at into made from svc.audit_log a
      where a.tenant_id = tenant and a.commit_id = this_commit and a.action = this_action
        and a.decision = v ->> 'decision' and a.metadata_location is not distinct from location;
    if made is null then
      raise exception 'commit % has another verdict already', this_commit using errcode = 'unique_violation';
    end if;
  end if;

  ingested := false;
  if not svc.is_table_action(this_action) then return; end if;

  select p.id, t.id, case when g.snapshot_key = v ->> 'parent_key' then g.snapshot_node end
    into principal_node, table_node, parent_node
    from (values (true)) one
      left join "Principal" p
        on agtype_access_operator(variadic array[p.properties, '"id"'::agtype]) = (v -> 'principal_id')::text::agtype
      left join "Table" t
        on agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = (v -> 'table_id')::text::agtype
      left join svc.ingested_table g
        on g.tenant_id = record_verdict.tenant and g.table_id = v ->> 'table_id' and g.snapshot_id = v ->> 'base_snapshot_id';
  if principal_node is null then
    principal_node := svc.ensure_node('Principal', v ->> 'principal_id', jsonb_build_object('sub', v ->> 'committer'));
  end if;
  if table_node is null then
    table_node := svc.ensure_node('Table', v ->> 'table_id',
      jsonb_build_object('namespace', v -> 'namespace', 'name', v ->> 'table_name'));
  end if;
  write_event := (left(event, -1) || ',"created_at":' || to_json(made) || '}')::agtype;
  insert into "INTENDED_WRITE" (start_id, end_id, properties) values (principal_node, table_node, write_event)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  if location is null then return; end if;

  begin
    snapshot_node := svc.ingest_snapshot(v, snapshot::agtype, described, digest, table_node, parent_node);
    ingested := true;
  exception when others then
    ingest_error := sqlstate || ' ' || sqlerrm;
    snapshot_node := svc.ensure_node('Snapshot', v ->> 'snapshot_id',
      jsonb_build_object('metadata_location', location, 'table_id', v ->> 'table_id', 'commit_id', this_commit));
  end;
  insert into "ACTUAL_WRITE" (start_id, end_id, properties) values (snapshot_node, table_node, write_event)
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
end $$;

revoke all on function svc.enter, svc.ingest_table, svc.ingest_snapshot, svc.record_verdict from public;
grant execute on function svc.enter, svc.ingest_table, svc.ingest_snapshot, svc.record_verdict to svc_tenant;
