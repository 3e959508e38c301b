-- The end of a commit: its verdict in the audit log and in the graph. A verdict often comes after a pause, when the
-- processor's caches are cold, so statements, tables and conversions are kept few. What stays the same from one
-- commit of a table to the next is recognized by one row of svc.ingested_table.

-- Writes what a commit changed of the table's description: namespaces, properties, columns. Columns are looked up one
-- by one. A join over a graph without statistics would read the columns of all tables, and an embedded database never
-- has statistics.
create or replace function svc.ingest_table(v jsonb, described jsonb, digest text, table_node ag_catalog.graphid,
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
  -- One transaction writes the table's edge, all namespaces above it and this row. Where the row exists, they do.
  perform from svc.ingested_table g where g.tenant_id = tenant and g.table_id = this_table;
  if not found then
    for space in select * from jsonb_array_elements(described -> 'namespaces') loop
      space_node := svc.ensure_node('Namespace', space ->> 'id', jsonb_build_object('name', space ->> 'name'));
      if outer_node is not null then
        perform svc.ensure_edge('IN_NAMESPACE', 'namespace' || chr(31) || (space ->> 'id'), space_node, outer_node, '{}');
      end if;
      outer_node := space_node;
    end loop;
    -- A table and a namespace may have the same key, as table `a.b` and namespace `a.b`.
    perform svc.ensure_edge('IN_NAMESPACE', 'table' || chr(31) || this_table, table_node, outer_node, '{}');
    insert into svc.ingested_table (tenant_id, table_id, as_of_ms) values (tenant, this_table, received)
      on conflict on constraint ingested_table_pkey do nothing;
  end if;

  select g.as_of_ms into strict newest from svc.ingested_table g
    where g.tenant_id = tenant and g.table_id = this_table for no key update;
  if newest > received then return; end if;
  -- Access was granted to another table where it has another uuid: one that was replaced in the catalog itself.
  perform svc.end_access_of_others(this_table, lower(described -> 'table' ->> 'table_uuid'));
  update "Table"
    set properties = properties operator(ag_catalog.||)
      ((described -> 'table') || jsonb_build_object('columns_md5', md5(columns::text)))::text::agtype
    where id = table_node;
  insert into "Column" (properties)
    select (c || jsonb_build_object('tenant_id', tenant))::text::agtype
    from jsonb_array_elements(columns) c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype]))
    do update set properties = "Column".properties operator(ag_catalog.||) excluded.properties;
  -- A dropped column loses its place in the table, and keeps its node because its tags are history.
  delete from "HAS_COLUMN" h
    where h.start_id = table_node and h.end_id not in (
      select (select n.id from "Column" n
          where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype)
        from jsonb_array_elements(columns) c);
  insert into "HAS_COLUMN" (start_id, end_id, properties)
    select table_node, (select n.id from "Column" n
        where agtype_access_operator(variadic array[n.properties, '"id"'::agtype]) = (c -> 'id')::text::agtype),
      jsonb_build_object('id', c ->> 'id', 'tenant_id', tenant)::text::agtype
    from jsonb_array_elements(columns) c
    on conflict (agtype_access_operator(variadic array[properties, '"id"'::agtype])) do nothing;
  update svc.ingested_table g
    set as_of_ms = received, described_digest = digest, column_count = jsonb_array_length(columns),
      snapshot_node = ingest_table.snapshot_node, snapshot_id = v ->> 'snapshot_id', snapshot_key = v ->> 'snapshot_key'
    where g.tenant_id = tenant and g.table_id = this_table;
end $$;

