-- Who set or removed a tag, on which table or column, when, how, and on what evidence. Append-only. The tags as they
-- stand are edges of the graph.
create table svc.tag_change (
  tenant_id uuid not null references svc.tenant,
  tag_seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  action text not null check (action in ('set', 'confirmed', 'removed')),
  tag_id text not null,
  tag text not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  -- Null for a tag of the table itself.
  column_name text,
  source text not null check (source in ('person', 'classifier', 'document', 'import')),
  -- The Actor; null where the classifier did it, and in changes of before this table.
  actor jsonb,
  -- Subject of the actor; null where the classifier did it.
  actor_sub text,
  -- The finding, the version of the document, the note.
  evidence jsonb not null default '{}',
  primary key (tenant_id, tag_seq)
);
create index tag_change_tag on svc.tag_change (tenant_id, tag_id, tag_seq desc);
create index tag_change_table on svc.tag_change (tenant_id, table_id, tag_seq desc);
create trigger append_only before update or delete or truncate on svc.tag_change
  for each statement execute function svc.refuse_change();
alter table svc.tag_change enable row level security, force row level security;
create policy own_tenant on svc.tag_change using (tenant_id = svc.current_tenant());
grant select, insert on svc.tag_change to svc_tenant;
