-- One verdict, whole, in one call (SPEC 2.6, 2.7). Runs with the caller's rights and search_path, so
-- that the label tables are those of the caller's tenant and every row is under its policies.
--
-- Locks are taken in one order (audit row, Principal, Table, Snapshot, Namespace from the root,
-- Column), so that concurrent verdicts do not deadlock. A node that others share is inserted with
-- DO NOTHING, which does not lock one that exists.

-- The graphid of the node with this id, made with these properties where there is none.
create function svc.ensure_node(label text, node_id text, properties jsonb) returns ag_catalog.graphid
language plpgsql as $$
declare
  node ag_catalog.graphid;
  key ag_catalog.agtype := to_jsonb(node_id)::text::ag_catalog.agtype;
begin
  execute format(
    'select id from %I where ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) = $1',
    label) into node using key;
  if node is not null then return node; end if;
  execute format(
    'insert into %I (properties) values ($1) on conflict (ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype])) do nothing returning id',
    label) into node
    using (properties || jsonb_build_object('id', node_id, 'tenant_id', svc.current_tenant()))::text::ag_catalog.agtype;
  if node is not null then return node; end if;
  execute format(
    'select id from %I where ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype]) = $1',
    label) into strict node using key;
  return node;
end $$;

-- Adds the edge unless one of this id exists.
create function svc.ensure_edge(label text, edge_id text, source ag_catalog.graphid, target ag_catalog.graphid, properties jsonb)
returns void
language plpgsql as $$
begin
  execute format(
    'insert into %I (start_id, end_id, properties) values ($1, $2, $3) on conflict (ag_catalog.agtype_access_operator(variadic array[properties, ''"id"''::ag_catalog.agtype])) do nothing',
    label)
    using source, target,
      (properties || jsonb_build_object('id', edge_id, 'tenant_id', svc.current_tenant()))::text::ag_catalog.agtype;
end $$;

-- Best effort (SPEC 3): what an accepted commit made of the table. The caller runs it in a savepoint.
create function svc.ingest_snapshot(v jsonb, table_node ag_catalog.graphid, snapshot_node ag_catalog.graphid) returns void
language plpgsql as $$
declare
  space jsonb;
  space_node ag_catalog.graphid;
  outer_node ag_catalog.graphid;
  parent_node ag_catalog.graphid;
  newest numeric;
  received numeric := (v ->> 'received_at_ms')::numeric;
