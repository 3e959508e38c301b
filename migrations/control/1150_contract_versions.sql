-- The versions of contracts that came as a document: the bytes as received, and what Covenant reads of them.

create table svc.contract_version (
  tenant_id uuid not null references svc.tenant,
  contract_id text not null check (contract_id <> ''),
  -- Rises by one with each version of the contract.
  number int not null check (number > 0),
  -- What the document says of itself.
  version text not null,
  api_version text not null,
  format text not null check (format in ('yaml', 'json')),
  body bytea not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  model jsonb not null,
  state text not null check (state in ('draft', 'proposed', 'approved', 'deploying', 'active', 'deprecated', 'retired',
    'rejected', 'withdrawn', 'failed')),
  -- Whether it became active without the checks of a deployment.
  unverified boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  -- The Actor.
  created_by jsonb not null,
  primary key (tenant_id, contract_id, number)
);
create unique index contract_version_active on svc.contract_version (tenant_id, contract_id) where state = 'active';
alter table svc.contract_version enable row level security, force row level security;
create policy own_tenant on svc.contract_version using (tenant_id = svc.current_tenant());
-- The document of a version never changes.
grant select, insert, update (state, unverified) on svc.contract_version to svc_tenant;