-- Best effort: writes what an accepted commit made of the table. The caller runs it in a savepoint.
create or replace function svc.ingest_snapshot(v jsonb, snapshot ag_catalog.agtype, described text, digest text,
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

  -- Most commits do not change the table. Columns that a late scan has attached since show in their number.
  update svc.ingested_table g
    set as_of_ms = received, snapshot_node = node, snapshot_id = v ->> 'snapshot_id',
      snapshot_key = v ->> 'snapshot_key'
    where g.tenant_id = tenant and g.table_id = this_table and g.as_of_ms <= received and g.described_digest = digest
      and g.column_count = (select count(*) from "HAS_COLUMN" h where h.start_id = table_node);
  if not found then perform svc.ingest_table(v, described::jsonb, digest, table_node, node); end if;
  return node;
end $$;

-- Records one verdict whole: the audit row, the end of the intent, and the graph. Locks are taken in one order (policy
-- set, audit row, Principal, Table, Snapshot, the table's row, Namespace from the root, Column), so that concurrent verdicts do
-- not deadlock. A node that others share is inserted with DO NOTHING, which does not lock an existing one.
--
-- `event` is the JSON of the WriteEvent without created_at, `snapshot` that of the Snapshot, `described` that of the
-- table. The last two, and the digest of the third, are null where no metadata was written, or nothing but its location
-- is known: then nothing is ingested.
create or replace function svc.record_verdict(tenant uuid, verdict text, event text, snapshot text, described text, digest text,
  body bytea, out recorded boolean, out ingested boolean, out ingest_error text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  -- Drawn before the number of the audit row, on which svc.number_events relies.
  this_transaction xid8 := pg_current_xact_id();
  v jsonb := verdict::jsonb;
  this_commit uuid := (v ->> 'commit_id')::uuid;
  this_action text := v ->> 'action';
  location text := v ->> 'metadata_location';
  received timestamptz := to_timestamp((v ->> 'received_at_ms')::numeric / 1000);
  policies_sha256 bytea := case when v -> 'policies' <> '[]' then sha256(convert_to((v -> 'policies')::text, 'UTF8')) end;
  made timestamptz;
  write_event ag_catalog.agtype;
  principal_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  parent_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
begin
  -- Most commits are judged by a set that is there.
  if policies_sha256 is not null then
    insert into svc.policy_set (tenant_id, sha256, policies) values (tenant, policies_sha256, v -> 'policies')
      on conflict on constraint policy_set_pkey do nothing;
  end if;
  with ended as (
    delete from svc.commit_intent i where i.tenant_id = record_verdict.tenant and i.commit_id = this_commit)
  insert into svc.audit_log as a (tenant_id, commit_id, action, committer, decision, reason, principal_source, principal, table_id,
      namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
      policies, policy_set, outcomes, received_at, request_id, previous_metadata_location, base_held,
      session_id, session_name, client, application_id, branch)
    values (tenant, this_commit, this_action, v ->> 'committer', v ->> 'decision', v ->> 'reason', v ->> 'principal_source',
      v -> 'principal', v ->> 'table_id', v -> 'namespace', v ->> 'table_name', (v ->> 'credential_id')::uuid,
      v ->> 'body_sha256', record_verdict.body, v ->> 'base_metadata_location', location,
      case when policies_sha256 is null then v -> 'policies' end, policies_sha256, v -> 'outcomes', received,
      v ->> 'request_id', v ->> 'previous_metadata_location', v ->> 'base_held',
      (v ->> 'session_id')::uuid, v ->> 'session_name', v ->> 'client', v ->> 'application_id', v ->> 'branch')
    on conflict on constraint audit_log_pkey do nothing
    returning a.created_at into made;
  recorded := made is not null;
  if not recorded then
    select a.created_at into made from svc.audit_log a
      where a.tenant_id = tenant and a.commit_id = this_commit and a.received_at = received and a.action = this_action
        and a.decision = v ->> 'decision' and a.metadata_location is not distinct from location;
    if made is null then
      raise exception 'commit % has another verdict already', this_commit using errcode = 'unique_violation';
    end if;
  end if;

  -- The files stay where they are, so their territory follows the table to its new name.
  if recorded and v ? 'renamed_to' then
    perform svc.rename_territory(v);
    perform svc.rename_lineage(v ->> 'table_id', v -> 'renamed_to' ->> 'table_id');
    perform svc.carry_classifications(v ->> 'table_id', v -> 'renamed_to');
    perform svc.carry_access(v ->> 'table_id', v -> 'renamed_to');
  elsif recorded and this_action in ('create-table', 'register-table') and v ->> 'decision' = 'APPROVED' then
    delete from lineage_renamed r where r.old_key = v ->> 'table_id';
    perform svc.end_access(v ->> 'table_id', 'another table has the name', true);
  end if;
  if recorded and this_action in ('drop-table', 'unregister-table') and v ->> 'decision' = 'APPROVED' then
    -- Another table may take the name.
    perform svc.end_access(v ->> 'table_id', 'the table was dropped', true);
    update svc.territory t set dropped_at = made
      where t.tenant_id = record_verdict.tenant and t.table_id = v ->> 'table_id' and t.catalog = v ->> 'catalog'
        and t.released_at is null;
    delete from svc.table_name n
      where n.tenant_id = record_verdict.tenant and n.kind = 'table' and n.table_id = v ->> 'table_id'
        and n.catalog_md5 = md5(v ->> 'catalog');
  end if;
  if recorded and v ? 'shadow_denials' then
    insert into svc.event (tenant_id, type, subject, data)
      values (record_verdict.tenant, 'commit.shadow_denied', v ->> 'table_id', jsonb_build_object('commit_id', this_commit,
        'committer', v ->> 'committer', 'namespace', v -> 'namespace', 'table', v ->> 'table_name',
        'policies', v -> 'shadow_denials'));
  end if;
  -- What the snapshots of an accepted change name is checked afterwards, also by a process that starts later.
  if recorded and v ->> 'decision' = 'APPROVED' and not v ? 'storage_unread'
      and (v ? 'snapshot_ids' or this_action = 'register-table') then
    insert into svc.manifest_check (tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name,
        snapshot_ids)
      select s.tenant_id, this_commit, (v ->> 'credential_id')::uuid, v ->> 'catalog', v ->> 'table_id',
        v -> 'namespace', v ->> 'table_name', v -> 'snapshot_ids'
      from svc.territory_state s
      where s.tenant_id = record_verdict.tenant and s.manifests <> 'off' and v ->> 'catalog' is not null;
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
    if snapshot is null then raise exception 'the snapshot is not described'; end if;
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

-- Records a change that got no verdict, and removes the tenant's oldest such rows beyond `kept`. The lock gives places
-- one at a time, so that they bound the number of rows.
create or replace function svc.record_unjudged(tenant uuid, unjudged text, kept int) returns void
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  u jsonb := unjudged::jsonb;
  next_place bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('unjudged ' || tenant::text, 0));
  select coalesce(max(c.place), 0) + 1 into next_place
    from svc.unjudged_change c where c.tenant_id = record_unjudged.tenant;
  insert into svc.unjudged_change (tenant_id, place, commit_id, request_id, action, table_id, namespace, table_name,
      principal, principal_source, policy_id, policy_name, error, explanation)
    values (tenant, next_place, (u ->> 'commit_id')::uuid, u ->> 'request_id', u ->> 'action', u ->> 'table_id',
      u -> 'namespace', u ->> 'table_name', u ->> 'principal', u ->> 'principal_source', u ->> 'policy_id',
      u ->> 'policy_name', u ->> 'error', u ->> 'explanation');
  delete from svc.unjudged_change c
    where c.tenant_id = record_unjudged.tenant and c.place <= next_place - kept;
end $$;

revoke all on function svc.ingest_table, svc.ingest_snapshot, svc.record_verdict, svc.record_unjudged from public;
grant execute on function svc.ingest_table, svc.ingest_snapshot, svc.record_verdict, svc.record_unjudged to svc_tenant;
