-- Keys, their ages, and what became of them (docs/operations.md).

-- Since when the secret signs that signs now. Null: since the webhook was made.
alter table svc.webhook_subscription add column turned_at timestamptz;
grant select (created_at, turned_at) on svc.webhook_subscription to svc_admin;
grant select (at) on svc.transform_tenant_key to svc_admin;

-- Since when the next secrets key is announced.
alter table svc.secrets_key_check add column announced_at timestamptz;

-- What became of the keys that no tenant owns. What becomes of a tenant's is in its administration log.
create table svc.key_record (
  seq bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  kind text not null check (kind in ('secrets', 'token-signing', 'plan-signing', 'sessions')),
  action text not null check (action in ('announced', 'withdrawn', 'begun', 'turned', 'lost')),
  -- Subject of who did it, and the whole of it; null where a start with other settings did, or a job.
  by text check (by <> ''),
  actor jsonb,
  check ((by is null) = (actor is null))
);
create trigger append_only before update or delete or truncate on svc.key_record
  for each statement execute function svc.refuse_change();
alter table svc.key_record enable row level security, force row level security;
create policy administration on svc.key_record to svc_admin using (true);
grant select, insert on svc.key_record to svc_admin;

-- Whether the version is the first below a tenant key that was made in place of a lost one: those before it have no key.
alter table svc.transform_scope_version add column begins boolean not null default false;

-- What a lost secrets key takes with it (`covenant keys lost`). Null: the password was lost.
alter table svc.reconciliation_source alter column sealed drop not null;
create policy administration on svc.transform_rule for select to svc_admin using (true);
create policy administration on svc.transform_scope_version to svc_admin using (true);
create policy administration on svc.transform_reveal to svc_admin using (true);
create policy administration on svc.transform_subject_key to svc_admin using (true);
grant select (tenant_id, tag, definition) on svc.transform_rule to svc_admin;
grant select, insert on svc.transform_scope_version to svc_admin;
grant select (tenant_id, definition), delete on svc.transform_reveal to svc_admin;
grant select (tenant_id, sid), delete on svc.transform_subject_key to svc_admin;
grant delete on svc.transform_tenant_key to svc_admin;
grant delete on svc.detection_set_aside to svc_admin;