begin
  update "Snapshot"
    set properties = properties operator(ag_catalog.||) (v -> 'snapshot')::text::ag_catalog.agtype
    where id = snapshot_node;

  if v -> 'snapshot' ->> 'parent_snapshot_id' is not null then
    select s.id into parent_node
      from "Snapshot" s
      where ag_catalog.agtype_access_operator(variadic array[s.properties, '"snapshot_key"'::ag_catalog.agtype])
          = to_jsonb((v ->> 'table_id') || chr(31) || (v -> 'snapshot' ->> 'parent_snapshot_id'))::text::ag_catalog.agtype
        and s.id <> snapshot_node
      order by (ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype])
          = (v -> 'base_snapshot_id')::text::ag_catalog.agtype) desc, s.id desc
      limit 1;
    if parent_node is not null then
      perform svc.ensure_edge('PARENT_OF', v ->> 'snapshot_id', parent_node, snapshot_node, '{}');
    end if;
  end if;

  for space in select * from jsonb_array_elements(v -> 'namespaces') loop
    space_node := svc.ensure_node('Namespace', space ->> 'id', jsonb_build_object('name', space ->> 'name'));
    if outer_node is not null then
      perform svc.ensure_edge('IN_NAMESPACE', 'namespace' || chr(31) || (space ->> 'id'), space_node, outer_node, '{}');
    end if;
    outer_node := space_node;
  end loop;
  -- A table and a namespace may have one key: `a.b` and `a.b`.
  perform svc.ensure_edge('IN_NAMESPACE', 'table' || chr(31) || (v ->> 'table_id'), table_node, outer_node, '{}');

  -- The row lock orders concurrent ingests; an older commit, recovered late, must not bring back old columns.
  select ag_catalog.agtype_access_operator(variadic array[t.properties, '"columns_as_of_ms"'::ag_catalog.agtype])::text::numeric into newest
    from "Table" t where t.id = table_node for no key update;
  if newest is not null and newest > received then return; end if;
  update "Table"
    set properties = properties operator(ag_catalog.||)
      ((v -> 'table') || jsonb_build_object('columns_as_of_ms', received))::text::ag_catalog.agtype
    where id = table_node;

  insert into "Column" (properties)
    select (c || jsonb_build_object('tenant_id', svc.current_tenant()))::text::ag_catalog.agtype
    from jsonb_array_elements(v -> 'columns') c
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype]))
    do update set properties = "Column".properties operator(ag_catalog.||) excluded.properties;
  -- A dropped column keeps its node (its tags are history) and loses its place in the table.
  delete from "HAS_COLUMN" h
    where h.start_id = table_node and h.end_id not in (
      select n.id from jsonb_array_elements(v -> 'columns') c
      join "Column" n
        on ag_catalog.agtype_access_operator(variadic array[n.properties, '"id"'::ag_catalog.agtype]) = (c -> 'id')::text::ag_catalog.agtype);
  insert into "HAS_COLUMN" (start_id, end_id, properties)
    select table_node, n.id,
      jsonb_build_object('id', c ->> 'id', 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
    from jsonb_array_elements(v -> 'columns') c
    join "Column" n
      on ag_catalog.agtype_access_operator(variadic array[n.properties, '"id"'::ag_catalog.agtype]) = (c -> 'id')::text::ag_catalog.agtype
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
end $$;

create function svc.record_verdict(v jsonb, body bytea, out recorded boolean, out ingested boolean, out ingest_error text)
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  this_commit uuid := (v ->> 'commit_id')::uuid;
  made timestamptz;
  event jsonb;
  principal_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;

  insert into svc.audit_log as a (tenant_id, commit_id, committer, decision, reason, principal_source, principal, table_id,
      namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
      policies, outcomes, received_at)
    values (tenant, this_commit, v ->> 'committer', v ->> 'decision', v ->> 'reason', v ->> 'principal_source',
      v -> 'principal', v ->> 'table_id', v -> 'namespace', v ->> 'table_name', (v ->> 'credential_id')::uuid,
      v ->> 'body_sha256', record_verdict.body, v ->> 'base_metadata_location', v ->> 'metadata_location',
      v -> 'policies', v -> 'outcomes', to_timestamp((v ->> 'received_at_ms')::numeric / 1000))
    on conflict on constraint audit_log_pkey do nothing
    returning a.created_at into made;
  recorded := made is not null;
  if not recorded then
    select a.created_at into made from svc.audit_log a
      where a.tenant_id = tenant and a.commit_id = this_commit
        and a.decision = v ->> 'decision' and a.metadata_location is not distinct from v ->> 'metadata_location';
    if made is null then
      raise exception 'commit % has another verdict already', this_commit using errcode = 'unique_violation';
    end if;
  end if;

  event := jsonb_build_object('commit_id', this_commit, 'committer', v ->> 'committer', 'decision', v ->> 'decision',
    'reason', v ->> 'reason', 'created_at', made);
  principal_node := svc.ensure_node('Principal', v ->> 'principal_id', jsonb_build_object('sub', v ->> 'committer'));
  table_node := svc.ensure_node('Table', v ->> 'table_id',
    jsonb_build_object('namespace', v -> 'namespace', 'name', v ->> 'table_name'));
  perform svc.ensure_edge('INTENDED_WRITE', this_commit::text, principal_node, table_node, event);
  if v ->> 'decision' = 'APPROVED' then
    snapshot_node := svc.ensure_node('Snapshot', v ->> 'snapshot_id', jsonb_build_object(
      'metadata_location', v ->> 'metadata_location', 'table_id', v ->> 'table_id', 'commit_id', this_commit));
    perform svc.ensure_edge('ACTUAL_WRITE', this_commit::text, snapshot_node, table_node, event);
  end if;

  delete from svc.commit_intent i where i.tenant_id = tenant and i.commit_id = this_commit;

  ingested := false;
  if snapshot_node is not null then
    begin
      perform svc.ingest_snapshot(v, table_node, snapshot_node);
      ingested := true;
    exception when others then
      ingest_error := sqlstate || ' ' || sqlerrm;
    end;
  end if;
end $$;

revoke all on function svc.ensure_node, svc.ensure_edge, svc.ingest_snapshot, svc.record_verdict from public;
grant execute on function svc.ensure_node, svc.ensure_edge, svc.ingest_snapshot, svc.record_verdict to svc_tenant;
