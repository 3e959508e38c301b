-- Detection: queueing snapshots that no run covers, and drawing findings in the graph.
--
-- Pages: each page is a transaction of its own, so that commits come between, and every row is looked up by a key.
-- Row-level security lets no index look up a comparison that computes something of a row (a JSON field, a pattern),
-- because it may leak the row. So each value is computed first, in a materialized step, and then compared. The plans
-- switched off are those for tables that look empty to the planner: the embedded database never gathers statistics.
-- No plan is kept, because only the table's size shows which of two indexes is better.

-- One spelling per object: engines write s3a:// and s3n:// for what storage events call s3://.
create or replace function svc.canonical_location(location text) returns text
  language sql immutable parallel safe
  return regexp_replace(location, '^s3[an]://', 's3://');

-- Queues a page of the accepted audit rows that no run covers, from `after` on. Without `after` it begins before the
-- end of the last round, by more than any transaction lasts, since rows become visible in another order than they
-- were made. `after` returns where the next page begins, null at the end. Every caller inserts in the order of
-- locations, because concurrent callers would deadlock otherwise.
create or replace function svc.enqueue_audited(page int, inout after timestamptz, out queued int)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  began timestamptz := clock_timestamp();
  looked int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  after := coalesce(after, (select c.audit_until - interval '15 minutes' from svc.detection_cursor c where c.tenant_id = tenant),
    '-infinity');
  with made as materialized (
    select a.created_at, svc.canonical_location(a.metadata_location) as location, a.credential_id, a.table_id, a.namespace, a.table_name
    from svc.audit_log a
    where a.tenant_id = tenant and a.decision = 'APPROVED' and a.created_at > after
    order by a.created_at fetch first page rows with ties),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, m.location, 'baseline-poller', m.credential_id, m.table_id, m.namespace, m.table_name
    from made m where octet_length(m.location) <= 2048 order by m.location
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*), max(m.created_at), (select count(*) from queued_now) into looked, after, queued from made m;
  -- A round that found no row writes none: the next one begins where this did.
  if looked > 0 then
    insert into svc.detection_cursor as c (tenant_id, audit_until)
      values (tenant, case when looked < page then began else after end)
      on conflict (tenant_id) do update set audit_until = greatest(c.audit_until, excluded.audit_until);
  end if;
  if looked < page then after := null; end if;
end $$;

-- The same for the graph's Snapshot nodes, by their numbers: a graphid is the label's number above a number of the
-- label's sequence.
create or replace function svc.enqueue_snapshots(page int, inout after bigint, out queued int)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan as $$
declare
  tenant uuid := svc.current_tenant();
  label int;
  newest bigint;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  select l.id into strict label from ag_catalog.ag_label l where l.relation = '"Snapshot"'::regclass;
  select s.id::text::bigint & 281474976710655 into newest from "Snapshot" s order by s.id desc limit 1;
  newest := coalesce(newest, 0);
  after := coalesce(after, (select greatest((c.snapshots_until & 281474976710655) - 1000, 0)
    from svc.detection_cursor c where c.tenant_id = tenant), 0);
  with number as materialized (
    select ag_catalog._graphid(label, n) as id from generate_series(after + 1, least(after + page, newest)) n),
  node as materialized (
    select s.id, s.properties::text::jsonb as j from number join "Snapshot" s on s.id = number.id),
  named as materialized (
    select n.id, svc.canonical_location(j ->> 'metadata_location') as location, (j -> 'table_id')::text::ag_catalog.agtype as table_key,
      case when j ->> 'commit_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (j ->> 'commit_id')::uuid end as commit_id
    from node n where octet_length(j ->> 'metadata_location') between 1 and 2048),
  unscanned as materialized (
    select n.* from named n where not exists (
      select from svc.detection_run r where r.tenant_id = tenant and r.snapshot_metadata_location = n.location)),
  described as materialized (
    select u.location,
      (select t.properties::text::jsonb from "Table" t
        where ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype]) = u.table_key) as t,
      (select a.credential_id from svc.audit_log a where a.tenant_id = tenant and a.commit_id = u.commit_id) as credential_id
    from unscanned u),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, d.location, 'baseline-poller', d.credential_id,
      case when known then t ->> 'id' end, case when known then t -> 'namespace' end, case when known then t ->> 'name' end
    from described d, lateral (select coalesce(jsonb_typeof(t -> 'namespace') = 'array' and t ->> 'name' is not null, false) as known) k
    order by d.location
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*) into queued from queued_now;
  after := least(after + page, newest);
  if after > coalesce((select c.snapshots_until & 281474976710655 from svc.detection_cursor c where c.tenant_id = tenant), 0) then
    insert into svc.detection_cursor as c (tenant_id, snapshots_until)
      values (tenant, ag_catalog._graphid(label, after)::text::bigint)
      on conflict (tenant_id) do update set snapshots_until = greatest(c.snapshots_until, excluded.snapshots_until);
  end if;
  if after >= newest then after := null; end if;
