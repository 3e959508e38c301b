-- How long each kind of history is kept, and legal holds, before which nothing is removed.

-- A tenant's own settings.
create table svc.retention_setting (
  tenant_id uuid not null references svc.tenant,
  kind text not null,
  -- Null: for good. Recovery and the comparison of audit log and graph look at the last days.
  keep_days int check (keep_days between 30 and 36500),
  primary key (tenant_id, kind)
);
alter table svc.retention_setting enable row level security, force row level security;
create policy own_tenant on svc.retention_setting using (tenant_id = svc.current_tenant());
create policy upkeep on svc.retention_setting for select to svc_owner using (true);
grant select, insert, delete, update (keep_days) on svc.retention_setting to svc_tenant;

-- The installation's, for tenants without one of their own. Append-only: the newest row of a kind holds.
create table svc.retention_default (
  default_seq bigint generated always as identity primary key,
  kind text not null,
  keep_days int check (keep_days between 30 and 36500),
  set_at timestamptz not null default clock_timestamp(),
  -- The Actor.
  set_by jsonb not null
);
create trigger append_only before update or delete or truncate on svc.retention_default
  for each statement execute function svc.refuse_change();
alter table svc.retention_default enable row level security, force row level security;
create policy administration on svc.retention_default to svc_admin using (true) with check (true);
create policy upkeep on svc.retention_default for select to svc_owner using (true);
grant select, insert on svc.retention_default to svc_admin;

-- Nothing of a table, or of a whole tenant, is removed while a hold stands.
create table svc.legal_hold (
  tenant_id uuid not null references svc.tenant,
  hold_id uuid not null default gen_random_uuid(),
  -- Null: the whole tenant.
  table_id text,
  namespace jsonb,
  table_name text,
  reason text not null check (reason <> ''),
  set_at timestamptz not null default clock_timestamp(),
  -- Actors.
  set_by jsonb not null,
  released_at timestamptz,
  released_by jsonb,
  release_reason text,
  primary key (tenant_id, hold_id),
  check ((table_id is null) = (table_name is null) and (table_id is null) = (namespace is null)),
  check ((released_at is null) = (released_by is null) and (released_at is null) = (release_reason is null))
);
create index legal_hold_standing on svc.legal_hold (tenant_id) where released_at is null;
alter table svc.legal_hold enable row level security, force row level security;
create policy own_tenant on svc.legal_hold using (tenant_id = svc.current_tenant());
create policy upkeep on svc.legal_hold for select to svc_owner using (true);
grant select, insert, update (released_at, released_by, release_reason) on svc.legal_hold to svc_tenant;

-- How far removal has come by the numbers of what it goes through. Each week it begins anew, for what it passed over.
create table svc.retention_progress (
  tenant_id uuid not null references svc.tenant,
  kind text not null,
  removed_to bigint not null,
  began_at timestamptz not null,
  -- What is older may be gone.
  removed_before timestamptz not null,
  primary key (tenant_id, kind)
);
alter table svc.retention_progress enable row level security, force row level security;
create policy own_tenant on svc.retention_progress using (tenant_id = svc.current_tenant());
grant select on svc.retention_progress to svc_tenant;

-- The body of an audited request has a life of its own; its hash stays in the row. Nothing else changes.
drop trigger append_only on svc.audit_log;
create trigger append_only before update on svc.audit_log
  for each row execute function svc.refuse_all_but_removal_of_body();
create trigger append_only_whole before delete or truncate on svc.audit_log
  for each statement execute function svc.refuse_change();
