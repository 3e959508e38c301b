-- Access that is asked for, decided, granted for a time, and ends by itself (docs/reference/access.md).

create table svc.access_request (
  tenant_id uuid not null references svc.tenant,
  request_id uuid not null,
  requested_at timestamptz not null,
  -- Of what a decision decides: the table, to whom, what it lifts, for how long, why.
  sha256 bytea not null check (octet_length(sha256) = 32),
  -- The table's id in the graph, and its names when it was asked for.
  table_id text not null check (table_id <> ''),
  table_ref jsonb not null,
  contract_id text not null,
  contract_version bigint not null,
  -- {sub} or {role}: to whom access is to be given.
  grantee jsonb not null,
  -- The columns and filters that were named; null members: all that hides something.
  wanted jsonb not null,
  -- What it would lift, as src/core/access-grant.ts declares it: found again when it is decided.
  lifts jsonb not null,
  purpose text not null check (purpose <> ''),
  ticket text,
  seconds bigint not null check (seconds > 0),
  requested_by jsonb not null,
  requested_by_sub text not null check (requested_by_sub <> ''),
  state text not null default 'waiting' check (state in ('waiting', 'granted', 'denied', 'withdrawn', 'expired')),
  -- [{approves, level, comment, at, by}], in their order.
  decisions jsonb not null default '[]',
  ended_at timestamptz,
  primary key (tenant_id, request_id)
);
create index access_request_newest on svc.access_request (tenant_id, requested_at desc, request_id desc);
create index access_request_table on svc.access_request (tenant_id, table_id, requested_at desc);
create index access_request_person on svc.access_request (tenant_id, requested_by_sub, requested_at desc);
create index access_request_waiting on svc.access_request (tenant_id, requested_at) where state = 'waiting';

create table svc.access_grant (
  tenant_id uuid not null references svc.tenant,
  grant_id uuid not null,
  request_id uuid not null,
  -- As in the request; a rename of the table changes both.
  table_id text not null check (table_id <> ''),
  table_ref jsonb not null,
  contract_id text not null,
  grantee jsonb not null,
  -- What it lifts, as src/core/access-grant.ts declares it.
  lifts jsonb not null,
  purpose text not null check (purpose <> ''),
  ticket text,
  granted_at timestamptz not null,
  granted_by jsonb not null,
  from_at timestamptz not null,
  until_at timestamptz not null check (until_at > from_at),
  -- Set once: when it was revoked, or a job saw that its time was over.
  ended_at timestamptz,
  ended_by jsonb,
  end_reason text,
  -- When its grantee was reminded that it ends.
  reminded_at timestamptz,
  primary key (tenant_id, grant_id)
);
create index access_grant_open on svc.access_grant (tenant_id, table_id) where ended_at is null;
create index access_grant_newest on svc.access_grant (tenant_id, granted_at desc, grant_id desc);
create index access_grant_ends on svc.access_grant (tenant_id, until_at) where ended_at is null;

do $$
declare
  name text;
begin
  foreach name in array array['access_request', 'access_grant'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
  end loop;
end $$;
grant update (state, decisions, ended_at) on svc.access_request to svc_tenant;
grant update (table_id, table_ref, until_at, ended_at, ended_by, end_reason, reminded_at)
  on svc.access_grant to svc_tenant;

create constraint trigger governance_version
  after insert or update of table_id, until_at, ended_at on svc.access_grant
  deferrable initially deferred for each row execute function svc.raise_governance_version();
