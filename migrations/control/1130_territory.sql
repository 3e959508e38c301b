-- The territory index: which files belong to which table (docs/reference/territory.md). Relational, because a commit
-- asks it for the ancestors of a few paths, which is one scan of an index.

-- What a tenant does about files of another table, and a number that every change of its territory raises.
create table svc.territory_state (
  tenant_id uuid primary key references svc.tenant on delete cascade,
  -- `observe` allows and lists what `enforce` refuses.
  mode text not null check (mode in ('observe', 'enforce')),
  version bigint not null default 1,
  -- The transaction that raised it last: each raises it once.
  raised_in xid8 not null default '0'
);
alter table svc.territory_state enable row level security, force row level security;
create policy own_tenant on svc.territory_state using (tenant_id = svc.current_tenant());
create policy administration on svc.territory_state to svc_admin using (true);
grant select, update on svc.territory_state to svc_tenant;
grant insert on svc.territory_state to svc_admin;

-- Tables of a tenant that exists may overlap already, so it starts by observing. Later tenants start by enforcing.
set local role svc_admin;
insert into svc.territory_state (tenant_id, mode) select tenant_id, 'observe' from svc.tenant;
set local role svc_owner;
revoke insert on svc.territory_state from svc_admin;

create trigger territory_state after insert on svc.tenant
  for each row execute function svc.start_territory();
create constraint trigger governance_version after update of mode on svc.territory_state
  deferrable initially deferred for each row execute function svc.raise_governance_version();

-- One row for each location that a table has, had, or may write to. A dropped table keeps its rows until an
-- administrator releases them, because files outlive names.
create table svc.territory (
  tenant_id uuid not null,
  territory_id uuid not null default gen_random_uuid(),
  -- Canonical, with one trailing slash. In C order, so that all that lies below a prefix is one range.
  prefix text collate "C" not null check (prefix like '%/' and octet_length(prefix) <= 2000),
  kind text not null check (kind in ('location', 'data-path', 'metadata-path', 'granted', 'derived')),
  -- The owner: the catalog by `catalogOf`, which several credentials may share, and the table in it.
  catalog text not null,
  credential_id uuid not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  -- Null where it was not known yet: the table was about to be created.
  table_uuid text,
  since timestamptz not null default clock_timestamp(),
  released_at timestamptz,
  -- The commit for which it was taken. If that surely fails, the row is removed with the commit's intent.
  claimed_by uuid,
  primary key (tenant_id, territory_id)
);
create index territory_prefix on svc.territory (tenant_id, prefix) where released_at is null;
create unique index territory_table on svc.territory (tenant_id, table_id, md5(catalog), md5(prefix), kind)
  where released_at is null;
create index territory_claim on svc.territory (tenant_id, claimed_by) where claimed_by is not null;
create trigger territory_version after insert or update or delete on svc.territory
  for each row execute function svc.raise_territory_version();
create constraint trigger governance_version after update or delete on svc.territory
  deferrable initially deferred for each row execute function svc.raise_governance_version();
alter table svc.territory enable row level security, force row level security;
create policy own_tenant on svc.territory using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.territory to svc_tenant;

-- What `enforce` refuses or would refuse, once for each table, folder and reason. The newest are kept.
create table svc.territory_conflict (
  tenant_id uuid not null,
  conflict_id uuid not null default gen_random_uuid(),
  found_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  seen bigint not null default 1,
  -- Where it was seen.
  source text not null check (source in ('commit', 'load', 'sweep')),
  reason text not null,
  catalog text not null,
  credential_id uuid not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  -- The folder of the path; the path itself where it has no canonical form.
  prefix text not null,
  -- Whose territory it is; null where it is nobody's.
  owner jsonb,
  primary key (tenant_id, conflict_id)
);
create unique index territory_conflict_seen
  on svc.territory_conflict (tenant_id, table_id, md5(catalog), md5(prefix), reason);
create index territory_conflict_last on svc.territory_conflict (tenant_id, last_seen_at desc, conflict_id desc);
alter table svc.territory_conflict enable row level security, force row level security;
create policy own_tenant on svc.territory_conflict using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.territory_conflict to svc_tenant;

-- The sweep over each catalog: every table that it lists is loaded once, and its locations taken into the index.
create table svc.territory_sweep (
  tenant_id uuid not null,
  credential_id uuid not null,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  tables bigint not null default 0,
  -- Tables that could not be loaded, and why the last of them could not.
  failed bigint not null default 0,
  problem text,
  primary key (tenant_id, credential_id),
  foreign key (tenant_id, credential_id) references svc.catalog_credential on delete cascade
);
alter table svc.territory_sweep enable row level security, force row level security;
create policy own_tenant on svc.territory_sweep using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.territory_sweep to svc_tenant;

-- They return one column more.
drop function if exists svc.load_read(uuid, text, text, uuid);
drop function if exists svc.load_policies(uuid, text);
drop function if exists svc.begin_commit(bytea, uuid, text, text, text, uuid, text, bytea, float8, float8);
