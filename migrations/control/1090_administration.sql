-- Who administers: the creator of each session, the session behind each decision, and the log of all changes.

-- The Actor who made the session; null where it was made before this column.
alter table svc.service_session add column created_by jsonb;
grant select (created_by) on svc.service_session to svc_tenant;
alter table svc.browser_session add column created_by jsonb;
grant select (created_by) on svc.browser_session to svc_tenant;

-- The Actor who decided; null before this column.
alter table svc.contract_change add column actor jsonb;
alter table svc.detection_decision add column actor jsonb;

-- Append-only. Written in the transaction that makes the change, so that no change is without its row.
create table svc.administration_log (
  tenant_id uuid not null references svc.tenant,
  administration_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  action text not null,
  -- What was changed: a session, catalog, policy, table or finding, by name or id.
  subject jsonb not null,
  -- What was put there, without secrets; null where it was removed.
  value jsonb,
  actor_sub text not null check (actor_sub <> ''),
  actor jsonb not null,
  request_id text not null check (request_id <> ''),
  primary key (tenant_id, administration_seq)
);
create index administration_log_request on svc.administration_log (tenant_id, request_id);
create index administration_log_actor on svc.administration_log (tenant_id, md5(actor_sub), administration_seq desc);
create trigger append_only before update or delete or truncate on svc.administration_log
  for each statement execute function svc.refuse_change();
alter table svc.administration_log enable row level security, force row level security;
create policy own_tenant on svc.administration_log using (tenant_id = svc.current_tenant());
create policy administration on svc.administration_log to svc_admin using (true);
grant select, insert on svc.administration_log to svc_tenant, svc_admin;
