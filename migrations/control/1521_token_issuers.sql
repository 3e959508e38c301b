-- Issuers whose bearer tokens name people of a tenant (docs/reference/identity.md 3.3), each with keys, audience and
-- claims of its own, besides the issuer of the service's configuration.
create table svc.token_issuer (
  tenant_id uuid not null references svc.tenant,
  name text not null check (name <> ''),
  issuer text not null check (issuer <> ''),
  audience text not null check (audience <> ''),
  -- Where the issuer's keys are, or the keys themselves. Without both they are found by discovery.
  keys_url text,
  keys jsonb check (keys is null or keys_url is null),
  organization_claim text not null check (organization_claim <> ''),
  -- Null: `roles`, else `groups`.
  roles_claim text check (roles_claim <> ''),
  -- Stands before each subject, so that the people of two issuers are told apart.
  subject_prefix text not null default '',
  changed_at timestamptz not null default clock_timestamp(),
  changed_by jsonb not null,
  primary key (tenant_id, name),
  -- A token belongs to one of them at most.
  unique (tenant_id, issuer)
);
create index token_issuer_issuer on svc.token_issuer (issuer);
alter table svc.token_issuer enable row level security, force row level security;
create policy own_tenant on svc.token_issuer using (tenant_id = svc.current_tenant());
-- On wires without a session the token comes before its tenant is known.
create policy administration on svc.token_issuer to svc_admin using (true);
grant select on svc.token_issuer to svc_tenant;
grant select, insert, update, delete on svc.token_issuer to svc_admin;

-- Raised by each change of the tenant's issuers; 0 where it never had one. It comes with the session, so that a request
-- asks for issuers only where there are some that it does not know.
alter table svc.tenant add column issuers_version bigint not null default 0;
-- It has another result now.
set local role svc_admin;
drop function if exists svc.find_service_session(bytea, uuid, text);
set local role svc_owner;
