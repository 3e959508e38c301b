-- Commits: the intents of those in progress, the audit log, the newest ingest of each table, and breaches.

create table svc.commit_intent (
  tenant_id uuid not null,
  commit_id uuid not null,
  table_id text not null,
  -- The CommitIntent without its body.
  intent jsonb not null,
  body bytea not null,
  opened_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null,
  -- By then the upstream call that this intent covers is over.
  upstream_until timestamptz not null,
  primary key (tenant_id, commit_id)
);
alter table svc.commit_intent alter column body set storage external;
create index commit_intent_lease on svc.commit_intent (lease_until);
alter table svc.commit_intent enable row level security, force row level security;
create policy own_tenant on svc.commit_intent using (tenant_id = svc.current_tenant());
create policy administration on svc.commit_intent to svc_admin using (true);
grant select, insert, delete, update (intent) on svc.commit_intent to svc_tenant;
grant select, update (lease_until) on svc.commit_intent to svc_admin;

-- Append-only. A row is about a commit, or another action of the catalog: creations, renames, drops, views,
-- namespaces. Only actions on tables are drawn in the graph (svc.is_table_action).
create table svc.audit_log (
  audit_seq bigint generated always as identity,
  tenant_id uuid not null,
  commit_id uuid not null,
  committer text not null check (committer <> ''),
  decision text not null check (decision in ('APPROVED', 'REJECTED')),
  reason text not null check ((decision = 'APPROVED') = (reason = '')),
  created_at timestamptz not null default now(),
  principal_source text not null check (principal_source in ('mtls_san', 'auth_header', 'session')),
  principal jsonb not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  credential_id uuid not null,
  body_sha256 text not null,
  body bytea not null,
  base_metadata_location text not null,
  metadata_location text,
  policies jsonb not null,
  outcomes jsonb not null,
  received_at timestamptz not null,
  action text not null default 'update-table',
  primary key (tenant_id, commit_id),
  -- Only accepted actions that write metadata name its location.
  constraint audit_log_metadata_location check (
    (metadata_location is not null)
      = (decision = 'APPROVED' and action in ('update-table', 'create-table', 'register-table')))
);
alter table svc.audit_log alter column body set storage external;
create unique index audit_log_seq on svc.audit_log (tenant_id, audit_seq desc);
create index audit_log_table on svc.audit_log (tenant_id, table_id, audit_seq desc);
create index audit_log_created on svc.audit_log (tenant_id, created_at) where decision = 'APPROVED';
create trigger append_only before update or delete or truncate on svc.audit_log
  for each statement execute function svc.refuse_change();
alter table svc.audit_log enable row level security, force row level security;
create policy own_tenant on svc.audit_log using (tenant_id = svc.current_tenant());
grant select, insert on svc.audit_log to svc_tenant;

-- What the newest ingest of a table said of it. Concurrent ingests are ordered by the lock of its row. No column
-- that changes with each commit is indexed, so a change of the row writes no index.
create table svc.ingested_table (
  tenant_id uuid not null,
  table_id text not null,
  -- When that commit was received: an older one, recovered late, must not bring back old columns.
  as_of_ms numeric not null,
  -- The caller's digest of the table's properties and columns; null where they are not known.
  described_digest text,
  column_count int,
  -- The snapshot that it brought, usually the parent of the next one: its node, and the keys to find it by.
  snapshot_node ag_catalog.graphid,
  snapshot_id text,
  snapshot_key text,
  primary key (tenant_id, table_id)
) with (fillfactor = 40);
alter table svc.ingested_table enable row level security, force row level security;
create policy own_tenant on svc.ingested_table using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.ingested_table to svc_tenant;

create table svc.breach (
  tenant_id uuid not null,
  breach_id uuid not null default gen_random_uuid(),
  kind text not null,
  subject text not null,
  detail jsonb not null,
  detected_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (tenant_id, breach_id)
);
-- A subject may be a long metadata location, which an index entry cannot hold.
create unique index breach_open on svc.breach (tenant_id, kind, md5(subject)) where resolved_at is null;
alter table svc.breach enable row level security, force row level security;
create policy own_tenant on svc.breach using (tenant_id = svc.current_tenant());
grant select, insert, update (last_seen_at, resolved_at, detail) on svc.breach to svc_tenant;
