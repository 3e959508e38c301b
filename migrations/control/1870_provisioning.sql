-- People and groups that an identity provider provisions by SCIM (docs/reference/identity.md 11).

-- How a tenant's people are matched with the principals of requests. A tenant without a row has no provisioning.
create table svc.provisioning (
  tenant_id uuid primary key references svc.tenant,
  -- What of a principal is compared.
  claim text not null default 'sub' check (claim in ('sub', 'email')),
  -- What of a user it is compared with.
  attribute text not null default 'userName' check (attribute in ('userName', 'externalId', 'email')),
  -- Where the roles of people come from: their tokens, or the groups here.
  roles_from text not null default 'token' check (roles_from in ('token', 'groups')),
  changed_at timestamptz not null default clock_timestamp(),
  changed_by jsonb not null
);

create table svc.scim_user (
  tenant_id uuid not null references svc.tenant,
  user_id uuid not null,
  -- In lower case, as the specification compares it.
  user_name_key text not null check (user_name_key <> ''),
  external_id text,
  -- The primary e-mail address, else the first, in lower case.
  email_key text,
  -- What the tenant's settings compare with a principal; null where the user lacks it.
  person_key text,
  active boolean not null,
  -- The attributes, without `id`, `meta` and groups.
  resource jsonb not null,
  version bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, user_id),
  unique (tenant_id, user_name_key)
);
create index scim_user_person on svc.scim_user (tenant_id, person_key);
create index scim_user_external on svc.scim_user (tenant_id, external_id);
create index scim_user_email on svc.scim_user (tenant_id, email_key);

create table svc.scim_group (
  tenant_id uuid not null references svc.tenant,
  group_id uuid not null,
  display_name text not null check (display_name <> ''),
  display_key text not null,
  external_id text,
  version bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, group_id),
  unique (tenant_id, display_key)
);
create index scim_group_external on svc.scim_group (tenant_id, external_id);

create table svc.scim_member (
  tenant_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  primary key (tenant_id, group_id, user_id),
  foreign key (tenant_id, group_id) references svc.scim_group on delete cascade,
  foreign key (tenant_id, user_id) references svc.scim_user on delete cascade
);
create index scim_member_user on svc.scim_member (tenant_id, user_id);

-- Names under which a person was provisioned and is no longer: a digest, so that a deleted user leaves no name.
create table svc.ended_person (
  tenant_id uuid not null references svc.tenant,
  person_sha256 bytea not null,
  ended_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, person_sha256)
);

do $$
declare
  name text;
begin
  foreach name in array array['provisioning', 'scim_user', 'scim_group', 'scim_member', 'ended_person'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    -- A change ends sessions and raises a number of the tenant, as only svc_admin may.
    execute format('create policy administration on svc.%I to svc_admin using (true)', name);
    execute format('grant select on svc.%I to svc_tenant', name);
    execute format('grant select, insert, update, delete on svc.%I to svc_admin', name);
  end loop;
end $$;