end $$;

-- Says of a column of the table `place` {table_id, namespace, name} that it is classified, by the id of its field, which is
-- the same under every name of the table. A finding about a dropped column does not give the column back to its table,
-- because nobody could tell two columns of one name apart. Such a column names its table instead, and its tags are found
-- by that.
create or replace function svc.attach_classification(wanted text, place jsonb) returns void
language plpgsql as $$
declare
  finding record;
  column_key text;
  table_node ag_catalog.graphid;
  column_node ag_catalog.graphid;
begin
  select f.field_id, f.column_name into finding from svc.detection_finding f
    where f.tenant_id = svc.current_tenant() and f.classification_id = wanted;
  if place ->> 'table_id' is null or finding.field_id is null then return; end if;
  column_key := (place ->> 'table_id') || chr(31) || finding.field_id;
  if octet_length(column_key) > 1024 then
    column_key := 'sha256:' || encode(sha256(convert_to(column_key, 'UTF8')), 'hex');
  end if;
  table_node := svc.ensure_node('Table', place ->> 'table_id', place - 'table_id');
  select c.id into column_node from "Column" c
    where ag_catalog.agtype_access_operator(variadic array[c.properties, '"id"'::ag_catalog.agtype])
      = to_jsonb(column_key)::text::ag_catalog.agtype;
  if column_node is null then
    column_node := svc.ensure_node('Column', column_key, jsonb_build_object('field_id', finding.field_id,
      'name', finding.column_name, 'table_id', place -> 'table_id'));
    if not exists (select from "HAS_COLUMN" h join "Column" c on c.id = h.end_id where h.start_id = table_node
      and ag_catalog.agtype_access_operator(variadic array[c.properties, '"name"'::ag_catalog.agtype])
        = to_jsonb(finding.column_name)::text::ag_catalog.agtype)
    then
      perform svc.ensure_edge('HAS_COLUMN', column_key, table_node, column_node, '{}');
    end if;
  else
    update "Column" set properties = properties operator(ag_catalog.||)
        jsonb_build_object('table_id', place -> 'table_id')::text::ag_catalog.agtype
      where id = column_node
        and ag_catalog.agtype_access_operator(variadic array[properties, '"table_id"'::ag_catalog.agtype]) is null;
  end if;
  perform svc.ensure_edge('CLASSIFIED_AS', svc.pair_id(wanted, column_key), column_node,
    svc.ensure_node('Classification', wanted, '{}'), '{}');
end $$;

-- Gives what is known of the columns of a table to its new name {table_id, namespace, name}: the table is the same one.
-- The old name keeps its tags, as it keeps its policies. Looks for one table at a time, by indexes.
create or replace function svc.carry_classifications(old_table text, new_name jsonb) returns void
language plpgsql set enable_seqscan = off as $$
declare
  wanted text;
begin
  for wanted in
    select distinct n.properties::text::jsonb ->> 'id' from "Column" c
      join "CLASSIFIED_AS" e on e.start_id = c.id join "Classification" n on n.id = e.end_id
      where ag_catalog.agtype_access_operator(variadic array[c.properties, '"table_id"'::ag_catalog.agtype])
        = to_jsonb(old_table)::text::ag_catalog.agtype
      order by 1
  loop
    -- A decision that is being made comes before or after the whole of it.
    perform from svc.detection_finding f
      where f.tenant_id = svc.current_tenant() and f.classification_id = wanted for update;
    perform svc.attach_classification(wanted, new_name);
    perform svc.project_classification(wanted);
  end loop;
end $$;

-- Updates one classification's nodes and edges from its finding and decision: the tag of the column under every name that
-- its table had. Runs with the caller's rights and search_path, so in the caller's own graph. A rejected, exempt or
-- withdrawn column loses its Tag; the Classification stays as the record of why.
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
  place record;
  tag_id text;
  was text;
  change text;
