-- The removal of tenants: who asked, who confirmed, from when on, and what was removed. A row outlives its tenant and
-- names no person of it: those named administer the installation.

create table svc.tenant_removal (
  -- No key of another table: the tenant goes.
  tenant_id uuid not null,
  removal_id uuid primary key default gen_random_uuid(),
  wait_days int not null check (wait_days between 7 and 365),
  -- Of the manifest of an export, in hex, where who asked names one.
  export_sha256 text check (export_sha256 ~ '^[0-9a-f]{64}$'),
  asked_at timestamptz not null default clock_timestamp(),
  -- Each person: the subject, and who made their session.
  asked_by jsonb not null,
  confirmed_at timestamptz,
  confirmed_by jsonb,
  -- Removed at this time or later.
  due_at timestamptz,
  withdrawn_at timestamptz,
  withdrawn_by jsonb,
  started_at timestamptz,
  removed_at timestamptz,
  -- Rows removed, by table.
  counts jsonb not null default '{}',
  check ((confirmed_at is null) = (confirmed_by is null) and (confirmed_at is null) = (due_at is null)),
  check ((withdrawn_at is null) = (withdrawn_by is null)),
  check (started_at is null or (confirmed_at is not null and withdrawn_at is null)),
  check (removed_at is null or started_at is not null),
  check (asked_by ->> 'sub' is distinct from confirmed_by ->> 'sub')
);
create unique index tenant_removal_open on svc.tenant_removal (tenant_id) where withdrawn_at is null;
create trigger append_only before delete or truncate on svc.tenant_removal
  for each statement execute function svc.refuse_record_change();
alter table svc.tenant_removal enable row level security, force row level security;
create policy administration on svc.tenant_removal to svc_admin using (true) with check (true);
create policy upkeep on svc.tenant_removal for select to svc_owner using (true);
grant select, insert (tenant_id, wait_days, export_sha256, asked_by),
  update (confirmed_at, confirmed_by, due_at, withdrawn_at, withdrawn_by, started_at, removed_at, counts)
  on svc.tenant_removal to svc_admin;

-- A tenant's rows go with it. The other tables with a tenant have a policy of their own that lets their owner.
create policy removal on svc.provider_event to svc_owner using (tenant_id = svc.current_tenant());
