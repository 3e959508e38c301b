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

-- As in 0040, but that a finding about a column which was dropped does not give it back to its table: nobody could
-- tell two columns of one name apart. Such a column names its table instead, by which its tags are found.
create or replace function svc.project_classification(wanted text) returns void
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  finding record;
  verdict record;
  status text := 'open';
  facts jsonb;
  tag_node ag_catalog.graphid;
  classification_node ag_catalog.graphid;
  snapshot_node ag_catalog.graphid;
  table_node ag_catalog.graphid;
  column_node ag_catalog.graphid;
  tag_id text;
begin
  select f.*, r.table_id, r.namespace, r.table_name, r.snapshot_metadata_location into finding
    from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id)
    where f.tenant_id = tenant and f.classification_id = wanted order by f.found_at desc limit 1;
  if not found then return; end if;
  select d.decision_id, d.decision, d.reason, d.decided_by, d.decided_at into verdict
    from svc.detection_decision d
    where d.tenant_id = tenant and d.classification_id = wanted order by d.decision_seq desc limit 1;
  if found then
    status := case verdict.decision when 'confirm' then 'confirmed' when 'reject' then 'rejected' else 'exempt' end;
  end if;

  tag_id := 'sensitive.' || finding.class;
  tag_node := svc.ensure_node('Tag', tag_id, jsonb_build_object('name', tag_id, 'class', finding.class));
  facts := jsonb_build_object('class', finding.class, 'column', finding.path, 'confidence', finding.confidence,
    'shape', finding.shape, 'status', status, 'tag_id', tag_id, 'run_id', finding.run_id);
  classification_node := svc.ensure_node('Classification', wanted, facts);
  update "Classification" set properties = properties operator(ag_catalog.||) facts::text::ag_catalog.agtype
    where id = classification_node;

  -- Where the gateway knows the snapshot, that node; else one of our own, so that a verdict which is written
  -- later still makes the node that reconciliation looks for.
  select s.id into snapshot_node from "Snapshot" s
    where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype])
      = to_jsonb(case when octet_length(finding.snapshot_metadata_location) <= 1024 then finding.snapshot_metadata_location
        else 'sha256:' || encode(sha256(convert_to(finding.snapshot_metadata_location, 'UTF8')), 'hex') end)::text::ag_catalog.agtype;
  if snapshot_node is null then
    snapshot_node := svc.ensure_node('Snapshot', 'detected' || chr(31) || finding.run_id,
      jsonb_strip_nulls(jsonb_build_object('metadata_location', finding.snapshot_metadata_location, 'table_id', finding.table_id)));
  end if;
  perform svc.ensure_edge('EVIDENCED_BY', wanted || chr(31) || finding.run_id, classification_node, snapshot_node, '{}');

  if finding.table_id is not null and finding.column_id is not null then
    table_node := svc.ensure_node('Table', finding.table_id,
      jsonb_build_object('namespace', finding.namespace, 'name', finding.table_name));
    select c.id into column_node from "Column" c
      where ag_catalog.agtype_access_operator(variadic array[c.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(finding.column_id)::text::ag_catalog.agtype;
    if column_node is null then
      column_node := svc.ensure_node('Column', finding.column_id, jsonb_build_object('field_id', finding.field_id,
        'name', finding.column_name, 'table_id', finding.table_id));
      if not exists (select from "HAS_COLUMN" h join "Column" c on c.id = h.end_id where h.start_id = table_node
        and ag_catalog.agtype_access_operator(variadic array[c.properties, '"name"'::ag_catalog.agtype])
          = to_jsonb(finding.column_name)::text::ag_catalog.agtype)
      then
        perform svc.ensure_edge('HAS_COLUMN', finding.column_id, table_node, column_node, '{}');
      end if;
    else
      update "Column" set properties = properties operator(ag_catalog.||)
          jsonb_build_object('table_id', finding.table_id)::text::ag_catalog.agtype
        where id = column_node
          and ag_catalog.agtype_access_operator(variadic array[properties, '"table_id"'::ag_catalog.agtype]) is null;
    end if;
    perform svc.ensure_edge('CLASSIFIED_AS', wanted, column_node, classification_node, '{}');
    if status in ('open', 'confirmed') then
      perform svc.ensure_edge('TAGGED', wanted, column_node, tag_node, '{}');
      update "TAGGED" set properties = properties operator(ag_catalog.||)
          jsonb_build_object('confidence', finding.confidence, 'status', status, 'path', finding.path)::text::ag_catalog.agtype
        where ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(wanted)::text::ag_catalog.agtype;
    else
      delete from "TAGGED"
        where ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(wanted)::text::ag_catalog.agtype;
    end if;
  end if;

  if status in ('rejected', 'exempt') then
    perform svc.ensure_edge('ATTESTS', verdict.decision_id::text,
      svc.ensure_node('Attestation', verdict.decision_id::text, jsonb_build_object('decision', verdict.decision,
        'reason', verdict.reason, 'attested_by', verdict.decided_by, 'attested_at', verdict.decided_at)),
      classification_node, '{}');
  end if;
end $$;

-- As in 0130, but that an edge whose time cannot be read is one that differs, and not the end of the comparison.
create or replace function svc.drift_of_audit(page int, inout after bigint, out drift jsonb)
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  looked int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  with logged as materialized (
    select a.audit_seq, a.commit_id, a.created_at, a.metadata_location, svc.is_table_action(a.action) as intended,
      to_jsonb(a.commit_id)::text::ag_catalog.agtype as edge_key,
      -- The id that a location has as a node.
      to_jsonb(case when octet_length(a.metadata_location) <= 1024 then a.metadata_location
        else 'sha256:' || encode(sha256(convert_to(a.metadata_location, 'UTF8')), 'hex') end)::text::ag_catalog.agtype as snapshot_key,
      jsonb_build_object('commit_id', a.commit_id, 'committer', a.committer, 'decision', a.decision, 'reason', a.reason,
        'tenant_id', a.tenant_id) as told
    from svc.audit_log a where a.tenant_id = tenant and a.audit_seq > coalesce(after, 0)
    order by a.audit_seq limit page),
  pair as materialized (
    select 'INTENDED_WRITE' as label, l.*, e.*
      from logged l left join lateral (
        select x.properties::text::jsonb as j, exists (select from "Principal" p where p.id = x.start_id)
          and exists (select from "Table" t where t.id = x.end_id) as joined
        from "INTENDED_WRITE" x
        where ag_catalog.agtype_access_operator(variadic array[x.properties, '"id"'::ag_catalog.agtype]) = l.edge_key) e on true
      where l.intended
    union all
    select 'ACTUAL_WRITE', l.*, e.*
      from logged l left join lateral (
        select x.properties::text::jsonb as j, exists (select from "Snapshot" s where s.id = x.start_id)
          and exists (select from "Table" t where t.id = x.end_id) as joined
        from "ACTUAL_WRITE" x
        where ag_catalog.agtype_access_operator(variadic array[x.properties, '"id"'::ag_catalog.agtype]) = l.edge_key) e on true
      where l.metadata_location is not null),
  found as (
    select 'audit_without_edge' as kind, p.label || ' ' || p.commit_id as subject, '{}'::jsonb as detail from pair p where p.j is null
    union all
    select 'edge_without_node', p.label || ' ' || p.commit_id, '{}' from pair p where not p.joined
    union all
    select 'edge_differs', p.label || ' ' || p.commit_id, '{}' from pair p
      where p.j is not null and not coalesce(p.j - 'id' - 'created_at' = p.told and case
        when pg_input_is_valid(p.j ->> 'created_at', 'timestamptz') then (p.j ->> 'created_at')::timestamptz = p.created_at end, false)
    union all
    select 'audit_without_snapshot', l.metadata_location, jsonb_build_object('commit_id', l.commit_id) from logged l
      where l.metadata_location is not null and coalesce((
        select s.properties::text::jsonb from "Snapshot" s
          where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype]) = l.snapshot_key)
        @> jsonb_build_object('metadata_location', l.metadata_location), false) is false)
  select (select coalesce(jsonb_agg(f), '[]') from found f), count(*), max(l.audit_seq) into drift, looked, after from logged l;
  if looked < page then after := null; end if;
end $$;
