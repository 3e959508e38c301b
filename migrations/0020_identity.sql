-- Sessions of browsers, keys that sign access tokens, and what identity and billing providers reported.

create table svc.browser_session (
  tenant_id uuid not null references svc.tenant,
  session_id uuid not null,
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  principal_sub text not null check (principal_sub <> ''),
  principal_email text,
  principal_roles jsonb not null,
  scopes jsonb not null,
  -- The identity provider's own name of the login (OpenID Connect claim sid), by which it ends it.
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
create index service_session_sub on svc.service_session (principal_sub);
create index browser_session_expiry on svc.browser_session (expires_at);

create table svc.signing_key (
  key_id uuid primary key,
  public_jwk jsonb not null,
  -- The private half, sealed by AES-256-GCM.
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Digests of what counts once: login states and webhook signatures. A row outlives what it guards.
create table svc.used_once (
  digest bytea primary key check (octet_length(digest) = 32),
  expires_at timestamptz not null
);
create index used_once_expiry on svc.used_once (expires_at);

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

do $$
declare
  t text;
begin
  foreach t in array array['browser_session', 'signing_key', 'used_once', 'provider_event'] loop
    execute format('alter table svc.%I enable row level security', t);
    execute format('alter table svc.%I force row level security', t);
    execute format('create policy administration on svc.%I to svc_admin using (true)', t);
  end loop;
end $$;
create policy own_tenant on svc.browser_session using (tenant_id = svc.current_tenant());

grant select (tenant_id, session_id, principal_sub, principal_email, principal_roles, scopes, created_at,
  seen_at, expires_at, revoked_at) on svc.browser_session to svc_tenant;
grant update (revoked_at) on svc.browser_session to svc_tenant;
grant select, insert, delete, update (seen_at, revoked_at) on svc.browser_session to svc_admin;
grant update (revoked_at) on svc.service_session to svc_admin;
grant select, insert, delete on svc.signing_key, svc.used_once to svc_admin;
grant update (expires_at) on svc.used_once to svc_admin;
grant select, insert on svc.provider_event to svc_admin;
