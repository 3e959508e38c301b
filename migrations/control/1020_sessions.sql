-- Sessions of services and browsers, the keys that sign access tokens, and what identity and billing providers
-- reported.

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
  -- SCRAM-SHA-256 checks the secret by it, for clients that cannot send the secret itself.
  scram_verifier text check (scram_verifier ~ '^SCRAM-SHA-256\$\d+:'),
  primary key (tenant_id, session_id)
);
create index service_session_sub on svc.service_session (principal_sub);
create index service_session_id on svc.service_session (session_id);
create constraint trigger governance_version
  after update of revoked_at, expires_at, scopes, principal_roles or delete on svc.service_session
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.service_session enable row level security, force row level security;
create policy own_tenant on svc.service_session using (tenant_id = svc.current_tenant());
create policy administration on svc.service_session to svc_admin using (true);
-- Only svc_admin reads what a secret is checked by.
grant select (tenant_id, session_id, name, principal_sub, principal_email, principal_roles, scopes, created_at,
  expires_at, revoked_at) on svc.service_session to svc_tenant;
grant insert on svc.service_session to svc_tenant;
grant update (revoked_at) on svc.service_session to svc_tenant, svc_admin;
grant select on svc.service_session to svc_admin;

create table svc.browser_session (
  tenant_id uuid not null references svc.tenant,
  session_id uuid not null,
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  principal_sub text not null check (principal_sub <> ''),
  principal_email text,
  principal_roles jsonb not null,
  scopes jsonb not null,
  -- The identity provider's name for the login (OpenID Connect claim sid). The provider ends the login by it.
  provider_sid text,
  created_at timestamptz not null default now(),
  -- Written at most once a minute.
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (tenant_id, session_id)
);
create index browser_session_sub on svc.browser_session (principal_sub);
create index browser_session_sid on svc.browser_session (provider_sid);
create index browser_session_expiry on svc.browser_session (expires_at);
create constraint trigger governance_version
  after update of revoked_at, expires_at, scopes, principal_roles on svc.browser_session
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.browser_session enable row level security, force row level security;
create policy own_tenant on svc.browser_session using (tenant_id = svc.current_tenant());
create policy administration on svc.browser_session to svc_admin using (true);
grant select (tenant_id, session_id, principal_sub, principal_email, principal_roles, scopes, created_at,
  seen_at, expires_at, revoked_at) on svc.browser_session to svc_tenant;
grant update (revoked_at) on svc.browser_session to svc_tenant;
grant select, insert, delete, update (seen_at, revoked_at) on svc.browser_session to svc_admin;

create table svc.signing_key (
  key_id uuid primary key,
  public_jwk jsonb not null,
  -- The private half, sealed by AES-256-GCM.
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table svc.signing_key enable row level security, force row level security;
create policy administration on svc.signing_key to svc_admin using (true);
grant select, insert, delete on svc.signing_key to svc_admin;

-- Digests of what may be used once: login states and webhook signatures. A row outlives what it guards.
create table svc.used_once (
  digest bytea primary key check (octet_length(digest) = 32),
  expires_at timestamptz not null
);
create index used_once_expiry on svc.used_once (expires_at);
alter table svc.used_once enable row level security, force row level security;
create policy administration on svc.used_once to svc_admin using (true);
grant select, insert, delete, update (expires_at) on svc.used_once to svc_admin;

create table svc.provider_event (
  provider text not null check (provider in ('identity-provider', 'billing')),
  event_id text not null,
  event_type text not null,
  -- Set where the event concerns an organization that has a tenant.
  tenant_id uuid references svc.tenant,
  payload jsonb not null,
  received_at timestamptz not null default now(),
  primary key (provider, event_id)
);
alter table svc.provider_event enable row level security, force row level security;
create policy administration on svc.provider_event to svc_admin using (true);
grant select, insert on svc.provider_event to svc_admin;
