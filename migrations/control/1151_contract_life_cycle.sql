-- The life cycle of contract versions: what was found of a proposal, every move, every sign-off, the tenant's setting.

-- Whether the version came through the life cycle; the short way is closed to its contract then.
alter table svc.contract_version add column life_cycle boolean not null default false;
-- What the proposal would change, and the version in force that it was compared with (0: none).
alter table svc.contract_version add column verdict jsonb;
alter table svc.contract_version add column base_number int;
-- Until when an approval by break-glass may be deployed.
alter table svc.contract_version add column break_glass_until timestamptz;
-- A deprecated version is still in force: there is one at most.
create unique index contract_version_in_force on svc.contract_version (tenant_id, contract_id)
  where state in ('active', 'deprecated');
create unique index contract_version_deploying on svc.contract_version (tenant_id, contract_id)
  where state = 'deploying';
grant update (verdict, base_number, break_glass_until) on svc.contract_version to svc_tenant;

-- Append-only.
create table svc.contract_move (
  tenant_id uuid not null references svc.tenant,
  move_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  contract_id text not null,
  number int not null,
  -- Of the version's document.
  sha256 bytea not null check (octet_length(sha256) = 32),
  move text not null,
  from_state text,
  to_state text not null,
  -- Whether it followed by itself from what was found.
  auto boolean not null,
  reason text,
  actor_sub text not null check (actor_sub <> ''),
  actor jsonb not null,
  primary key (tenant_id, move_seq)
);
create index contract_move_contract on svc.contract_move (tenant_id, contract_id, move_seq desc);

-- A sign-off is bound to the document that was signed. Append-only.
create table svc.contract_sign_off (
  tenant_id uuid not null references svc.tenant,
  sign_off_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  contract_id text not null,
  number int not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  level text not null check (level in ('first', 'second')),
  comment text,
  actor_sub text not null check (actor_sub <> ''),
  actor jsonb not null,
  primary key (tenant_id, sign_off_seq)
);
create unique index contract_sign_off_once on svc.contract_sign_off
  (tenant_id, contract_id, number, sha256, md5(actor_sub));

create table svc.contract_setting (
  tenant_id uuid primary key references svc.tenant,
  -- Whether a version may become active without checks; it is shown as unverified then.
  deploy_unverified boolean not null
);

do $$
declare
  name text;
begin
  foreach name in array array['contract_move', 'contract_sign_off', 'contract_setting'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
  end loop;
  foreach name in array array['contract_move', 'contract_sign_off'] loop
    execute format('create trigger append_only before update or delete or truncate on svc.%I
      for each statement execute function svc.refuse_change()', name);
  end loop;
end $$;
grant update on svc.contract_setting to svc_tenant;
