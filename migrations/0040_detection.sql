-- Post-commit detection (SPEC 2.9, 6): runs with their attempts, findings, stewards' decisions, storage
-- events that were set aside, and how far the baseline poller has looked.

-- One spelling per object: engines write s3a:// and s3n:// for what storage events call s3://.
create function svc.canonical_location(location text) returns text
  language sql immutable parallel safe
  return regexp_replace(location, '^s3[an]://', 's3://');

-- A snapshot's run is made once; a retry or an explicit rescan is another attempt under it.
create table svc.detection_run (
  tenant_id uuid not null references svc.tenant,
  run_id uuid not null default gen_random_uuid(),
  -- An index entry has to hold it.
  snapshot_metadata_location text not null check (octet_length(snapshot_metadata_location) between 1 and 2048),
  source text not null check (source in ('baseline-poller', 'catalog-webhook', 'storage-event')),
  -- Unknown where only storage told of the snapshot; then found by storage root.
  credential_id uuid,
  table_id text,
  namespace jsonb,
  table_name text,
  -- What a webhook says the table is; nothing rests on it until the catalog confirms it.
  advisory jsonb,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  attempt int not null default 0,
  -- Attempts since it was last queued by a trigger or a rescan.
  tries int not null default 0,
  cause text not null default 'trigger' check (cause in ('trigger', 'retry', 'rescan')),
  requested_by text,
  due_at timestamptz not null default clock_timestamp(),
  lease_id uuid,
  lease_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  reason text not null default '',
  report jsonb not null default '{}',
  alert_due timestamptz,
  alert_tries int not null default 0,
  primary key (tenant_id, run_id),
  constraint detection_run_snapshot unique (tenant_id, snapshot_metadata_location),
  check ((state = 'running') = (lease_id is not null)),
  check ((table_id is null) = (table_name is null) and (table_id is null) = (namespace is null))
);
create index detection_run_due on svc.detection_run (due_at) where state = 'queued';
create index detection_run_leased on svc.detection_run (tenant_id, lease_until) where state = 'running';
create index detection_run_alert on svc.detection_run (alert_due) where alert_due is not null;
create index detection_run_listed on svc.detection_run (tenant_id, created_at desc, run_id desc);
create index detection_run_table on svc.detection_run (tenant_id, table_id, created_at desc);

create table svc.detection_attempt (
  tenant_id uuid not null,
  run_id uuid not null,
  attempt int not null,
  cause text not null check (cause in ('trigger', 'retry', 'rescan')),
  requested_by text,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  -- `lost`: its process died or was too slow, and another attempt took over.
  outcome text check (outcome in ('done', 'failed', 'lost')),
  reason text not null default '',
  report jsonb not null default '{}',
  primary key (tenant_id, run_id, attempt),
  foreign key (tenant_id, run_id) references svc.detection_run,
  check ((outcome is null) = (finished_at is null))
);

create table svc.detection_finding (
  tenant_id uuid not null,
  finding_id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  -- The last attempt of the run that found it.
  attempt int not null,
  -- Also the id of the Classification node: table, field, path inside the value, class.
  classification_id text not null check (octet_length(classification_id) <= 1024),
  field_id bigint,
  -- The Column node's id and name; null while the table is unknown.
  column_id text,
  column_name text not null,
  -- With the path inside JSON values.
  path text not null,
  class text not null check (class in ('us_ssn', 'email', 'credit_card', 'phone', 'iban')),
  shape text not null check (shape in ('name', 'value', 'name_and_value')),
  confidence numeric(3, 2) not null check (confidence in (0.65, 0.55, 0.92)),
  matched int not null,
  sampled int not null,
  masked_sample text,
  found_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, finding_id),
  unique (tenant_id, run_id, classification_id),
  foreign key (tenant_id, run_id) references svc.detection_run
);
create index detection_finding_listed on svc.detection_finding (tenant_id, found_at desc, finding_id desc);
create index detection_finding_classification on svc.detection_finding (tenant_id, classification_id, found_at desc);

create table svc.detection_decision (
  decision_seq bigint generated always as identity,
  tenant_id uuid not null,
  decision_id uuid not null default gen_random_uuid(),
  classification_id text not null,
  finding_id uuid not null,
  decision text not null check (decision in ('confirm', 'reject', 'exempt')),
  reason text not null,
  decided_by text not null check (decided_by <> ''),
  decided_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, decision_id),
  foreign key (tenant_id, finding_id) references svc.detection_finding
);
create index detection_decision_latest on svc.detection_decision (tenant_id, classification_id, decision_seq desc);
create trigger append_only before update or delete or truncate on svc.detection_decision
  for each statement execute function svc.refuse_change();

-- Storage events that say nothing this version understands; the body is sealed like a secret.
create table svc.detection_set_aside (
  tenant_id uuid not null references svc.tenant,
  message_id text not null check (octet_length(message_id) between 1 and 256),
  reason text not null,
  sealed bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, message_id)
);

create table svc.detection_cursor (
  tenant_id uuid primary key references svc.tenant,
  -- Audit rows made before it were looked at.
  audit_until timestamptz not null default '-infinity',
  -- The graphid up to which Snapshot nodes were looked at.
  snapshots_until bigint not null default 0
);

create index audit_log_created on svc.audit_log (tenant_id, created_at) where decision = 'APPROVED';

