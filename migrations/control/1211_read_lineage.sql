-- Lineage by reading (docs/lineage.md): which columns statements read together into which result, by whom, added up. It
-- is apart from the declared lineage of the graph, and holds no text of a statement.

create table svc.read_lineage (
  tenant_id uuid not null references svc.tenant,
  -- Digest of the principal, the fingerprint and the lineage.
  lineage_key text not null,
  lineage_seq bigint generated always as identity,
  principal_sub text not null,
  fingerprint text not null,
  -- The columns that were read; the others name them by place.
  columns jsonb not null,
  outputs jsonb not null,
  conditions jsonb not null,
  truncated boolean not null,
  reads bigint not null,
  first_read_at timestamptz not null,
  last_read_at timestamptz not null,
  primary key (tenant_id, lineage_key)
);
create unique index read_lineage_seq on svc.read_lineage (tenant_id, lineage_seq desc);
create index read_lineage_last on svc.read_lineage (tenant_id, last_read_at);
alter table svc.read_lineage enable row level security, force row level security;
create policy own_tenant on svc.read_lineage using (tenant_id = svc.current_tenant());
grant select, insert, delete, update (reads, last_read_at) on svc.read_lineage to svc_tenant;
