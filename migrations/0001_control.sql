-- The control schema: tenants, credentials, sessions, intents, the audit log, breaches.
-- Runs as svc_owner. Every table with tenant data is under FORCE ROW LEVEL SECURITY keyed on
-- app.tenant_id; svc_admin has policies of its own for what precedes a tenant or spans tenants.

-- A LOCAL setting reads '' after its transaction, not NULL.
create function svc.current_tenant() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('app.tenant_id', true), '')::uuid;

create table svc.tenant (
  tenant_id uuid primary key,
  organization_id text unique check (organization_id ~ '^org_[A-Za-z0-9]+$'),
  name text not null check (name <> ''),
  state text not null default 'active' check (state in ('active', 'suspended')),
  created_at timestamptz not null default now()
);

create table svc.catalog_credential (
  tenant_id uuid not null references svc.tenant,
  credential_id uuid not null,
  nickname text not null check (nickname ~ '^[a-zA-Z0-9_-]+$'),
  catalog_kind text not null check (catalog_kind in ('alpha', 'beta', 'gamma', 'delta')),
  endpoint text not null,
  -- config_json (SPEC 2.2) is kept in two parts: what may be shown, and what is sealed by AES-256-GCM.
  config jsonb not null,
  sealed bytea not null,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, credential_id),
  unique (tenant_id, nickname)
);

create table svc.service_session (
  tenant_id uuid not null references svc.tenant,
  session_id uuid not null,
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  name text not null,
  principal_sub text not null check (principal_sub <> ''),
  principal_email text,
  principal_roles jsonb not null,
  scopes jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (tenant_id, session_id)
);

create table svc.commit_intent (
  tenant_id uuid not null,
  commit_id uuid not null,
  table_id text not null,
  -- The CommitIntent without its body.
  intent jsonb not null,
  body bytea not null,
  opened_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null,
  -- By when the upstream call that this intent covers is surely over.
  upstream_until timestamptz not null,
  primary key (tenant_id, commit_id)
);
alter table svc.commit_intent alter column body set storage external;
create index commit_intent_lease on svc.commit_intent (lease_until);

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
  metadata_location text check ((decision = 'APPROVED') = (metadata_location is not null)),
  policies jsonb not null,
  outcomes jsonb not null,
  received_at timestamptz not null,
  primary key (tenant_id, commit_id)
);
alter table svc.audit_log alter column body set storage external;
create unique index audit_log_seq on svc.audit_log (tenant_id, audit_seq desc);
create index audit_log_table on svc.audit_log (tenant_id, table_id, audit_seq desc);

create function svc.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'svc.% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on svc.audit_log
  for each statement execute function svc.refuse_change();

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
-- subject may be a long metadata location, an index entry may not.
create unique index breach_open on svc.breach (tenant_id, kind, md5(subject)) where resolved_at is null;

do $$
declare
  t text;
begin
  foreach t in array array['tenant', 'catalog_credential', 'service_session', 'commit_intent', 'audit_log', 'breach'] loop
    execute format('alter table svc.%I enable row level security', t);
    execute format('alter table svc.%I force row level security', t);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', t);
  end loop;
  foreach t in array array['tenant', 'catalog_credential', 'service_session', 'commit_intent'] loop
    execute format('create policy administration on svc.%I to svc_admin using (true)', t);
  end loop;
end $$;

revoke all on all functions in schema svc from public;
grant usage on schema svc to svc_tenant, svc_admin;
grant execute on function svc.current_tenant() to svc_tenant, svc_admin;

grant select on svc.tenant, svc.catalog_credential to svc_tenant;
-- The hash of a session secret is for svc_admin alone.
grant select (tenant_id, session_id, name, principal_sub, principal_email, principal_roles, scopes, created_at,
  expires_at, revoked_at) on svc.service_session to svc_tenant;
grant insert on svc.service_session to svc_tenant;
grant update (revoked_at) on svc.service_session to svc_tenant;
grant select, insert, delete, update (intent) on svc.commit_intent to svc_tenant;
grant select, insert on svc.audit_log to svc_tenant;
grant select, insert on svc.breach to svc_tenant;
grant update (last_seen_at, resolved_at, detail) on svc.breach to svc_tenant;

grant select, update on svc.tenant to svc_admin;
grant select, insert, update, delete on svc.catalog_credential to svc_admin;
grant select on svc.service_session to svc_admin;
grant select on svc.commit_intent to svc_admin;
grant update (lease_until) on svc.commit_intent to svc_admin;

-- What the health check queries: a graph with nothing in it.
select ag_catalog.create_graph('svc_health');
grant usage on schema svc_health to svc_tenant;
