-- Detection after commits: runs and their attempts, findings, stewards' decisions, storage events that were set
-- aside, and the baseline poller's cursor.

-- One run a snapshot. A retry or a rescan that was asked for is another attempt under it.
create table svc.detection_run (
  tenant_id uuid not null references svc.tenant,
  run_id uuid not null default gen_random_uuid(),
  -- Short enough for an index entry.
  snapshot_metadata_location text not null check (octet_length(snapshot_metadata_location) between 1 and 2048),
  source text not null check (source in ('baseline-poller', 'catalog-webhook', 'storage-event')),
  -- Null where only storage reported the snapshot; the credential is then found by its storage root.
  credential_id uuid,
  table_id text,
  namespace jsonb,
  table_name text,
  -- The table according to a webhook. It is not used until the catalog confirms it.
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
-- A claim takes the oldest runs of each tenant that has some, so it looks them up tenant by tenant.
create index detection_run_due on svc.detection_run (tenant_id, due_at) where state = 'queued';
create index detection_run_leased on svc.detection_run (tenant_id, lease_until) where state = 'running';
create index detection_run_alert on svc.detection_run (alert_due) where alert_due is not null;
create index detection_run_listed on svc.detection_run (tenant_id, created_at desc, run_id desc);
create index detection_run_table on svc.detection_run (tenant_id, table_id, created_at desc);
alter table svc.detection_run enable row level security, force row level security;
create policy own_tenant on svc.detection_run using (tenant_id = svc.current_tenant());
-- A claim takes runs of all tenants.
create policy administration on svc.detection_run to svc_admin using (true);
grant select, insert on svc.detection_run to svc_tenant;
grant update (credential_id, table_id, namespace, table_name, state, tries, cause, requested_by, due_at, lease_id,
  lease_until, finished_at, reason, report, alert_due, alert_tries) on svc.detection_run to svc_tenant;
grant select on svc.detection_run to svc_admin;
grant update (state, attempt, tries, lease_id, lease_until, finished_at, reason, alert_due, alert_tries)
  on svc.detection_run to svc_admin;

create table svc.detection_attempt (
  tenant_id uuid not null,
  run_id uuid not null,
  attempt int not null,
  cause text not null check (cause in ('trigger', 'retry', 'rescan')),
  requested_by text,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  -- `lost`: its process died or was too slow, and another attempt replaced it.
  outcome text check (outcome in ('done', 'failed', 'lost')),
  reason text not null default '',
  report jsonb not null default '{}',
  primary key (tenant_id, run_id, attempt),
  foreign key (tenant_id, run_id) references svc.detection_run,
  check ((outcome is null) = (finished_at is null))
);
alter table svc.detection_attempt enable row level security, force row level security;
create policy own_tenant on svc.detection_attempt using (tenant_id = svc.current_tenant());
create policy administration on svc.detection_attempt to svc_admin using (true);
grant select, update (finished_at, outcome, reason, report) on svc.detection_attempt to svc_tenant;
grant select, insert, update (finished_at, outcome, reason) on svc.detection_attempt to svc_admin;

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
alter table svc.detection_finding enable row level security, force row level security;
create policy own_tenant on svc.detection_finding using (tenant_id = svc.current_tenant());
grant select, insert on svc.detection_finding to svc_tenant;
grant update (attempt, field_id, column_id, column_name, path, shape, confidence, matched, sampled, masked_sample,
  found_at) on svc.detection_finding to svc_tenant;

-- What stewards decided. Append-only.
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
alter table svc.detection_decision enable row level security, force row level security;
create policy own_tenant on svc.detection_decision using (tenant_id = svc.current_tenant());
grant select, insert on svc.detection_decision to svc_tenant;

-- Storage events that this version does not understand. The body is sealed like a secret.
create table svc.detection_set_aside (
  tenant_id uuid not null references svc.tenant,
  message_id text not null check (octet_length(message_id) between 1 and 256),
  reason text not null,
  sealed bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, message_id)
);
alter table svc.detection_set_aside enable row level security, force row level security;
create policy own_tenant on svc.detection_set_aside using (tenant_id = svc.current_tenant());
grant select, insert on svc.detection_set_aside to svc_tenant;

-- How far the baseline poller has looked.
create table svc.detection_cursor (
  tenant_id uuid primary key references svc.tenant,
  -- Audit rows made before it were looked at.
  audit_until timestamptz not null default '-infinity',
  -- The graphid up to which Snapshot nodes were looked at.
  snapshots_until bigint not null default 0
);
alter table svc.detection_cursor enable row level security, force row level security;
create policy own_tenant on svc.detection_cursor using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.detection_cursor to svc_tenant;
