-- Which workloads a tenant trusts (docs/reference/identity.md 10): their tokens are exchanged for sessions of one name.

create table svc.workload_trust (
  tenant_id uuid not null references svc.tenant,
  -- What a client names as the audience of an exchange. It stays when the trust is changed.
  trust_id uuid not null default gen_random_uuid(),
  name text not null check (name <> ''),
  issuer text not null check (issuer <> ''),
  audience text not null check (audience <> ''),
  -- A pattern of subjects, in which * is any text.
  subject text not null check (subject ~ '[^*]'),
  principal_sub text not null check (principal_sub ~ '^service:.'),
  principal_roles jsonb not null,
  scopes jsonb not null,
  -- Where the issuer's keys are, or the keys themselves. Without both they are found by discovery.
  keys_url text,
  keys jsonb check (keys is null or keys_url is null),
  -- Raised by each change.
  version bigint not null default 1,
  changed_at timestamptz not null default clock_timestamp(),
  changed_by jsonb not null,
  primary key (tenant_id, trust_id),
  unique (tenant_id, name)
);
create unique index workload_trust_id on svc.workload_trust (trust_id);
alter table svc.workload_trust enable row level security, force row level security;
create policy own_tenant on svc.workload_trust using (tenant_id = svc.current_tenant());
-- An exchange names the trust before its tenant is known.
create policy administration on svc.workload_trust for select to svc_admin using (true);
grant select, insert, update, delete on svc.workload_trust to svc_tenant;
grant select on svc.workload_trust to svc_admin;

-- The trust by which a session was exchanged. It may have been removed.
alter table svc.service_session add column trust_id uuid;
create index service_session_trust on svc.service_session (tenant_id, trust_id) where trust_id is not null;
grant select (trust_id) on svc.service_session to svc_tenant;
-- Of exchanged sessions, which end by themselves.
create index service_session_exchanged on svc.service_session (expires_at) where trust_id is not null;
grant delete on svc.service_session to svc_admin;
