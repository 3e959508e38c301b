-- The sets of policies that commits were judged by, each once. An audit row names its set by the SHA-256 of its JSON, so
-- that a thousand policies do not stand in every row. Rows from before hold theirs themselves, and so do rows without any.
-- Append-only.
create table svc.policy_set (
  tenant_id uuid not null references svc.tenant,
  sha256 bytea not null check (octet_length(sha256) = 32),
  policies jsonb not null,
  first_at timestamptz not null default now(),
  primary key (tenant_id, sha256)
);
create trigger append_only before update or delete or truncate on svc.policy_set
  for each statement execute function svc.refuse_change();
alter table svc.policy_set enable row level security, force row level security;
create policy own_tenant on svc.policy_set using (tenant_id = svc.current_tenant());
grant select, insert on svc.policy_set to svc_tenant;

alter table svc.audit_log alter column policies drop not null, add column policy_set bytea;
-- Not checked on rows that are there: each has policies of its own.
alter table svc.audit_log add constraint audit_log_policies check ((policies is null) = (policy_set is not null)) not valid;
