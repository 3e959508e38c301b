-- The tree that proves the audit log (docs/audit-proof.md): one for each tenant, made from rows that are elsewhere. Commits
-- write nothing here.

-- Where a row stands in the tree. Append-only. It has no tenant_id, as its schema is one tenant's: a column would cost 16
-- bytes of the 120 that a leaf may take.
create table {{schema}}.audit_leaf (
  -- The kind of the row above its number: see src/proof/entry.ts.
  key bigint primary key,
  index bigint not null check (index >= 0)
);

-- The hashes of the tree, 256 in a row: of leaves on level 0, of full tiles of the level below on the others. Append-only.
create table {{schema}}.audit_tile (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  level smallint not null check (level >= 0),
  index bigint not null check (index >= 0),
  hashes bytea not null check (octet_length(hashes) = 8192),
  -- The keys of its leaves, eight bytes each; null on other levels.
  keys bytea check (octet_length(keys) = 2048),
  primary key (level, index),
  check ((level = 0) = (keys is not null))
);
alter table {{schema}}.audit_tile alter column hashes set storage external, alter column keys set storage external;

-- The right edge of the tree, where it grows.
create table {{schema}}.audit_tree (
  tenant_id uuid primary key default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  size bigint not null check (size >= 0),
  -- The hashes of the partial tile of each level, from 0 on.
  tails bytea[] not null,
  -- The keys of the partial tile of level 0.
  keys bytea not null,
  grown_at timestamptz
);

-- How far the rows of each kind are in the tree. A row's number may be drawn before that of one that is seen earlier. So
-- rows up to `newest` are taken when every transaction has ended that was open when `newest_xid` was drawn.
create table {{schema}}.audit_mark (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  kind smallint primary key,
  passed bigint not null,
  newest bigint not null,
  newest_xid xid8 not null,
  newest_at timestamptz not null,
  -- The last number of the time before the tree; leaves up to it are marked as imported.
  imported_to bigint not null
);

-- Entries that stand for many rows, which are not computed again from them: the rows may be removed. Append-only.
create table {{schema}}.audit_batch (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  key bigint primary key,
  entry bytea not null
);

-- What the words of a person are hashed with. Without it nobody finds out what a leaf says of that person.
create table {{schema}}.audit_salt (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  -- SHA-256 of the subject.
  person bytea primary key check (octet_length(person) = 32),
  salt bytea not null check (octet_length(salt) = 32),
  -- The size of the tree when it was made. Leaves before it had another one, which is erased.
  since bigint not null
);

-- Signed notes over the tree. Append-only.
create table {{schema}}.audit_checkpoint (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  checkpoint_seq bigint generated always as identity primary key,
  at timestamptz not null,
  size bigint not null check (size >= 0),
  note text not null,
  -- The verifier's text of the key that signed it; null where it is that of the row before.
  verifier text
);
create index audit_checkpoint_size on {{schema}}.audit_checkpoint (size);
-- The few rows with which a key begins.
create index audit_checkpoint_verifier on {{schema}}.audit_checkpoint (checkpoint_seq) where verifier is not null;

-- The newest pin, by its id.
create unique index if not exists "PinEvent_id" on {{graph}}."PinEvent" (id);

do $$
declare
  t text;
begin
  foreach t in array array['audit_leaf', 'audit_tile', 'audit_tree', 'audit_mark', 'audit_batch', 'audit_salt',
    'audit_checkpoint'] loop
    execute format('alter table {{schema}}.%I enable row level security, force row level security', t);
    execute format('create policy own_tenant on {{schema}}.%I
      using (''{{tenant}}'' = nullif(current_setting(''app.tenant_id'', true), ''''))', t);
    execute format('grant select, insert on {{schema}}.%I to svc_tenant', t);
  end loop;
  foreach t in array array['audit_leaf', 'audit_tile', 'audit_batch', 'audit_checkpoint'] loop
    execute format('create trigger append_only before update or delete or truncate on {{schema}}.%I
      for each statement execute function svc.refuse_change()', t);
  end loop;
end $$;
grant update on {{schema}}.audit_tree, {{schema}}.audit_mark to svc_tenant;
grant delete on {{schema}}.audit_salt to svc_tenant;
