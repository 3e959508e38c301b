-- Changes that loosen what a deployed contract promises, outside of its document: a mask of a tag, a tag, a reveal rule,
-- an attestation. Each waits here for somebody else's sign-off, and is made once when the same call is repeated.
create table svc.loosening (
  tenant_id uuid not null references svc.tenant,
  loosening_id uuid not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- Of the change, the contracts and the findings.
  sha256 bytea not null check (octet_length(sha256) = 32),
  action text not null,
  subject jsonb not null,
  value jsonb,
  contracts jsonb not null,
  -- What becomes looser, in words.
  findings jsonb not null,
  actor_sub text not null check (actor_sub <> ''),
  actor jsonb not null,
  -- [{level, comment, at, by}], in their order.
  sign_offs jsonb not null default '[]',
  -- When the last sign-off that it needs was given.
  signed_at timestamptz,
  -- When it was made, by whom.
  used_at timestamptz,
  used_by jsonb,
  primary key (tenant_id, loosening_id)
);
create index loosening_change on svc.loosening (tenant_id, sha256) where used_at is null;
create index loosening_newest on svc.loosening (tenant_id, requested_at desc, loosening_id desc);
alter table svc.loosening enable row level security, force row level security;
create policy own_tenant on svc.loosening using (tenant_id = svc.current_tenant());
grant select, insert on svc.loosening to svc_tenant;
grant update (sign_offs, signed_at, used_at, used_by) on svc.loosening to svc_tenant;
