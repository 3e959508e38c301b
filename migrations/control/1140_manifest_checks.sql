-- Ring 2 (docs/reference/territory.md 5): the manifests that commits bring are checked, and a snapshot whose manifests
-- name files outside its table's territory is quarantined for reads.

-- `off` checks none, `audit` checks after the commit, `enforce` before it for every caller. A tenant that enforces its
-- territory and has not chosen `off` enforces for callers whom a row filter or column mask restricts.
alter table svc.territory_state add column manifests text not null default 'audit'
  check (manifests in ('off', 'audit', 'enforce'));

-- The commits whose manifests are to be checked. The transaction that writes the audit row adds one, so no crash loses
-- it; the check removes it.
create table svc.manifest_check (
  tenant_id uuid not null references svc.tenant,
  commit_id uuid not null,
  credential_id uuid not null,
  catalog text not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  -- The snapshots that the commit added, as texts. Null for all that the table has, as after a registration.
  snapshot_ids jsonb,
  created_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  tries int not null default 0,
  -- Why the last try could not check them.
  reason text not null default '',
  primary key (tenant_id, commit_id)
);
create index manifest_check_due on svc.manifest_check (due_at);
create index manifest_check_table on svc.manifest_check (tenant_id, table_id);
alter table svc.manifest_check enable row level security, force row level security;
create policy own_tenant on svc.manifest_check using (tenant_id = svc.current_tenant());
-- One query finds what is due of all tenants.
create policy administration on svc.manifest_check for select to svc_admin using (true);
grant select, insert, delete, update (table_id, namespace, table_name, due_at, tries, reason)
  on svc.manifest_check to svc_tenant;
grant select on svc.manifest_check to svc_admin;

-- Snapshots that nobody may read until a steward releases them.
create table svc.snapshot_quarantine (
  tenant_id uuid not null references svc.tenant,
  quarantine_id uuid not null default gen_random_uuid(),
  -- The commit whose check found it.
  commit_id uuid not null,
  credential_id uuid not null,
  catalog text not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  table_uuid text,
  snapshot_id bigint not null,
  -- `outside`: a file lies outside the territory; `unchecked`: its manifests are more than a check reads.
  cause text not null check (cause in ('outside', 'unchecked')),
  -- The first such file, for stewards, or the bound that was reached.
  detail text not null check (octet_length(detail) <= 4096),
  found_at timestamptz not null default clock_timestamp(),
  released_at timestamptz,
  released_by jsonb,
  release_reason text,
  primary key (tenant_id, quarantine_id),
  check ((released_at is null) = (released_by is null) and (released_at is null) = (release_reason is null))
);
create index snapshot_quarantine_table on svc.snapshot_quarantine (tenant_id, table_id);
create constraint trigger governance_version after insert or update on svc.snapshot_quarantine
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.snapshot_quarantine enable row level security, force row level security;
create policy own_tenant on svc.snapshot_quarantine using (tenant_id = svc.current_tenant());
grant select, insert, update (table_id, namespace, table_name, released_at, released_by, release_reason)
  on svc.snapshot_quarantine to svc_tenant;
