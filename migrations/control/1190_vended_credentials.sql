-- Storage credentials that the service issued (docs/reference/credentials.md 3): to which session, for which table and
-- folders, and until when. Never the secret. A row is written before the credential leaves the service.

create table svc.vended_credential (
  tenant_id uuid not null references svc.tenant,
  vended_id uuid not null default gen_random_uuid(),
  session_id uuid not null,
  session_kind text not null check (session_kind in ('service', 'browser')),
  principal text not null check (principal <> ''),
  -- The catalog credential with whose settings it was issued.
  credential_id uuid not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  access text not null check (access in ('read', 'write')),
  -- Canonical, each with one trailing slash.
  prefixes jsonb not null,
  -- The public part of the credential.
  key_id text not null,
  -- The role that was assumed, and the name of its session, by which a denial finds it.
  issued_for text not null,
  session_name text not null,
  issued_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- Set where an administrator asked the cloud to refuse it before it expires.
  denied_at timestamptz,
  primary key (tenant_id, vended_id)
);
create index vended_credential_session on svc.vended_credential (tenant_id, session_id, expires_at);
create index vended_credential_expiry on svc.vended_credential (tenant_id, expires_at);
alter table svc.vended_credential enable row level security, force row level security;
create policy own_tenant on svc.vended_credential using (tenant_id = svc.current_tenant());
grant select, insert, delete, update (denied_at) on svc.vended_credential to svc_tenant;