-- Queues what the audit log and the graph name and no run covers. Runs with the caller's rights and
-- search_path. Looks back behind the cursors by more than any transaction lasts, since rows and ids
-- become visible in another order than they were given.
-- NOT IN hashes the locations once, whatever the planner believes of the tables' sizes; it needs the memory to.
create function svc.enqueue_unscanned(row_limit int) returns int
language plpgsql set work_mem = '64MB' as $$
declare
  tenant uuid := svc.current_tenant();
  seen svc.detection_cursor;
  began timestamptz := clock_timestamp();
  latest timestamptz;
  latest_id bigint;
  looked int;
  queued int := 0;
  added int;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  insert into svc.detection_cursor (tenant_id) values (tenant) on conflict do nothing;
  select * into seen from svc.detection_cursor c where c.tenant_id = tenant for update;

  with unscanned as materialized (
    select a.* from svc.audit_log a
    where a.tenant_id = tenant and a.decision = 'APPROVED' and a.created_at > seen.audit_until - interval '15 minutes'
      and octet_length(a.metadata_location) <= 2048
      and svc.canonical_location(a.metadata_location) not in
        (select r.snapshot_metadata_location from svc.detection_run r where r.tenant_id = tenant)
    order by a.created_at limit row_limit),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, svc.canonical_location(u.metadata_location), 'baseline-poller', u.credential_id, u.table_id, u.namespace, u.table_name
    from unscanned u
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*), max(u.created_at), (select count(*) from queued_now) into looked, latest, added from unscanned u;
  queued := queued + added;
  if looked < row_limit then latest := began; end if;

  with unscanned as materialized (
    select s.id::text::bigint as node, j ->> 'metadata_location' as location, t.id as table_node,
      t.properties::text::jsonb as table_properties, a.credential_id
    from "Snapshot" s
    cross join lateral (select s.properties::text::jsonb as j) parsed
    left join "Table" t on ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype])
      = (j -> 'table_id')::text::ag_catalog.agtype
    -- Compared as uuid, so that the primary key finds it.
    left join svc.audit_log a on a.tenant_id = tenant
      and a.commit_id = case when j ->> 'commit_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (j ->> 'commit_id')::uuid end
    where s.id::text::bigint > seen.snapshots_until - 1000
      and octet_length(j ->> 'metadata_location') between 1 and 2048
      and svc.canonical_location(j ->> 'metadata_location') not in
        (select r.snapshot_metadata_location from svc.detection_run r where r.tenant_id = tenant)
    order by s.id::text::bigint limit row_limit),
  queued_now as (
    insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
    select tenant, svc.canonical_location(u.location), 'baseline-poller', u.credential_id,
      case when named then u.table_properties ->> 'id' end, case when named then u.table_properties -> 'namespace' end,
      case when named then u.table_properties ->> 'name' end
    from unscanned u, lateral (select coalesce(jsonb_typeof(u.table_properties -> 'namespace') = 'array'
      and u.table_properties ->> 'name' is not null, false) as named) n
    on conflict on constraint detection_run_snapshot do nothing returning 1)
  select count(*), max(u.node), (select count(*) from queued_now) into looked, latest_id, added from unscanned u;
  queued := queued + added;
  if looked < row_limit then
    select max(s.id::text::bigint) into latest_id from "Snapshot" s;
  end if;

  update svc.detection_cursor c
    set audit_until = greatest(c.audit_until, latest), snapshots_until = greatest(c.snapshots_until, coalesce(latest_id, 0))
    where c.tenant_id = tenant;
  return queued;
end $$;

-- Brings one classification's nodes and edges up to what its latest finding and decision say. Runs with
-- the caller's rights and search_path, so in the caller's own graph. A rejected or exempt column loses its
-- Tag; the Classification stays as the record of why.
create function svc.project_classification(wanted text) returns void
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
    column_node := svc.ensure_node('Column', finding.column_id,
      jsonb_build_object('field_id', finding.field_id, 'name', finding.column_name));
    perform svc.ensure_edge('HAS_COLUMN', finding.column_id, table_node, column_node, '{}');
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

do $$
declare
  t text;
begin
  foreach t in array array['detection_run', 'detection_attempt', 'detection_finding', 'detection_decision',
      'detection_set_aside', 'detection_cursor'] loop
    execute format('alter table svc.%I enable row level security', t);
    execute format('alter table svc.%I force row level security', t);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', t);
  end loop;
  -- Claims span tenants.
  foreach t in array array['detection_run', 'detection_attempt'] loop
    execute format('create policy administration on svc.%I to svc_admin using (true)', t);
  end loop;
end $$;

revoke all on function svc.canonical_location, svc.enqueue_unscanned, svc.project_classification from public;
grant execute on function svc.canonical_location to svc_tenant, svc_admin;
grant execute on function svc.enqueue_unscanned, svc.project_classification to svc_tenant;

grant select, insert on svc.detection_run to svc_tenant;
grant update (credential_id, table_id, namespace, table_name, state, tries, cause, requested_by, due_at, lease_id, lease_until,
  finished_at, reason, report, alert_due, alert_tries) on svc.detection_run to svc_tenant;
grant select on svc.detection_attempt to svc_tenant;
grant update (finished_at, outcome, reason, report) on svc.detection_attempt to svc_tenant;
grant select, insert on svc.detection_finding to svc_tenant;
grant update (attempt, field_id, column_id, column_name, path, shape, confidence, matched, sampled, masked_sample, found_at)
  on svc.detection_finding to svc_tenant;
grant select, insert on svc.detection_decision, svc.detection_set_aside to svc_tenant;
grant select, insert, update on svc.detection_cursor to svc_tenant;

grant select on svc.detection_run, svc.detection_attempt to svc_admin;
grant update (state, attempt, tries, lease_id, lease_until, finished_at, reason, alert_due, alert_tries) on svc.detection_run to svc_admin;
grant insert on svc.detection_attempt to svc_admin;
grant update (finished_at, outcome, reason) on svc.detection_attempt to svc_admin;