begin
  select f.*, r.table_id, r.namespace, r.table_name, r.snapshot_metadata_location into finding
    from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id)
    where f.tenant_id = tenant and f.classification_id = wanted;
  if not found then return; end if;
  if finding.status = 'withdrawn' then status := 'withdrawn'; end if;
  select d.decision_id, d.decision, d.reason, d.decided_by, d.decided_at, d.actor into verdict
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

  -- The snapshot's node where the gateway knows it, else a node of detection's own. A verdict that is recorded later
  -- still creates the node that reconciliation looks for.
  select s.id into snapshot_node from "Snapshot" s
    where ag_catalog.agtype_access_operator(variadic array[s.properties, '"id"'::ag_catalog.agtype])
      = to_jsonb(case when octet_length(finding.snapshot_metadata_location) <= 1024 then finding.snapshot_metadata_location
        else 'sha256:' || encode(sha256(convert_to(finding.snapshot_metadata_location, 'UTF8')), 'hex') end)::text::ag_catalog.agtype;
  if snapshot_node is null then
    snapshot_node := svc.ensure_node('Snapshot', 'detected' || chr(31) || finding.run_id,
      jsonb_strip_nulls(jsonb_build_object('metadata_location', finding.snapshot_metadata_location, 'table_id', finding.table_id)));
  end if;
  perform svc.ensure_edge('EVIDENCED_BY', wanted || chr(31) || finding.run_id, classification_node, snapshot_node, '{}');

  perform svc.attach_classification(wanted, jsonb_build_object('table_id', finding.table_id, 'namespace', finding.namespace,
    'name', finding.table_name));
  for place in
    select e.start_id as node, svc.pair_id(wanted, c.properties::text::jsonb ->> 'id') as edge,
      t.facts ->> 'id' as table_id, t.facts -> 'namespace' as namespace, t.facts ->> 'name' as table_name
    from "CLASSIFIED_AS" e join "Column" c on c.id = e.start_id
    left join lateral (select t.properties::text::jsonb as facts from "Table" t
      where ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype])
        = ag_catalog.agtype_access_operator(variadic array[c.properties, '"table_id"'::ag_catalog.agtype])) t on true
    where e.end_id = classification_node order by e.start_id
  loop
    was := (select e.properties::text::jsonb ->> 'status' from "TAGGED" e
      where ag_catalog.agtype_access_operator(variadic array[e.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(place.edge)::text::ag_catalog.agtype);
    change := case when status in ('rejected', 'exempt', 'withdrawn') then case when was is not null then 'removed' end
      when was is null then 'set' when was <> status and status = 'confirmed' then 'confirmed' end;
    if change is not null and place.table_name is not null then
      insert into svc.tag_change (tenant_id, action, tag_id, tag, table_id, namespace, table_name, column_name, source,
          actor, actor_sub, evidence)
        values (tenant, change, tag_id, tag_id, place.table_id, place.namespace, place.table_name, finding.column_name,
          case when verdict.decision is null then 'classifier' else 'person' end, verdict.actor, verdict.decided_by,
          jsonb_strip_nulls(jsonb_build_object('finding', finding.finding_id, 'note', case when status = 'withdrawn' then
            case finding.withdrawn_why when 'refuted' then 'the values are of another kind than the name says'
              else 'the values are gone' end else nullif(verdict.reason, '') end)));
    end if;
    if status in ('open', 'confirmed') then
      perform svc.ensure_edge('TAGGED', place.edge, place.node, tag_node, '{}');
      update "TAGGED" set properties = properties operator(ag_catalog.||)
          jsonb_build_object('confidence', finding.confidence, 'status', status, 'path', finding.path)::text::ag_catalog.agtype
        where ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(place.edge)::text::ag_catalog.agtype;
    else
      delete from "TAGGED"
        where ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(place.edge)::text::ag_catalog.agtype;
    end if;
  end loop;

  if status in ('rejected', 'exempt') then
    perform svc.ensure_edge('ATTESTS', verdict.decision_id::text,
      svc.ensure_node('Attestation', verdict.decision_id::text, jsonb_strip_nulls(jsonb_build_object(
        'decision', verdict.decision, 'reason', verdict.reason, 'attested_by', verdict.decided_by,
        'session_kind', verdict.actor #>> '{session,kind}', 'session_created_by', verdict.actor #>> '{session,createdBy}',
        'attested_at', verdict.decided_at))),
      classification_node, '{}');
  end if;
end $$;

revoke all on function svc.canonical_location, svc.enqueue_audited, svc.enqueue_snapshots, svc.attach_classification,
  svc.carry_classifications, svc.project_classification from public;
grant execute on function svc.canonical_location to svc_tenant, svc_admin;
grant execute on function svc.enqueue_audited, svc.enqueue_snapshots, svc.attach_classification,
  svc.carry_classifications, svc.project_classification to svc_tenant;
