-- The credentials of upstream catalogs. A credential's nickname is the {prefix} of the catalog's paths.

create table svc.catalog_credential (
  tenant_id uuid not null references svc.tenant,
  credential_id uuid not null,
  nickname text not null check (nickname ~ '^[a-zA-Z0-9_-]+$'),
  catalog_kind text not null check (catalog_kind in ('alpha', 'beta', 'gamma', 'delta')),
  endpoint text not null,
  -- The configuration in two parts: what may be shown, and what AES-256-GCM seals.
  config jsonb not null,
  sealed bytea not null,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, credential_id),
  unique (tenant_id, nickname)
);
create constraint trigger governance_version after insert or update or delete on svc.catalog_credential
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.catalog_credential enable row level security, force row level security;
create policy own_tenant on svc.catalog_credential using (tenant_id = svc.current_tenant());
create policy administration on svc.catalog_credential to svc_admin using (true);
grant select on svc.catalog_credential to svc_tenant;
grant select, insert, update, delete on svc.catalog_credential to svc_admin;
