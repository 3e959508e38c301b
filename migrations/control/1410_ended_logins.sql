-- Logins that the identity provider has ended (OpenID Connect back-channel logout), and the ID token by which a person
-- logs out at the provider.

-- Sealed by AES-256-GCM. Null where the provider takes no logout, or the token is too long for an address.
alter table svc.browser_session add column id_token bytea;

-- A row outlives each session of the login, so that a login that completes late makes none.
create table svc.ended_login (
  -- SHA-256 of the login's id, or of the person where the provider ended all of their logins.
  login_sha256 bytea primary key check (octet_length(login_sha256) = 32),
  ended_at timestamptz not null,
  expires_at timestamptz not null
);
create index ended_login_expiry on svc.ended_login (expires_at);
alter table svc.ended_login enable row level security, force row level security;
create policy administration on svc.ended_login to svc_admin using (true);
grant select, insert, delete, update (ended_at, expires_at) on svc.ended_login to svc_admin;
