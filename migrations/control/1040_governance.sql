-- Changes of policies and contracts, and the tenant's settings of reading. The policies and contracts themselves
-- are in the tenant's graph.

-- What each policy said, and when. A verdict that is completed after a crash is recorded with the policies that
-- stood when it was reached. Append-only.
create table svc.policy_history (
  tenant_id uuid not null,
  history_seq bigint generated always as identity,
  policy_id text not null,
  -- The table it was attached to; null where it was removed.
  table_id text,
  policy jsonb,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, history_seq)
);
create index policy_history_policy on svc.policy_history (tenant_id, policy_id, history_seq);
create trigger append_only before update or delete or truncate on svc.policy_history
  for each statement execute function svc.refuse_change();
alter table svc.policy_history enable row level security, force row level security;
create policy own_tenant on svc.policy_history using (tenant_id = svc.current_tenant());
grant select, insert on svc.policy_history to svc_tenant;

-- Changes of what governs reading. Append-only.
create table svc.contract_change (
  tenant_id uuid not null references svc.tenant,
  change_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  actor_sub text not null check (actor_sub <> ''),
  action text not null,
  -- What was changed: a table, column, tag, policy id or setting, by name.
  subject jsonb not null,
  -- What was put there; null where it was removed.
  value jsonb,
  primary key (tenant_id, change_seq)
);
create trigger append_only before update or delete or truncate on svc.contract_change
  for each statement execute function svc.refuse_change();
alter table svc.contract_change enable row level security, force row level security;
create policy own_tenant on svc.contract_change using (tenant_id = svc.current_tenant());
grant select, insert on svc.contract_change to svc_tenant;

-- Its changes are recorded in svc.contract_change.
create table svc.read_setting (
  tenant_id uuid primary key references svc.tenant,
  readable_without_contract boolean not null
);
create constraint trigger governance_version after insert or update or delete on svc.read_setting
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.read_setting enable row level security, force row level security;
create policy own_tenant on svc.read_setting using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.read_setting to svc_tenant;

-- A number for each tenant that rises with every change of what a read rests on. A read that lasts longer than one
-- answer compares it, and loads the rest only where it has risen. Triggers raise it, so no writer can forget to.
create table svc.governance_version (
  tenant_id uuid primary key references svc.tenant,
  version bigint not null,
  -- The transaction that raised it last: each raises it once.
  raised_in xid8 not null
);
alter table svc.governance_version enable row level security, force row level security;
create policy own_tenant on svc.governance_version using (tenant_id = svc.current_tenant());
create policy administration on svc.governance_version to svc_admin using (true);
grant select, insert, update on svc.governance_version to svc_tenant, svc_admin;
